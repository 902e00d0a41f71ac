// Packets as a caller sees them: claims as in the other tests, whose escalation opens cases.

import { createEvidence, createThumbnailReader, type EvidenceDeps } from '#src/attest/evidence/evidence.ts'
import { createTimeline } from '#src/attest/evidence/moments.ts'
import { createRenderer } from '#src/attest/evidence/renderer.ts'
import { evidenceRoutes } from '#src/attest/evidence/routes.ts'
import type { SignedPacket } from '#src/attest/evidence/views.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { createLog } from '#src/platform/log.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { attestFixture, type Phone, shoot } from '../claims/phone.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'

export interface EvidenceService {
  service: Service
  caller: Caller
  phone: Phone
  keys: KeySet
  /** What the features have logged. */
  logged: Record<string, unknown>[]
  /** A claim with one more evaluated capture. */
  judged(reference: string, changes?: Parameters<typeof shoot>[1], claim?: object): Promise<string>
  get(claimId: string, query?: string, headers?: Record<string, string>, key?: string): Promise<TestAnswer>
  packet(claimId: string, query?: string): Promise<SignedPacket>
  pdf(claimId: string, query?: string): Promise<Buffer>
  close(): Promise<void>
}

/** With `deps`, the packets are made with these parts instead of the service's own. */
export async function startEvidence(deps?: Partial<EvidenceDeps>): Promise<EvidenceService> {
  const logged: Record<string, unknown>[] = []
  const log = createLog({ process: 'web', level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) })
  const service = await startService({
    opensCases: true,
    overrides: () => ({ log }),
    replace({ platform, attest: { media, hardware } }) {
      if (deps === undefined) return []
      const { signRecord, jwks } = platform.signingKeys
      const thumbnail = createThumbnailReader(media.media)
      const { revocations } = hardware
      const { renderPdf, close } = createRenderer({ threads: 2 })
      platform.onClose(close)
      const own = { ...platform, signRecord, jwks, revocations, thumbnail, renderPdf }
      return [{ name: 'evidence', routes: evidenceRoutes(createEvidence({ ...own, ...deps }), createTimeline(own)) }]
    },
  })
  const { caller, phone } = await attestFixture({ service, row: { scopes: ['attest', 'verify'] } })
  const whole = service.addKey({ ...caller, scopes: ['verify', 'escalate'] })
  const { app } = service
  const { json: keys } = await call(app, '/.well-known/jwks.json')

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
      await service.run(json.attestation_id)
      return String(json.claim_id)
    },
    get: (claimId, query = '', headers = {}, key = whole) =>
      call(app, `/v1/claims/${claimId}/evidence${query}`, { headers, key }),
    async packet(claimId, query = '') {
      const { status, text } = await call(app, `/v1/claims/${claimId}/evidence${query}`, { key: whole })
      if (status !== 200) throw new Error(text)
      return JSON.parse(text)
    },
    async pdf(claimId, query = '?format=pdf') {
      const answer = await fetch(`${app.url}/v1/claims/${claimId}/evidence${query}`, {
        headers: { Authorization: `Bearer ${whole}` },
      })
      if (answer.status !== 200) throw new Error(await answer.text())
      return Buffer.from(await answer.arrayBuffer())
    },
    close: () => service.close(),
  }
}
