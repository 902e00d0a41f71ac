// A packet as a caller gets it: access, contents, and the packets of erased, large and hostile claims.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { changesOf } from '#src/attest/evidence/document-words.ts'
import { readAttachment } from '#src/attest/evidence/pdf-file.ts'
import { createRenderer } from '#src/attest/evidence/renderer.ts'
import { prefersPdf } from '#src/attest/evidence/routes.ts'
import { printable, STANDARD } from '#src/attest/evidence/typeface.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { newId } from '#src/platform/ids.ts'
import { checkFile } from '../../../commands/evidence/check.ts'
import { PHOTO } from '../claims/phone.ts'
import { type EvidenceService, startEvidence } from './service.ts'

const LOSS = { loss_location: { lat: 52.5163, lng: 13.4 }, loss_at: '2026-11-20T14:00:00.000Z', line: 'auto' }

let evidence: EvidenceService
let claimId: string

beforeAll(async () => {
  evidence = await startEvidence()
  claimId = await evidence.judged('E-1', {}, LOSS)
  await evidence.judged('E-1', { gps: undefined, bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) })
})
afterAll(() => evidence?.close())

describe('access to a packet', () => {
  it('is given to keys that may read the claim, and to no other', async () => {
    const { caller, get } = evidence
    const { addKey } = evidence.service
    const keys = {
      none: 'none',
      verify: addKey({ ...caller, scopes: ['verify'] }),
      attest: addKey({ ...caller, scopes: ['attest'] }),
      stranger: addKey({ scopes: ['verify'] }),
      live: addKey({ accountId: caller.accountId, environment: 'live', scopes: ['verify'] }),
    }
    expect((await get(claimId, '', {}, keys.verify)).status).toBe(200)
    const refused: [keyof typeof keys, string, number, string][] = [
      ['none', claimId, 401, 'invalid_api_key'],
      ['attest', claimId, 403, 'insufficient_scope'],
      ['stranger', claimId, 404, 'not_found'],
      ['live', claimId, 403, 'environment_mismatch'],
      ['verify', newId('clm', 'sandbox'), 404, 'not_found'],
      ['verify', 'clm_1', 404, 'not_found'],
    ]
    for (const [key, id, status, code] of refused) {
      for (const query of ['', '?format=pdf']) {
        const { json, ...answer } = await get(id, query, {}, keys[key])
        expect([answer.status, json.code], `${key} ${id}`).toEqual([status, code])
      }
    }
    for (const query of ['?format=xml', '?limit=0', '?limit=101', '?cursor=abc', '?foo=1']) {
      expect((await get(claimId, query)).json.code, query).toBe('invalid_request')
    }
  })

  it('returns the form that Accept prefers, and JSON otherwise', async () => {
    const forms: [string | undefined, string][] = [
      [undefined, 'application/json'],
      ['*/*', 'application/json'],
      ['text/html, */*;q=0.8', 'application/json'],
      ['application/pdf', 'application/pdf'],
      ['application/json;q=0.5, application/pdf', 'application/pdf'],
      ['application/pdf;q=0.5, application/json', 'application/json'],
      ['application/pdf;q=0, */*', 'application/json'],
    ]
    for (const [accept, type] of forms) expect(prefersPdf(accept), accept).toBe(type === 'application/pdf')
    const document = await evidence.get(claimId, '', { Accept: 'application/pdf' })
    expect(document.headers).toMatchObject({
      'content-type': 'application/pdf',
      vary: expect.stringContaining('Accept'),
    })
    const { headers } = await evidence.get(claimId, '?format=json', { Accept: 'application/pdf' })
    expect(headers['content-type']).toBe('application/json')
  })
})

