// What readers of a result or a packet see after its signing key was revoked.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SignedPacket } from '#src/attest/evidence/views.ts'
import type { KeySet, SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import { checkFile } from '../../../commands/evidence/check.ts'
import { keySetOf } from '../../../commands/evidence/keys.ts'
import { type EvidenceService, startEvidence } from './service.ts'

let evidence: EvidenceService
let signingKeys: SigningKeys
let claimId: string
let before: { packet: SignedPacket; pdf: Buffer; keys: KeySet }
let attestationId: string

beforeAll(async () => {
  evidence = await startEvidence({ jwks: () => signingKeys.jwks() })
  signingKeys = evidence.service.services.platform.signingKeys
  claimId = await evidence.judged('C-1', {}, { loss_location: { lat: 52.5163, lng: 13.4 } })
  before = { packet: await evidence.packet(claimId), pdf: await evidence.pdf(claimId), keys: await savedKeys() }
  attestationId = before.packet.packet.attestations[0]?.attestation_id ?? ''
})
afterAll(() => evidence?.close())

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))
// As an operator saves it.
const savedKeys = async () => keySetOf(JSON.stringify(await signingKeys.jwks()), 'the key set')
const read = async (path: string) => (await evidence.service.call(evidence.caller, path)).json

async function revoke(doubtedSince: Date) {
  const { kid } = JSON.parse(Buffer.from(before.packet.signature.split('.')[0] ?? '', 'base64url').toString())
  await signingKeys.revoke(kid, doubtedSince)
  return { kid, revoked: (await signingKeys.jwks()).keys.find((key) => key.kid === kid)?.revoked }
}

/** What is not in order, and what is said of keys. */
async function check(file: Buffer, keys: KeySet) {
  const { findings } = await checkFile(file, { keys })
  return findings
    .filter(({ outcome, check: name }) => name.startsWith('key of') || outcome === 'failed' || outcome === 'unproven')
    .map(({ part, check: name, outcome, detail }) => ({ part: part.split('/')[0], check: name, outcome, detail }))
}

describe('a record of a key that was revoked after it', () => {
  it('is marked in every answer that shows it, and the offline verifier no longer trusts the time that it states', async () => {
    expect(await check(bytesOf(before.packet), before.keys)).toEqual([])
    expect(await read(`/v1/attestations/${attestationId}`)).not.toHaveProperty('signing_key_revoked')

    const { kid, revoked } = await revoke(new Date())
    expect(await read(`/v1/attestations/${attestationId}`)).toMatchObject({ signing_key_revoked: revoked })
    expect(await read(`/v1/claims/${claimId}/attestations`)).toMatchObject({
      data: [{ signing_key_revoked: revoked }],
    })
    const keys = await savedKeys()
    const names = { detail: expect.stringContaining(kid) }
    const unproven = [
      { part: 'packet', check: 'key of the packet', outcome: 'unproven', ...names },
      { part: 'attestations', check: 'key of the signed result', outcome: 'unproven', ...names },
    ]
    expect(await check(bytesOf(before.packet), keys)).toEqual(unproven)
    const seal = { part: 'pages', check: 'key of the seal', outcome: 'unproven', ...names }
    expect(await check(before.pdf, keys)).toEqual([seal, ...unproven])
    // Keys that were saved before say nothing of it.
    expect(await check(bytesOf(before.packet), before.keys)).toEqual([])
  })

  it('is vouched for by a packet that another key signed afterwards, which says so', async () => {
    const packet = await evidence.packet(claimId)
    const { revoked } = (await signingKeys.jwks()).keys.find((key) => key.revoked !== undefined) ?? {}
    expect(packet.packet.attestations[0]?.result).toMatchObject({ signing_key_revoked: revoked })
    expect(packet.packet.keys).toContainEqual(expect.objectContaining({ revoked }))
    const vouched = [
      { part: 'attestations', check: 'key of the signed result', outcome: 'ok', detail: expect.any(String) },
    ]
    expect(await check(bytesOf(packet), await savedKeys())).toEqual(vouched)
    // The packet's own mark counts too.
    const unmarked = (await savedKeys()).keys.map(({ revoked: _, ...key }) => key)
    expect(await check(bytesOf(packet), { keys: unmarked })).toEqual(vouched)
    expect((await evidence.pdf(claimId)).byteLength).toBeGreaterThan(before.pdf.byteLength)
  })
})

describe('a record from the time of the doubt', () => {
  it('does not hold, wherever it stands', async () => {
    const { kid } = await revoke(new Date(Date.now() - 3_600_000))
    const keys = await savedKeys()
    const failed = { outcome: 'failed', detail: expect.stringContaining(kid) }
    expect(await check(bytesOf(before.packet), keys)).toEqual([
      { part: 'packet', check: 'key of the packet', ...failed },
      { part: 'attestations', check: 'key of the signed result', ...failed },
    ])
    expect(await check(bytesOf(await evidence.packet(claimId)), keys)).toEqual([
      { part: 'attestations', check: 'key of the signed result', ...failed },
    ])
  })
})
