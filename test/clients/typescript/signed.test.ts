// The verifiers of the library on what the running service signed, with one thing changed at a time.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Countersign } from '#client/countersign.ts'
import {
  type InclusionProof,
  type Json,
  type RecordKeys,
  verifyEvidencePacket,
  verifyInclusion,
  verifyLedgerExport,
} from '#client/verify.ts'
import { type EvidenceService, startEvidence } from '../../attest/evidence/service.ts'
import { type LedgerService, startLedgerService } from '../../authorize/decisions/fixture.ts'
import { decisions } from '../../support/ledger.ts'

describe('a decision on record', () => {
  let service: LedgerService
  let client: Countersign
  let key: string
  let keys: RecordKeys
  let id: string
  let entry: Json
  let proof: InclusionProof
  let checkpoint: { jws: string }

  beforeAll(async () => {
    service = await startLedgerService()
    const caller = await service.makeCaller()
    key = caller.key
    client = new Countersign({ apiKey: key, baseUrl: service.app.url })
    const ids = await service.decide(caller, decisions(20))
    id = ids[11] ?? ''
    keys = await service.services.platform.signingKeys.jwks()
    entry = (await client.decisions.retrieve(id)).entry as unknown as Json
    const answer = await client.decisions.proof.retrieve(id)
    proof = answer
    checkpoint = answer.checkpoint ?? { jws: '' }
  })
  afterAll(() => service.close())

  it('is in the log, as its proof and its checkpoint say', async () => {
    const verdict = await verifyInclusion(entry, proof, checkpoint, keys)
    expect(verdict).toMatchObject({ valid: true, problem: null, revoked: null, at: expect.any(String) })
    expect(await verifyInclusion(entry, proof, checkpoint.jws, keys)).toEqual(verdict)
  })

  it('is not, once anything of it is changed', async () => {
    const problemOf = async (
      changes: { entry?: Json; proof?: Partial<InclusionProof>; jws?: string; keys?: RecordKeys } = {},
    ) => {
      const jws = changes.jws ?? checkpoint.jws
      const { problem } = await verifyInclusion(
        changes.entry ?? entry,
        { ...proof, ...changes.proof },
        { jws },
        changes.keys ?? keys,
      )
      return problem
    }
    expect(await problemOf()).toBeNull()
    expect(await problemOf({ entry: { ...(entry as object), reason: 'other' } })).toBe('not_included')
    expect(await problemOf({ entry: { unsafe: 2 ** 60 } })).toBe('not_included')
    expect(await problemOf({ proof: { position: proof.position - 1 } })).toBe('not_included')
    expect(await problemOf({ proof: { size: proof.size + 1 } })).toBe('other_size')
    expect(await problemOf({ proof: { proof: proof.proof.slice(1) } })).toBe('malformed_proof')
    expect(await problemOf({ proof: { proof: ['x', ...proof.proof.slice(1)] } })).toBe('malformed_proof')
    expect(await problemOf({ proof: { proof: proof.proof.toReversed() } })).toBe('not_included')
    expect(await problemOf({ keys: { keys: [] } })).toBe('unknown_key')
    const tokenKeys = keys.keys.map((one) => ({ ...one, family: 'token' }))
    expect(await problemOf({ keys: { keys: tokenKeys } })).toBe('unknown_key')
    const [head = '', , signature = ''] = checkpoint.jws.split('.')
    const forged = Buffer.from(JSON.stringify({ size: proof.size })).toString('base64url')
    expect(await problemOf({ jws: `${head}.${forged}.${signature}` })).toBe('bad_signature')
    expect(await problemOf({ jws: `${checkpoint.jws}=` })).toBe('malformed')
  })

  it('is in the export, whose lines are checked as text and as the library reads them', async () => {
    const lines = await service.exported(key)
    expect(await verifyLedgerExport(lines, { keys })).toMatchObject({ holds: true, size: 20, entries: 20 })
    // A line less, and a changed entry.
    expect(await verifyLedgerExport(lines.toSpliced(3, 1), { keys })).toMatchObject({ holds: false })
    const changed = lines.map((line) => line.replace('"valid":true', '"valid":false'))
    expect(await verifyLedgerExport(changed, { keys })).toMatchObject({ holds: false })
    expect(await verifyLedgerExport(['no json', ...lines], { keys })).toMatchObject({ holds: false })
    // Without keys nothing proves who signed.
    const unproven = await verifyLedgerExport(lines)
    expect(unproven.findings.map(({ outcome }) => outcome)).toEqual(['unproven'])
  })
})

describe('an evidence packet', () => {
  let evidence: EvidenceService
  let id: string

  beforeAll(async () => {
    evidence = await startEvidence()
    id = await evidence.judged('C-1', {}, {})
  })
  afterAll(() => evidence.close())

  it('holds as JSON and as a document, and says what is left out', async () => {
    for (const file of [JSON.stringify(await evidence.packet(id)), await evidence.pdf(id)]) {
      const { holds, findings } = await verifyEvidencePacket(file, { keys: evidence.keys })
      expect({ holds, wrong: findings.filter(({ outcome }) => outcome === 'failed') }).toEqual({
        holds: true,
        wrong: [],
      })
      expect(findings).toContainEqual(expect.objectContaining({ check: 'device signature', outcome: 'ok' }))
      expect(findings).toContainEqual(expect.objectContaining({ check: 'certificates', outcome: 'skipped' }))
    }
  })

  it('does not hold by its own keys, or once a part or a page is changed', async () => {
    const signed = JSON.stringify(await evidence.packet(id))
    expect(await verifyEvidencePacket(signed)).toMatchObject({ holds: false })
    const score = signed.replace(/"risk_score":\d+/, '"risk_score":99')
    const failed = (await verifyEvidencePacket(score, { keys: evidence.keys })).findings.filter(
      (one) => one.outcome === 'failed',
    )
    expect(failed.map(({ part, check }) => `${part} ${check}`)).toEqual(expect.arrayContaining(['packet digest']))
    const pdf = Buffer.from(await evidence.pdf(id))
    pdf[20] = (pdf[20] ?? 0) ^ 1
    expect((await verifyEvidencePacket(pdf, { keys: evidence.keys })).findings).toContainEqual(
      expect.objectContaining({ part: 'pages', check: 'seal', outcome: 'failed' }),
    )
  })

  it.each(['', '{}', '[]', '%PDF-1.7', '{"packet":{},"packet_sha256":"","signature":"a.b.c"}'])(
    'is not what %j is',
    async (text) => {
      expect(await verifyEvidencePacket(text, { keys: evidence.keys })).toMatchObject({ holds: false })
    },
  )
})
