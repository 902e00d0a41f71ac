import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judge } from '#src/attest/factors/judge.ts'
import type { ScoredFactor } from '#src/attest/factors/table.ts'
import { firstLink, nextLink, parseSeed } from '#src/attest/video/chain.ts'
import type { Walked } from '#src/attest/video/container.ts'
import { examineVideo } from '#src/attest/video/examine.ts'
import type { ReceivedVideo, VideoManifest } from '#src/attest/video/facts.ts'
import { readPieces } from '#src/attest/video/pieces.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { makeVideoManifest, recordVideo, type VideoChunk } from '../../../capture-kit/video.ts'
import { factsOf } from '../factors/vectors.ts'

interface Case {
  name: string
  seed: string
  seed_hex: string
  link_0: string
  chunks: {
    index: number
    data: string
    bytes: number
    first_pts_us: number
    last_pts_us: number
    sha256: string
    link: string
  }[]
  last_link: string
}
const FILE = new URL('../../../vectors/attest/video-chain.json', import.meta.url)
const { cases }: { cases: Case[] } = JSON.parse(readFileSync(FILE, 'utf8'))

describe('the chain of chunks', () => {
  it.each(cases)('matches its vector: $name', ({ seed, seed_hex, link_0, chunks, last_link }) => {
    const bytes = parseSeed(seed)
    expect(bytes?.toString('hex')).toBe(seed_hex)
    let link = firstLink(bytes ?? Buffer.alloc(0))
    expect(link.toString('hex')).toBe(link_0)
    for (const { index, data, first_pts_us: firstPtsUs, last_pts_us: lastPtsUs, ...expected } of chunks) {
      expect(sha256Hex(Buffer.from(data, 'hex'))).toBe(expected.sha256)
      const sha256 = Buffer.from(expected.sha256, 'hex')
      link = nextLink(link, { index, firstPtsUs, lastPtsUs, bytes: expected.bytes, sha256 })
      expect(link.toString('hex')).toBe(expected.link)
    }
    expect(link.toString('hex')).toBe(last_link)
  })

  it.each(cases)('matches that of the capture kit: $name', ({ seed, chunks, last_link }) => {
    const recorded = chunks.map(({ data, first_pts_us: firstPtsUs, last_pts_us: lastPtsUs }) => ({
      data: Buffer.from(data, 'hex'),
      frames: 1,
      firstPtsUs,
      lastPtsUs,
    }))
    expect(makeVideoManifest(seed, recorded)).toMatchObject({ last_link })
  })

  it('accepts no seed but 32 bytes in base64url', () => {
    for (const seed of ['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}B`, `${'A'.repeat(42)}+`, ` ${NONCE}`]) {
      expect(parseSeed(seed)).toBeNull()
    }
  })
})

const NONCE = Buffer.alloc(32, 7).toString('base64url')
const OTHER = Buffer.alloc(32, 8).toString('base64url')
const RUNS = { numRuns: 40 }
const ISSUED = Date.parse('2026-11-20T14:50:00.000Z')
const CODES = ['frame_hash_mismatch', 'video_manifest_incomplete', 'liveness_check_failed', 'session_nonce_mismatch']

const recording = fc
  .record({
    seed: fc.nat(1_000),
    chunks: fc.integer({ min: 2, max: 8 }),
    chunkMs: fc.integer({ min: 100, max: 10_000 }),
  })
  .map(recordVideo)
/** A recording and one of its chunks. */
const at = recording.chain((chunks) => fc.tuple(fc.constant(chunks), fc.nat(chunks.length - 1)))
/** Two of its chunks, the first before the second. */
const pair = recording.chain((chunks) =>
  fc
    .tuple(fc.nat(chunks.length - 2), fc.nat(chunks.length - 2))
    .map(([a, b]) => [chunks, Math.min(a, b), Math.max(a, b) + 1] as const),
)

describe('the check of a streamed video', () => {
  it('reports nothing when it is honest', () => {
    fc.assert(
      fc.property(recording, (chunks) => {
        expect(codesOf(stream(chunks))).toEqual([])
      }),
      RUNS,
    )
  })

  it('reports an edit of any byte at its position', () => {
    fc.assert(
      fc.property(at, fc.nat(1_000), fc.integer({ min: 1, max: 255 }), ([chunks, index], place, flip) => {
        const data = Buffer.from(chunks[index]?.data ?? '')
        data[place % data.length] = (data[place % data.length] ?? 0) ^ flip
        const sent = chunks.map((chunk, k) => (k === index ? { ...chunk, data } : chunk))
        expect(judgeVideo(stream(chunks, sent))).toEqual([
          {
            code: 'frame_hash_mismatch',
            points: 50,
            evidence: expect.objectContaining({
              verdict: 'tampered',
              first_bad_index: index,
              expected: sha256Hex(chunks[index]?.data ?? ''),
              found: sha256Hex(data),
            }),
          },
        ])
      }),
      RUNS,
    )
  })

  it('reports a missing chunk, and whether it was the last', () => {
    fc.assert(
      fc.property(at, ([chunks, index]) => {
        const sent = chunks.map((chunk, k) => (k === index ? undefined : chunk))
        const verdict = index === chunks.length - 1 ? 'truncated_tail' : 'missing'
        expect(found(stream(chunks, sent))).toEqual([['video_manifest_incomplete', index, verdict]])
      }),
      RUNS,
    )
  })

  it('reports two swapped chunks, or a repeated one, at the first of them', () => {
    fc.assert(
      fc.property(pair, ([chunks, a, b]) => {
        const swapped = with2(chunks, [a, chunks[b]], [b, chunks[a]])
        expect(found(stream(chunks, swapped))).toEqual([['frame_hash_mismatch', a, 'tampered']])
        expect(found(stream(chunks, with2(chunks, [b, chunks[a]])))).toMatchObject([
          ['frame_hash_mismatch', b, 'tampered'],
        ])
      }),
      RUNS,
    )
  })

  it('reports a chunk of another session that has its own link', () => {
    fc.assert(
      fc.property(pair, ([chunks, a, b]) => {
        const old = recordVideo({ seed: 5_000, chunks: chunks.length })
        const sent = with2(chunks, [b, old[b]])
        const manifest = replaceEntry(makeVideoManifest(NONCE, chunks), b, makeVideoManifest(OTHER, old).chunks[b])
        expect(found(stream(chunks, sent, manifest))).toContainEqual(['frame_hash_mismatch', b, 'tampered'])
        expect(a).toBeLessThan(b)
      }),
      RUNS,
    )
  })

  it('reports a complete recording of another session by its seed, also when it states another seed', () => {
    fc.assert(
      fc.property(recording, (chunks) => {
        const manifest = makeVideoManifest(OTHER, chunks)
        expect(codesOf(stream(chunks, chunks, manifest))).toEqual(['session_nonce_mismatch'])
        const lying = { ...manifest, chain_seed: NONCE }
        expect(found(stream(chunks, chunks, lying))).toEqual([['frame_hash_mismatch', 0, 'tampered']])
      }),
      RUNS,
    )
  })

  it('reports a chunk that arrived before its end was recorded', () => {
    fc.assert(
      fc.property(at, fc.integer({ min: 1, max: 100_000 }), ([chunks, index], earlyMs) => {
        const overMs = ISSUED + (chunks[index]?.lastPtsUs ?? 0) / 1_000
        const arrivals = new Map([[index, overMs - 1_000 - earlyMs]])
        expect(found(stream(chunks, chunks, undefined, arrivals))).toEqual([['liveness_check_failed', index, null]])
        expect(codesOf(stream(chunks, chunks, undefined, new Map([[index, overMs - 1_000]])))).toEqual([])
      }),
      RUNS,
    )
  })
})

describe('the check of a manifest', () => {
  const numbers = ['bytes', 'first_pts_us', 'last_pts_us'] as const
  const hashes = ['sha256', 'link'] as const

  it('reports any changed field of any chunk at its position', () => {
    fc.assert(
      fc.property(
        at,
        fc.constantFrom(...numbers, ...hashes),
        fc.integer({ min: 1, max: 9 }),
        ([chunks, index], field, by) => {
          const manifest = makeVideoManifest(NONCE, chunks)
          const entry = manifest.chunks[index]
          if (entry === undefined) throw new Error('no chunk')
          const value = entry[field]
          const changed = typeof value === 'number' ? value + by : (value.startsWith('0') ? '1' : '0') + value.slice(1)
          const judged = found(stream(chunks, chunks, replaceEntry(manifest, index, { ...entry, [field]: changed })))
          expect(judged.find(([code]) => code === 'frame_hash_mismatch')).toEqual([
            'frame_hash_mismatch',
            index,
            'tampered',
          ])
        },
      ),
      RUNS,
    )
  })

  it('reports any missing field of any chunk, and no wrong chain because of it', () => {
    const fields = ['index', 'frames', ...numbers, ...hashes] as const
    fc.assert(
      fc.property(at, fc.constantFrom(...fields), ([chunks, index], field) => {
        const manifest = makeVideoManifest(NONCE, chunks)
        const manifestWithout = replaceEntry(manifest, index, { ...manifest.chunks[index], [field]: undefined })
        const [only, ...others] = judgeVideo(stream(chunks, chunks, manifestWithout))
        expect(others).toEqual([])
        expect(only).toMatchObject({
          code: 'video_manifest_incomplete',
          evidence: { verdict: 'not_verifiable', first_missing_field: `/chunks/${index}/${field}` },
        })
      }),
      RUNS,
    )
  })

  it('gives the same evidence twice for any manifest, and evidence that can be signed', () => {
    const number = fc.oneof(fc.nat(10), fc.maxSafeNat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER))
    const hash = fc.constantFrom('0'.repeat(64), 'F'.repeat(64), sha256Hex(''))
    const seed = fc.constantFrom(NONCE, OTHER, 'no seed', '\u202e\ud83d')
    const entry = fc.record(
      {
        index: fc.nat(12),
        sha256: hash,
        bytes: fc.nat(100),
        frames: number,
        first_pts_us: number,
        last_pts_us: number,
        link: hash,
      },
      { requiredKeys: [] },
    )
    const manifest = fc.record(
      {
        chunk_count: number,
        total_bytes: number,
        duration_us: number,
        codec: seed,
        timescale: number,
        chain_seed: seed,
        chunks: fc.array(entry, { maxLength: 12 }),
        last_link: hash,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(manifest, recording, fc.dictionary(fc.nat(9).map(String), number), (given, chunks, arrivals) => {
        const times = new Map(Object.entries(arrivals).map(([index, ms]) => [Number(index), ms]))
        const judged = judgeVideo(stream(chunks, chunks, given, times))
        expect(judgeVideo(stream(chunks, chunks, structuredClone(given), times))).toEqual(judged)
        expect(JSON.parse(canonicalize(JSON.parse(JSON.stringify(judged))))).toEqual(judged)
        expect(judged).not.toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('reports a removed chunk after which the others were renumbered', () => {
    fc.assert(
      fc.property(at, ([chunks, index]) => {
        const left = chunks.toSpliced(index, 1)
        const manifest = makeVideoManifest(NONCE, chunks)
        const entries = manifest.chunks.toSpliced(index, 1).map((entry, k) => ({ ...entry, index: k }))
        const sums = { chunk_count: left.length, total_bytes: lengthOf(left) }
        const judged = found(stream(left, left, { ...manifest, ...sums, chunks: entries }))
        expect(judged[0]).toEqual(['frame_hash_mismatch', Math.min(index, left.length - 1), 'tampered'])
      }),
      RUNS,
    )
  })
})

describe('the check of an uploaded file', () => {
  it('reports nothing when it is honest, wherever its stream is cut into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(recording, fc.array(fc.nat(3_000), { maxLength: 8 }), async (chunks, cuts) => {
        expect(codesOf(await upload(chunks, Buffer.concat(chunks.map(({ data }) => data)), cuts))).toEqual([])
      }),
      RUNS,
    )
  })

  it('reports a truncated file as truncated at any byte, and added bytes as added', async () => {
    await fc.assert(
      fc.asyncProperty(recording, fc.nat(10_000), fc.integer({ min: 1, max: 500 }), async (chunks, place, more) => {
        const file = Buffer.concat(chunks.map(({ data }) => data))
        const end = place % file.length
        const whole = chunks.filter((_, k) => lengthOf(chunks.slice(0, k + 1)) <= end).length
        const cut = found(await upload(chunks, file.subarray(0, end), []))
        expect(cut).toEqual([['video_manifest_incomplete', whole, 'truncated_tail']])
        const longer = found(await upload(chunks, Buffer.concat([file, Buffer.alloc(more)]), []))
        expect(longer).toEqual([['video_manifest_incomplete', null, 'surplus']])
      }),
      RUNS,
    )
  })
})

interface Seen extends Partial<Walked> {
  manifest: VideoManifest
  received: ReceivedVideo
}

function stream(
  chunks: readonly VideoChunk[],
  sent: readonly (VideoChunk | undefined)[] = chunks,
  manifest: VideoManifest = makeVideoManifest(NONCE, chunks),
  arrivals: ReadonlyMap<number, number> = new Map(),
): Seen {
  const received = sent.flatMap((chunk, index) =>
    chunk === undefined
      ? []
      : [
          {
            index,
            bytes: chunk.data.length,
            sha256: sha256Hex(chunk.data),
            // When the chunk of this index had ended, whatever was sent for it.
            arrivedAtMs: arrivals.get(index) ?? ISSUED + 60_000 + (chunks[index] ?? chunk).lastPtsUs / 1_000,
          },
        ],
  )
  const bytes = received.reduce((sum, chunk) => sum + chunk.bytes, 0)
  return { manifest, received: { source: 'stream', bytes, chunks: received, looseBytes: 0, streamNonce: NONCE } }
}

async function upload(chunks: readonly VideoChunk[], file: Buffer, cuts: number[]): Promise<Seen> {
  const edges = [...new Set([0, ...cuts.map((cut) => Math.min(cut, file.length)), file.length])].sort((a, b) => a - b)
  const parts = edges.slice(1).map((end, place) => file.subarray(edges[place], end))
  const sizes = chunks.map(({ data }) => data.length)
  const { signal } = new AbortController()
  const { bytes, pieces, looseBytes, ...walked } = await readPieces(Readable.from(parts), {
    sizes,
    type: 'video/mp4',
    signal,
  })
  expect(bytes).toBe(file.length)
  const received = pieces.map((piece, index) => ({ ...piece, index, arrivedAtMs: null }))
  return {
    ...walked,
    manifest: makeVideoManifest(NONCE, chunks),
    received: { source: 'upload', bytes, chunks: received, looseBytes, streamNonce: null },
  }
}

// A case without a file of its own tests the chain alone.
const SANE = { state: 'sane', reason: null, offset: null } as const

function judgeVideo({ manifest, received, container = SANE, footage = null }: Seen): ScoredFactor[] {
  const facts = factsOf({
    '/bundle/sessionNonce': NONCE,
    '/session': {
      nonce: NONCE,
      state: 'accepted',
      issuedAt: new Date(ISSUED).toISOString(),
      expiresAt: '2026-11-20T15:00:00.000Z',
      consumedBy: null,
      deviceId: null,
    },
    '/media/mediaType': 'video',
    '/exif': { state: 'not_applicable' },
    '/video': examineVideo({ manifest, received, nonce: NONCE, container, footage }),
  })
  return judge(facts).factors.filter(({ code }) => CODES.includes(code))
}

function codesOf(seen: Seen): string[] {
  return judgeVideo(seen).map(({ code }) => code)
}

/** Code, first bad index and verdict. */
function found(seen: Seen): unknown[][] {
  return judgeVideo(seen).map(({ code, evidence }) => [code, evidence.first_bad_index, evidence.verdict ?? null])
}

function with2(
  chunks: readonly VideoChunk[],
  ...changes: [index: number, chunk: VideoChunk | undefined][]
): (VideoChunk | undefined)[] {
  const changed: (VideoChunk | undefined)[] = [...chunks]
  for (const [index, chunk] of changes) changed[index] = chunk
  return changed
}

function replaceEntry(manifest: VideoManifest, index: number, entry: object | undefined): VideoManifest {
  return { ...manifest, chunks: (manifest.chunks ?? []).map((chunk, k) => (k === index ? { ...entry } : chunk)) }
}

function lengthOf(chunks: readonly VideoChunk[]): number {
  return chunks.reduce((sum, { data }) => sum + data.length, 0)
}
