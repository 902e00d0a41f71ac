// A certificate that is renewed between a capture and its evaluation.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EvidencePacket } from '#src/attest/evidence/views.ts'
import { createAuthority } from '../../../capture-kit/authority.ts'
import { type AttestBody, createDevice } from '../../../capture-kit/device.ts'
import { codesOf, enroll, shoot } from './phone.ts'
import { type Service, startService } from './service.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
let service: Service

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service?.close())

it('a capture without a chain is judged by the chain of its time, also after a renewal', async () => {
  const caller = await service.makeCaller()
  const now = new Date()
  const authority = await createAuthority({ name: 'Renewing Phones', now: () => now })
  await service.rootCas.register(caller, {
    name: 'Renewing Phones',
    certificate: authority.rootDer.toString('base64'),
  })
  const device = await createDevice({ authority, name: 'Phone', now: () => now })
  const issue = (from: number, to: number) =>
    authority.issue({
      publicKey: device.publicKey,
      subject: 'Phone',
      notBefore: new Date(now.getTime() + from),
      notAfter: new Date(now.getTime() + to),
    })
  const first = await issue(-30 * DAY_MS, DAY_MS)
  const id = await enroll(service, caller, first)
  const capture = (): AttestBody => {
    const { certificate_chain: _, ...body } = shoot({ device, id })
    return body
  }

  const atOnce = await service.judge(caller, capture())
  expect(codesOf(atOnce)).toEqual(['hardware_backing_absent'])

  const waiting = await service.attest(caller, capture())
  service.clock.now = new Date(now.getTime() + 2 * DAY_MS)
  expect(await enroll(service, caller, await issue(DAY_MS, 400 * DAY_MS))).toBe(id)
  const attestationId = String(waiting.json.attestation_id)
  await service.run(attestationId)
  const afterRenewal = (await service.call(caller, `/v1/attestations/${attestationId}`)).json
  expect(codesOf(afterRenewal)).toEqual(codesOf(atOnce))

  const evidence = await service.call(caller, `/v1/claims/${atOnce.claim_id}/evidence`)
  const { packet } = evidence.json as { packet: Pick<EvidencePacket, 'attestations'> }
  const [shown] = packet.attestations
  expect(shown?.certificates.source).toBe('device')
  expect(shown?.certificates.chain[0]?.der).toBe(Buffer.from(first[0] ?? []).toString('base64'))
})