describe('a packet', () => {
  it('contains the submission, the findings, the trust anchors and the decisions', async () => {
    const { packet, packet_sha256 } = await evidence.packet(claimId)
    expect(packet_sha256).toBe(
      createHash('sha256')
        .update(canonicalize(packet as never))
        .digest('hex'),
    )
    expect(packet.about.attestations).toEqual({ total: 2, included: 2, is_complete: true, next_cursor: null })
    expect(packet.claim).toMatchObject({ reference: 'E-1', risk_status: 'failed', loss_location: LOSS.loss_location })
    const [bad, good] = packet.attestations
    expect(bad?.result?.factors.map(({ code }) => code)).toContain('sensor_hash_mismatch')
    expect(good?.media.sha256).toBe(createHash('sha256').update(PHOTO).digest('hex'))
    expect(good?.submission).toMatchObject({ bundle: { captured_at: expect.any(String) }, signature: { alg: 'ES256' } })
    expect(good?.certificates.chain).toHaveLength(2)
    expect(good?.distance).toMatchObject({ accuracy_metres: 5, mock: false })
    expect(good?.distance?.metres).toBeGreaterThan(1_000)
    expect(bad?.distance).toBeNull()
    expect(packet.devices.map(({ device_id }) => device_id)).toEqual([evidence.phone.id])
    expect(packet.cases.map(({ history }) => history.map(({ kind }) => kind))).toEqual([['opened']])
    const kinds = packet.timeline.moments.map(({ kind }) => kind)
    for (const kind of ['attestation.accepted', 'attestation.evaluated', 'claim.escalated', 'case.opened']) {
      expect(kinds).toContain(kind)
    }
    // One transaction writes all three, within one millisecond.
    const escalated = kinds.indexOf('claim.escalated')
    expect(kinds.slice(escalated - 1, escalated + 2)).toEqual([
      'claim.provenance_updated',
      'claim.escalated',
      'case.opened',
    ])
    const times = packet.timeline.moments.map(({ at }) => at)
    expect(times).toEqual(times.toSorted())
    expect(packet.keys.every(({ env, family }) => env === 'sandbox' && family === 'record')).toBe(true)
  })

  it('is equal twice, except for its time and signature', async () => {
    const [one, two] = [await evidence.packet(claimId), await evidence.packet(claimId)]
    const timeless = ({ packet }: typeof one) => ({ ...packet, about: { ...packet.about, issued_at: '' } })
    expect(timeless(one)).toEqual(timeless(two))
    expect(one.signature).not.toBe(two.signature)
  })

  it('omits what adjusters wrote for keys that may not read cases', async () => {
    const id = await evidence.judged('E-notes', { bundle: (bundle) => ({ ...bundle, sensor_hash: '1'.repeat(64) }) })
    const { test } = evidence.service
    await test.owner(
      `INSERT INTO case_entries (account_id, environment, case_id, seq, kind, actor, key_id, note)
       SELECT account_id, environment, id, 2, 'noted', 'a@example.com', 'k', 'between us' FROM cases WHERE claim_id = $1`,
      [id],
    )
    const key = evidence.service.addKey({ ...evidence.caller, scopes: ['verify'] })
    const { text } = await evidence.get(id, '', {}, key)
    expect(text).not.toContain('between us')
    expect(JSON.parse(text).packet.cases[0].history[1]).toMatchObject({ note: null, note_withheld: true })
    expect((await evidence.packet(id)).packet.cases[0]?.history[1]).toMatchObject({ note: 'between us' })
  })

  it('says when it is incomplete, and links to the other attestations', async () => {
    const first = await evidence.packet(claimId, '?limit=1')
    const { about } = first.packet
    expect(about.attestations).toMatchObject({ total: 2, included: 1, is_complete: false })
    expect(about.statement).toMatch(/1 of the 2.*next_cursor/)
    const second = await evidence.packet(claimId, `?limit=1&cursor=${about.attestations.next_cursor}`)
    expect(second.packet.about.attestations.next_cursor).toBeNull()
    expect(second.packet.about.statement).toContain('1 of the 2')
    expect(second.packet.about.statement).not.toContain('next_cursor')
    const ids = [first, second].map(({ packet }) => packet.attestations[0]?.attestation_id)
    expect(ids).toEqual(
      (await evidence.packet(claimId)).packet.attestations.map(({ attestation_id }) => attestation_id),
    )
    const other = await evidence.judged('E-2')
    expect((await evidence.get(other, `?cursor=${about.attestations.next_cursor}`)).status).toBe(400)
  })

  it('contains fewer attestations when they are large, and at least one', async () => {
    const id = await evidence.judged('E-large')
    await evidence.judged('E-large')
    // As large as a video with ten thousand chunks.
    await evidence.service.test.owner(
      `UPDATE attestations SET submission = submission || jsonb_build_object('assertion', repeat('A', 3000000))
       WHERE claim_id = $1`,
      [id],
    )
    const { about } = (await evidence.packet(id)).packet
    expect(about.attestations).toMatchObject({ total: 2, included: 1, next_cursor: expect.any(String) })
  })

  it('of an erased claim says so, and keeps digests and signed results', async () => {
    const { service, caller } = evidence
    const photo = Buffer.concat([PHOTO, Buffer.from('to be erased')])
    const id = await evidence.judged('E-erased', { photo }, LOSS)
    await service.services.attest.erasure.erasure.erase(caller, id, { requestId: 'r' })
    const signed = await evidence.packet(id)
    const [one] = signed.packet.attestations
    expect(signed.packet.about.statement).toContain('erased')
    expect(JSON.stringify(signed.packet)).not.toContain('52.5163')
    expect(one?.media).toMatchObject({ is_erased: true, sha256: createHash('sha256').update(photo).digest('hex') })
    expect(one?.result?.result_jws).toMatch(/^ey/)
    expect(one?.bundle_sha256).toMatch(/^[\w-]{43}$/)
    const { findings } = await checkFile(Buffer.from(JSON.stringify(signed)), { keys: evidence.keys })
    expect(findings.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect((await evidence.pdf(id)).subarray(0, 5).toString()).toBe('%PDF-')
  })
})

describe('a document', () => {
  it('contains the packet that it shows, and its download is logged like that of JSON', async () => {
    evidence.logged.length = 0
    const { packet } = await evidence.packet(claimId)
    const attached = JSON.parse(readAttachment(await evidence.pdf(claimId))?.toString() ?? '{}')
    expect(attached.packet.about.packet_id).toBe(packet.about.packet_id)
    expect(attached.packet.attestations).toEqual(packet.attestations)
    const common = { account: evidence.caller.accountId, claim: claimId, packet: packet.about.packet_id }
    expect(evidence.logged).toEqual([
      expect.objectContaining({
        ...common,
        format: 'json',
        actor: expect.stringMatching(/^key_/),
        requestId: expect.any(String),
      }),
      expect.objectContaining({ ...common, format: 'pdf' }),
    ])
  })

  it('is rendered for any names that strangers give their claims and devices', async () => {
    const line = '事 ملف \u202Egnp.exe \u0001 \\u0041 endobj (((\\ /Type /EmbeddedFile\n𝕏'
    const id = await evidence.judged('W'.repeat(255), {}, { line })
    const file = await evidence.pdf(id)
    expect(
      (await checkFile(file, { keys: evidence.keys })).findings.filter(({ outcome }) => outcome === 'failed'),
    ).toEqual([])
  })

  it('that takes too long or finds no thread is refused, and one that fails does not keep the next from being made', async () => {
    const signed = await evidence.packet(claimId)
    const impatient = createRenderer({ threads: 1, limitMs: 1 })
    onTestFinished(() => impatient.close())
    await expect(impatient.renderPdf({ signed, pictures: {} })).rejects.toMatchObject({ code: 'service_unavailable' })

    const thread = new URL('../media/never-ready-thread.ts', import.meta.url)
    const unready = createRenderer({ threads: 1, thread })
    onTestFinished(() => unready.close())
    await expect(unready.renderPdf({ signed, pictures: {} })).rejects.toMatchObject({ code: 'service_unavailable' })

    const renderer = createRenderer({ threads: 1 })
    const broken = { ...signed, packet: { ...signed.packet, attestations: [null as never] } }
    const documents = [broken, signed, signed].map((one) => renderer.renderPdf({ signed: one, pictures: {} }))
    await expect(documents[0]).rejects.toThrow('the document failed')
    for (const pdf of await Promise.all(documents.slice(1)))
      expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-')
    const closed = renderer.renderPdf({ signed, pictures: {} })
    renderer.close()
    await expect(closed).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('describes changes of a case that have no reason', () => {
    const changes = [
      { field: 'risk_score', from: '240', to: '320' },
      { field: 'assignee', from: null, to: 'first_adjuster@example.com' },
    ]
    expect(changesOf(changes)).toBe('risk score: from 240 to 320; assignee: from nothing to first_adjuster@example.com')
    expect(changesOf([])).toBe('')
  })

  it('shows characters that its font lacks as code points', () => {
    expect(printable('Müller\u202E\u0007 事 🏠 \\u0041', STANDARD)).toBe(
      'Müller\\u202E\\u0007 \\u4E8B \\u{1F3E0} \\\\u0041',
    )
    expect(printable('x'.repeat(700), STANDARD)).toBe(`${'x'.repeat(600)}… (100 more)`)
  })
})
