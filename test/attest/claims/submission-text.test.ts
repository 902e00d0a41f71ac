import { describe, expect, it } from 'vitest'
import { attestRequest, type BatchLine, toSubmission } from '#src/attest/claims/submission.ts'
import {
  contentDigest,
  contentOf,
  MANY_CHUNKS,
  prepareSubmission,
  submissionOf,
  submissionTexts,
} from '#src/attest/claims/submission-text.ts'
import { parseInSlices } from '#src/platform/http/validate.ts'

const DIGEST = 'a'.repeat(64)
const chunkOf = (index: number) => ({ index, sha256: DIGEST, bytes: 10, link: DIGEST })
const bodyOf = (chunks: object[], more: object = {}) => ({
  media_type: 'video',
  media: { media_id: 'med_x' },
  signature: { alg: 'ES256', value: 'AA' },
  bundle: {
    version: 1,
    captured_at: '2026-11-20T10:00:00.000Z',
    sensor_hash: DIGEST,
    video_manifest: { chunk_count: chunks.length, chunks },
  },
  ...more,
})

describe('the content of a submission', () => {
  const few = [chunkOf(0)]
  const many = Array.from({ length: MANY_CHUNKS + 1 }, (_, index) => chunkOf(index))
  const deceptive = { external_id: 'e "1"', claim: { reference: '"chunks":[]' } }
  it.each([
    [few, {}],
    [few, deceptive],
    [many, {}],
    [many, deceptive],
  ])('is the text of its members in one object', (chunks, more) => {
    const body = attestRequest.parse(bodyOf(chunks, more))
    const expected = JSON.stringify({ ...toSubmission(body), external_id: body.external_id, media_id: 'med_x' })
    expect(contentOf(body, 'med_x').join('')).toBe(expected)
  })

  it('has a column of its own for the chunks of a long video, and the rest without them', () => {
    const submission = toSubmission(attestRequest.parse(bodyOf(many, deceptive)))
    const texts = submissionTexts(submission)
    expect(JSON.parse(texts.videoChunks ?? '')).toEqual(many)
    const rest = JSON.parse(texts.submission)
    expect(rest.bundle.video_manifest).toEqual({ chunk_count: many.length })
    rest.bundle.video_manifest.chunks = many
    expect(rest).toEqual(JSON.parse(JSON.stringify(submission)))
    expect(submissionTexts(toSubmission(attestRequest.parse(bodyOf(many.slice(1))))).videoChunks).toBeNull()
  })

  it('is written once: before the transaction, and in it', async () => {
    const body = (await attestRequest.parseAsync(
      bodyOf(Array.from({ length: 3_000 }, (_, at) => chunkOf(at))),
    )) as BatchLine
    let reads = 0
    const chunks = body.bundle?.video_manifest?.chunks ?? []
    Object.defineProperty(chunks, 'toJSON', {
      value: () => {
        reads += 1
        return [...chunks]
      },
    })
    await prepareSubmission(body)
    contentDigest(body)
    contentOf(body, 'med_x')
    expect(reads).toBe(1)
    expect(submissionOf(body)).toBe(submissionOf(body))
  })
})

describe('a long manifest', () => {
  const long = () => Array.from({ length: 10_000 }, (_, index) => chunkOf(index))

  it('is accepted as sent', async () => {
    const parsed = await parseInSlices(attestRequest, bodyOf(long()))
    expect(parsed).toMatchObject({ ok: true, value: { bundle: { video_manifest: { chunks: long() } } } })
  })

  it('is refused with the place of each wrong chunk, up to ten of them', async () => {
    const chunks: object[] = long()
    for (let at = 5_000; at < 5_020; at += 1) chunks[at] = { index: -1 }
    const parsed = await parseInSlices(attestRequest, bodyOf(chunks))
    if (parsed.ok) throw new Error('it was accepted')
    expect(parsed.errors.map(({ pointer }) => pointer)).toEqual(
      Array.from({ length: 10 }, (_, index) => `/bundle/video_manifest/chunks/${5_000 + index}/index`),
    )
  })
})
