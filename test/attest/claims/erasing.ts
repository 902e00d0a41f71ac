// Erasures as a caller sees them: claims as in the other tests, with a store whose deletions can be made to fail.

import { readFileSync } from 'node:fs'
import type { ClaimErasure } from '#src/attest/erasure/erase.ts'
import { Failure } from '#src/failure.ts'
import { createLog } from '#src/platform/log.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

export interface Erasing {
  service: Service
  caller: Caller
  phone: Phone
  erasure: ClaimErasure
  /** What the features have logged. */
  logged: Record<string, unknown>[]
  /** How many of the next deletions of the store fail. */
  breakDeletes(count: number): void
  /** A photo with bytes of its own. */
  newPhoto(): Buffer
  /** An evaluated capture of a claim. */
  judged(reference: string, changes?: Record<string, unknown> & { photo?: Buffer }): Promise<Seen>
  erase(claimId: string, headers?: Record<string, string>, key?: string): Promise<TestAnswer>
  download(mediaId: unknown, more?: string): Promise<TestAnswer>
  /** Every row of every table, as text; columns of bytes are in hex. */
  dump(): Promise<string>
  /** Files of the store that contain these bytes. */
  filesWith(bytes: Buffer): Promise<string[]>
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
  const logged: Record<string, unknown>[] = []
  const log = createLog({ process: 'web', level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) })
  let broken = 0
  const service = await startService({
    overrides: ({ store }) => ({
      log,
      store: {
        ...store,
        async delete(...args) {
          if (broken > 0) {
            broken -= 1
            throw new Failure('service_unavailable', 'The media store does not answer. Try again.')
          }
          return store.delete(...args)
        },
      },
    }),
  })
  const caller = await service.makeCaller({ scopes: ['attest', 'verify'] })
  const admin = service.addKey({ ...caller, scopes: ['admin', 'verify'] })
  const phone = await makePhone(service, caller)
  const { test, app } = service
  const { erasure } = service.services.attest.erasure
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
    erase: (claimId, headers = {}, key = admin) =>
      call(app, `/v1/claims/${claimId}`, { method: 'DELETE', headers, key }),
    download: (mediaId, more = '') => call(app, `/v1/media/${mediaId}${more}`, { key: admin }),
    async dump() {
      const tables = await test.owner<{ name: string }>(
        `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
      )
      const texts: string[] = []
      for (const { name } of tables) {
        const rows = await test.owner<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
        texts.push(...rows.map(({ text }) => `${name} ${text}`))
      }
      return texts.join('\n')
    },
    filesWith: async (bytes) => (await service.files()).filter((file) => readFileSync(file).includes(bytes)),
    close: () => service.close(),
  }
}
