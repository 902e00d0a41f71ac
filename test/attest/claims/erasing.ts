// Erasures as a caller sees them: claims as in the other tests, and an application that erases, on the same rows and
// files, with a store whose deletions can be made to fail.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createReadAudit } from '#src/account/audit/reads.ts'
import { type ClaimErasure, createClaimErasure } from '#src/attest/erasure/erase.ts'
import { claimErasureRoutes } from '#src/attest/erasure/routes.ts'
import { createEraser } from '#src/attest/media/erase.ts'
import { mediaRoutes } from '#src/attest/media/routes.ts'
import { Failure } from '#src/failure.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { call, makeKeyRow, startApp, type TestAnswer } from '../../support/http.ts'
import { makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

export interface Erasing {
  service: Service
  caller: Caller
  phone: Phone
  erasure: ClaimErasure
  /** What the erasures have logged. */
  logged: Record<string, unknown>[]
  /** How many of the next deletions of the store fail. */
  breakDeletes(count: number): void
  /** A photo with bytes of its own. */
  newPhoto(): Buffer
  /** An evaluated capture of a claim. */
  judged(reference: string, changes?: Record<string, unknown> & { photo?: Buffer }): Promise<Seen>
  addKey(raw: string, row: Partial<KeyRow>): string
  erase(claimId: string, headers?: Record<string, string>, key?: string): Promise<TestAnswer>
  download(mediaId: unknown, more?: string): Promise<TestAnswer>
  /** Every row of every table, as text; columns of bytes are in hex. */
  dump(): Promise<string>
  /** Files of the store that contain these bytes. */
  filesWith(bytes: Buffer): string[]
  close(): Promise<void>
}

export interface Seen {
  claim_id: string
  attestation_id: string
  media_id: string
  result_jws: string
  factors: unknown
  advisory_factors: unknown
}

export async function startErasing(): Promise<Erasing> {
  const service = await startService()
  const caller = await service.makeCaller()
  const phone = await makePhone(service, caller)
  const { db, owner } = service.test
  const { store } = service
  const logged: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  let broken = 0
  const fragile: BlobStore = {
    ...store,
    async delete(...args) {
      if (broken > 0) {
        broken -= 1
        throw new Failure('service_unavailable', 'The media store does not answer. Try again.')
      }
      return store.delete(...args)
    },
  }
  const erasure = createClaimErasure({ db, eraser: createEraser({ db, store: fragile }), log })
  const keys = new Map<string, KeyRow>()
  const app = await startApp(
    [...claimErasureRoutes(erasure), ...mediaRoutes(service.media, createReadAudit({ db, now: () => new Date() }))],
    {
      findKey: async (raw) => keys.get(raw),
      findEffect: createFindEffect(db),
    },
  )
  const addKey = (raw: string, row: Partial<KeyRow>): string => {
    keys.set(raw, makeKeyRow(row))
    return raw
  }
  addKey('admin', { ...caller, scopes: ['admin', 'verify'] })
  const root = join(store.path(caller, 'a'.repeat(64)), '../../../..')
  let photos = 0
  const newPhoto = (): Buffer => {
    photos += 1
    // Decoders ignore what follows the end of a JPEG.
    return Buffer.concat([PHOTO, Buffer.from(`the bytes of photo ${photos}, which must go`)])
  }

  return {
    service,
    caller,
    phone,
    erasure,
    logged,
    breakDeletes(count) {
      broken = count
    },
    newPhoto,
    async judged(reference, { photo = newPhoto(), ...changes } = {}) {
      const body = { ...shoot(phone, { photo }), claim: { reference, ...changes } }
      return (await service.judge(caller, body)) as unknown as Seen
    },
    addKey,
    erase: (claimId, headers = {}, key = 'admin') =>
      call(app, `/v1/claims/${claimId}`, { method: 'DELETE', headers, key }),
    download: (mediaId, more = '') => call(app, `/v1/media/${mediaId}${more}`, { key: 'admin' }),
    async dump() {
      const tables = await owner<{ name: string }>(
        `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
      )
      const texts: string[] = []
      for (const { name } of tables) {
        const rows = await owner<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
        texts.push(...rows.map(({ text }) => `${name} ${text}`))
      }
      return texts.join('\n')
    },
    filesWith(bytes) {
      const entries = readdirSync(root, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(bytes))
    },
    async close() {
      await app.close()
      await service.close()
    },
  }
}
