// A video whose list of chunks has a column of its own: whole where it is verified and proven, left out of pages.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { MANY_CHUNKS } from '#src/attest/claims/submission-text.ts'
import type { AttestBody } from '../../../capture-kit/device.ts'
import { joinChunks, makeVideoManifest, recordVideo } from '../../../capture-kit/video.ts'
import { checkFile } from '../../../commands/evidence/check.ts'
import { codesOf, shoot } from '../claims/phone.ts'
import { type EvidenceService, startEvidence } from './service.ts'

const COUNT = MANY_CHUNKS + 1
const RECORDING = recordVideo({ seed: 1, chunks: COUNT, chunkMs: 100 })
const VIDEO = joinChunks(RECORDING)
let evidence: EvidenceService
let claimId: string
let body: AttestBody
let judged: Record<string, unknown>

beforeAll(async () => {
  evidence = await startEvidence()
  const { service, caller, phone } = evidence
  const { sessions } = await service.captures.issue(caller, { count: 1 })
  const [{ session_nonce: nonce = '', capture_session_id: id = '' } = {}] = sessions
  await service.test.owner(`UPDATE capture_sessions SET issued_at = issued_at - interval '60 s' WHERE id = $1`, [id])
  const media = await service.media.storeInline(caller, { contentType: 'video/mp4', data: VIDEO })
  body = shoot(phone, {
    photo: VIDEO,
    externalId: 'a "long" video',
    claim: { reference: 'E-video' },
    capturedAt: new Date(Date.now() - 30_000),
    media: { media_id: media.id },
    sessionNonce: nonce,
    videoManifest: makeVideoManifest(nonce, RECORDING),
  })
  judged = await service.judge(caller, body)
  claimId = String(judged.claim_id)
})
afterAll(() => evidence?.close())

const stored = () =>
  evidence.service.test.owner(
    `SELECT jsonb_array_length(submission #> '{bundle,video_manifest,chunks}') AS inside,
       submission #>> '{bundle,video_manifest,chunk_count}' AS stated, json_array_length(video_chunks::json) AS beside
     FROM attestations WHERE claim_id = $1`,
    [claimId],
  )

it('is verified by its chunks, which are stored beside the submission', async () => {
  expect(codesOf(judged)).toEqual(['hardware_backing_absent'])
  expect(judged).toMatchObject({ provenance_status: 'verified' })
  expect(await stored()).toEqual([{ inside: null, stated: String(COUNT), beside: COUNT }])
})

it('is the same submission when it is sent again, and another one with a changed chunk', async () => {
  const { service, caller } = evidence
  expect((await service.attest(caller, body)).json.attestation_id).toBe(judged.attestation_id)
  const changed = structuredClone(body)
  const [chunk] = changed.bundle?.video_manifest?.chunks ?? []
  if (chunk === undefined) throw new Error('no chunk')
  chunk.frames += 1
  expect(await service.attest(caller, changed)).toMatchObject({
    status: 409,
    json: { errors: [{ pointer: '/external_id', code: 'external_id_reused' }] },
  })
})

it('is shown without its chunks, and proven with them', async () => {
  const { service, caller, keys } = evidence
  const shown = (await service.call(caller, `/v1/claims/${claimId}/attestations`)).text
  expect(shown).toContain(`"chunk_count":${COUNT}`)
  expect(shown).not.toContain('"chunks"')

  const signed = await evidence.packet(claimId)
  expect(signed.packet.attestations[0]?.submission).toMatchObject({
    bundle: { video_manifest: { chunks: body.bundle?.video_manifest?.chunks } },
  })
  const { findings } = await checkFile(Buffer.from(JSON.stringify(signed)), { keys })
  expect(findings.filter(({ outcome }) => outcome === 'failed')).toEqual([])
})

it('counts its chunks among the bytes of a packet', async () => {
  const { service, caller, phone } = evidence
  await service.judge(caller, shoot(phone, { claim: { reference: 'E-video' } }))
  const size = await service.test.owner(
    `UPDATE attestations SET video_chunks = '[]' || repeat(' ', 5000000)
     WHERE claim_id = $1 AND submission #> '{bundle,video_manifest}' IS NOT NULL RETURNING 1`,
    [claimId],
  )
  expect(size).toHaveLength(1)
  const { about } = (await evidence.packet(claimId)).packet
  expect(about.attestations).toMatchObject({ total: 2, included: 1, next_cursor: expect.any(String) })
})
