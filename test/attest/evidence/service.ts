// Pipelines as a caller sees them: claims as in the other tests, and an application that exports, on the same rows.

import { randomBytes } from 'node:crypto'
import { createOpenCase } from '#src/attest/cases/escalation.ts'
import { CASE_SETTINGS } from '#src/attest/cases/settings.ts'
import { createEvidence, type EvidenceDeps } from '#src/attest/evidence/evidence.ts'
import { createRenderer } from '#src/attest/evidence/renderer.ts'
import { evidenceRoutes } from '#src/attest/evidence/routes.ts'
import { createThumbnailReader } from '#src/attest/evidence/thumbnails.ts'
import type { SignedPacket } from '#src/attest/evidence/views.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createPager } from '#src/platform/http/page.ts'
import { createLog } from '#src/platform/log.ts'
import { call, makeKeyRow, startApp, type TestAnswer } from '../../support/http.ts'
import { makePhone, type Phone, shoot } from '../claims/phone.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'

export interface EvidenceService {
  service: Service
  caller: Caller
  phone: Phone
  keys: KeySet
  logged: Record<string, unknown>[]
  /** A claim with one evaluated capture, dishonest if `isBad`. */
  judged(reference: string, changes?: Parameters<typeof shoot>[1], claim?: object): Promise<string>
  addKey(raw: string, row: Partial<KeyRow>): string
  get(claimId: string, query?: string, headers?: Record<string, string>, key?: string): Promise<TestAnswer>
  packet(claimId: string, query?: string): Promise<SignedPacket>
  pdf(claimId: string, query?: string): Promise<Buffer>
  close(): Promise<void>
}

export async function startEvidence(deps: Partial<EvidenceDeps> = {}): Promise<EvidenceService> {
  const service = await startService()
  const caller = await service.makeCaller()
  const phone = await makePhone(service, caller)
  const { json: keys } = await call(service.app, '/.well-known/jwks.json')
  const logged: Record<string, unknown>[] = []
  const evidence = createEvidence({
    db: service.test.db,
    pager: createPager({ key: randomBytes(32) }),
    signRecord: service.signRecord,
    jwks: async () => keys as unknown as KeySet,
    revocations: async () => 'off',
    thumbnail: createThumbnailReader(service.media),
    renderPdf: createRenderer(),
    baseUrl: 'https://api.example.test',
    now: () => new Date(),
    log: createLog({ process: 'web', level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) }),
    ...deps,
  })
  const known = new Map<string, KeyRow>()
  const app = await startApp(evidenceRoutes(evidence), { findKey: async (raw) => known.get(raw) })
  const addKey = (raw: string, row: Partial<KeyRow>): string => {
    known.set(raw, makeKeyRow(row))
    return raw
  }
  addKey('whole', { ...caller, scopes: ['verify', 'escalate'] })
  const verify = service.makeVerify({ openCase: createOpenCase({ now: () => new Date(), settings: CASE_SETTINGS }) })

  return {
    service,
    caller,
    phone,
    keys: keys as unknown as KeySet,
    logged,
    async judged(reference, changes = {}, claim = {}) {
      const body = { ...shoot(phone, changes), claim: { reference, ...claim } }
      const { json, text } = await service.attest(caller, body)
      if (typeof json.attestation_id !== 'string') throw new Error(`not accepted: ${text}`)
      await service.run(json.attestation_id, verify)
      return String(json.claim_id)
    },
    addKey,
    get: (claimId, query = '', headers = {}, key = 'whole') =>
      call(app, `/v1/claims/${claimId}/evidence${query}`, { headers, key }),
    async packet(claimId, query = '') {
      const { status, text } = await call(app, `/v1/claims/${claimId}/evidence${query}`, { key: 'whole' })
      if (status !== 200) throw new Error(text)
      return JSON.parse(text)
    },
    async pdf(claimId, query = '?format=pdf') {
      const answer = await fetch(`${app.url}/v1/claims/${claimId}/evidence${query}`, {
        headers: { Authorization: 'Bearer whole' },
      })
      if (answer.status !== 200) throw new Error(await answer.text())
      return Buffer.from(await answer.arrayBuffer())
    },
    async close() {
      await app.close()
      await service.close()
    },
  }
}
