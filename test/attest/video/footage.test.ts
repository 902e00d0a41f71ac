// The times that a container states, and whether a manifest agrees with them.

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Codec, codecOf, describeCodec, isSameCodec } from '#src/attest/video/codec.ts'
import { createWalker } from '#src/attest/video/container.ts'
import { examineVideo } from '#src/attest/video/examine.ts'
import type { FootageFacts, VideoManifest } from '#src/attest/video/facts.ts'
import type { Footage } from '#src/attest/video/footage.ts'
import { MAX_FRAGMENTS, MAX_FRAMES } from '#src/attest/video/limits.ts'
import { addRun, createRuns, spanOf } from '#src/attest/video/runs.ts'
import {
  joinChunks,
  makeVideoManifest,
  recordVideo,
  VIDEO_TYPES,
  type VideoChunk,
  type VideoContainer,
} from '../../../capture-kit/video.ts'

interface Case {
  name: string
  content_type: string
  data: string
  expect: {
    state: string
    reason: string | null
    codec?: string
    timescale?: number
    frames?: number
    duration_us?: number
    fragments?: { from: number; at: number; first_us: number; frames: number }[]
  }
}
const FILE = new URL('../../../vectors/attest/video-container.json', import.meta.url)
const { cases }: { cases: Case[] } = JSON.parse(readFileSync(FILE, 'utf8'))
const NONCE = Buffer.alloc(32, 7).toString('base64url')
const CONTAINERS: readonly VideoContainer[] = ['mp4', 'mov', 'webm']

describe('the times of a container', () => {
  it.each(cases)(
    'match their vector: $name',
    ({ content_type: type, data, expect: { state, reason, ...expected } }) => {
      const bytes = Buffer.from(data, 'hex')
      const walked = walk([bytes], type)
      expect(walked.container).toMatchObject({ state, reason })
      const { footage } = walked
      expect(footage === null ? {} : told(footage)).toEqual(expected)
      expect(
        walk(
          [...bytes].map((byte) => Buffer.from([byte])),
          type,
        ),
      ).toEqual(walked)
    },
  )

  it('are read in as many steps as there are runs, whatever their counts', () => {
    const [durations, offsets] = [createRuns(), createRuns()]
    addRun(durations, 1_000_000_000, 3)
    addRun(durations, 0, 9)
    addRun(durations, 1, 5)
    addRun(offsets, 999_999_999, 2)
    expect(spanOf(durations, offsets)).toEqual({ first: 2, end: 3_000_000_005 })
  })

  it('are not read from a table with more runs than a video may have frames', () => {
    const file = joinChunks(recordVideo({ seed: 1, chunks: 1, container: 'mov' }))
    const at = file.indexOf('stts') - 4
    const table = Buffer.alloc(8 * (MAX_FRAMES + 1) + 16)
    table.writeUInt32BE(table.length)
    table.write('stts', 4)
    table.writeUInt32BE(MAX_FRAMES + 1, 12)
    const longer = [file.subarray(0, at), table, file.subarray(at + file.readUInt32BE(at))]
    for (const type of ['moov', 'trak', 'mdia', 'minf', 'stbl']) {
      const head = longer[0] as Buffer
      const size = head.indexOf(type) - 4
      head.writeUInt32BE(head.readUInt32BE(size) + table.length, size)
    }
    expect(walk(longer, 'video/quicktime').container).toMatchObject({ state: 'unverified', reason: 'too_many_frames' })
  })

  it('are those of each frame, one by one', () => {
    const runs = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 9 })), { maxLength: 6 })
    fc.assert(
      fc.property(runs, runs, (durations, offsets) => {
        const toRuns = (list: [number, number][]) => {
          const made = createRuns()
          for (const [count, value] of list) addRun(made, count, value)
          return made
        }
        const each = (list: [number, number][]) => list.flatMap(([count, value]) => Array<number>(count).fill(value))
        let time = 0
        const shown = each(durations).map((duration, index) => {
          const first = time + (each(offsets)[index] ?? 0)
          time += duration
          return { first, end: first + duration }
        })
        const span = spanOf(toRuns(durations), toRuns(offsets))
        if (shown.length === 0) expect(span.first).toBe(Number.POSITIVE_INFINITY)
        else {
          expect(span.first).toBe(Math.min(...shown.map(({ first }) => first)))
          expect(span.end).toBe(Math.max(...shown.map(({ end }) => end)))
        }
      }),
    )
  })

  it('are not reported for more fragments than are read', () => {
    const [first, second] = recordVideo({ seed: 1, chunks: 2, chunkMs: 100 })
    const fragment = Buffer.from(second?.data ?? '')
    const walker = createWalker('video/mp4')
    walker.push(first?.data ?? Buffer.alloc(0))
    for (let sequence = 2; sequence < MAX_FRAGMENTS + 3; sequence += 1) {
      fragment.writeUInt32BE(sequence, fragment.indexOf('mfhd') + 8)
      walker.push(fragment)
    }
    expect(walker.end()).toMatchObject({
      container: { state: 'unverified', reason: 'too_many_fragments' },
      footage: null,
    })
  })
})

describe('a recording of the capture kit', () => {
  it('has the times of its manifest, in each container', () => {
    const recording = fc.record({
      seed: fc.nat(1_000),
      chunks: fc.integer({ min: 1, max: 8 }),
      chunkMs: fc.integer({ min: 100, max: 10_000 }),
      container: fc.constantFrom(...CONTAINERS),
    })
    fc.assert(
      fc.property(recording, (given) => {
        const facts = measure(recordVideo(given), given.container)
        expect(facts).toMatchObject({ codec: { isSame: true }, chunkStart: null, chunkFrames: null })
        expect(facts.timescale.stated).toBe(facts.timescale.found)
        expect(facts.frames.stated).toBe(facts.frames.found)
        expect(Math.abs((facts.durationUs.stated ?? 0) - facts.durationUs.found)).toBeLessThanOrEqual(facts.frameUs)
        expect(facts.fragments).toBe(given.container === 'mov' ? 0 : given.chunks)
      }),
      { numRuns: 60 },
    )
  })

  it.each(CONTAINERS)('of 12 s that is claimed to be one of 0.6 s is detected, in %s', (container) => {
    const facts = measure(recordVideo({ seed: 1, chunks: 6, chunkMs: 2_000, container }), container, hurried)
    expect(facts).toMatchObject({
      durationUs: { stated: 600_000, found: expect.closeTo(12_000_000, -4) },
      frames: { stated: 18, found: 360 },
    })
    if (container === 'mov') return
    expect(facts).toMatchObject({
      chunkStart: { count: 5, index: 1, stated: 100_000, found: 2_000_000 },
      chunkFrames: { count: 6, index: 0, stated: 3, found: 60 },
    })
  })

  it.each(['mp4', 'webm'] as const)('whose chunks exchanged their lengths is detected, in %s', (container) => {
    const facts = measure(recordVideo({ seed: 1, chunks: 4, container }), container, ([a, b, ...others]) => [
      { ...a, last_pts_us: 1_500_000, frames: 45 },
      { ...b, first_pts_us: 1_500_000, frames: 15 },
      ...others,
    ])
    expect(facts).toMatchObject({ durationUs: { stated: 4_000_000 }, frames: { stated: 120, found: 120 } })
    expect(facts).toMatchObject({
      chunkStart: { count: 1, index: 1, stated: 1_500_000, found: 1_000_000 },
      chunkFrames: { count: 2, index: 0, stated: 45, found: 30 },
    })
  })

  it('may begin at any time of its clock', () => {
    const later = (chunks: Chunks) =>
      chunks.map((chunk) => ({
        ...chunk,
        first_pts_us: (chunk.first_pts_us ?? 0) + 5e9,
        last_pts_us: (chunk.last_pts_us ?? 0) + 5e9,
      }))
    expect(measure(recordVideo({ seed: 1, chunks: 4 }), 'mp4', later)).toMatchObject({
      chunkStart: null,
      chunkFrames: null,
    })
  })

  it.each([7, -7])(
    'with chunks cut %i bytes beside its fragments is compared by the fragment that they begin in',
    (by) => {
      const cut = (chunks: Chunks) =>
        chunks.map((chunk, index) => ({
          ...chunk,
          bytes: (chunk.bytes ?? 0) + (index === 0 ? by : index === 3 ? -by : 0),
        }))
      const recording = recordVideo({ seed: 1, chunks: 4 })
      expect(measure(recording, 'mp4', cut)).toMatchObject({ chunkStart: null, chunkFrames: null })
      const facts = measure(recording, 'mp4', (chunks) => cut(hurried(chunks)))
      expect(facts.chunkStart).toMatchObject({ index: by > 0 ? 1 : 2 })
    },
  )

  it.each([7, -7])('in WebM with chunks cut %i bytes beside its clusters is compared as exactly', (by) => {
    const cut = (chunks: Chunks) =>
      chunks.map((chunk, index) => ({
        ...chunk,
        bytes: (chunk.bytes ?? 0) + (index === 0 ? by : index === 3 ? -by : 0),
      }))
    const recording = recordVideo({ seed: 1, chunks: 4, container: 'webm' })
    expect(measure(recording, 'webm', cut)).toMatchObject({ chunkStart: null, chunkFrames: null })
    expect(measure(recording, 'webm', (chunks) => cut(hurried(chunks)))).toMatchObject({
      chunkStart: { index: 1, stated: 100_000 },
      chunkFrames: { index: 0, stated: 3 },
    })
  })

  it('takes as many reads for each chunk of 10,000 as for each of 10', () => {
    const readsOf = (count: number) => {
      let reads = 0
      const recording = recordVideo({ seed: 1, chunks: count, chunkMs: 100 })
      const counted = (chunks: Chunks) =>
        chunks.map((chunk) =>
          countReads(chunk, () => {
            reads += 1
          }),
        )
      expect(measure(recording, 'mp4', counted)).toMatchObject({ chunkStart: null, chunkFrames: null })
      return reads / count
    }
    expect(readsOf(10_000)).toBeLessThanOrEqual(readsOf(10))
  })
})

describe('a codec', () => {
  const avc = codecOf('avc1', Buffer.from([1, 0x42, 0xe0, 0x1e]))
  const hevc = codecOf('hvc1', Buffer.from([1, 1, 0x60, 0]))
  const same: [string, Codec][] = [
    ['avc1.42E01E', avc],
    ['avc1.42c01f', avc],
    ['avc3.42001e', avc],
    ['avc1', avc],
    ['avc1.64001F', codecOf('avc1')],
    ['hvc1.1.6.L93.B0', hevc],
    ['hev1.A1.6.L93', hevc],
    ['vp8', codecOf('V_VP8')],
    ['vp8.0', codecOf('V_VP8')],
    ['vp09.02.10.10', codecOf('vp09', Buffer.from([1, 0, 0, 0, 2]))],
    ['vp9', codecOf('V_VP9')],
    ['av01.0.04M.08', codecOf('av01', Buffer.from([0x81, 8, 0, 0]))],
    ['mp4v.20.9', codecOf('mp4v')],
    ['V_FFV1', codecOf('V_FFV1')],
  ]
  it.each(same)('%s equals that of the file', (stated, codec) => {
    expect(isSameCodec(stated, codec)).toBe(true)
    expect(describeCodec(codec).length).toBeGreaterThan(2)
  })

  const other: [string, Codec][] = [
    ['vp8', avc],
    ['avc1.64001F', avc],
    ['avc1.42', avc],
    ['avc1.', avc],
    ['hvc1.2.4.L93', hevc],
    ['hvc1.1', avc],
    ['vp8', codecOf('V_VP9')],
    ['vp09.00.10.08', codecOf('vp09', Buffer.from([1, 0, 0, 0, 2]))],
    ['av01.1.04M.08', codecOf('av01', Buffer.from([0x81, 8, 0, 0]))],
    ['mp4v.20.9', avc],
    ['avc1.42E01E', codecOf('encv')],
    ['', avc],
  ]
  it.each(other)('%s differs from that of the file', (stated, codec) => expect(isSameCodec(stated, codec)).toBe(false))
})

function countReads<O extends object>(object: O, count: () => void): O {
  return new Proxy(object, {
    get(target, name) {
      count()
      return Reflect.get(target, name)
    },
  })
}

type Chunks = NonNullable<VideoManifest['chunks']>

/** States a tenth of a second and three frames for each chunk. */
function hurried(chunks: Chunks): Chunks {
  return chunks.map((chunk, index) => {
    return { ...chunk, frames: 3, first_pts_us: index * 100_000, last_pts_us: (index + 1) * 100_000 }
  })
}

function measure(
  recording: readonly VideoChunk[],
  container: VideoContainer,
  change: (chunks: Chunks) => Chunks = (chunks) => chunks,
): FootageFacts {
  const honest = makeVideoManifest(NONCE, recording, container)
  const manifest = { ...honest, chunks: change(honest.chunks) }
  let end = 0
  const cuts = manifest.chunks.map(({ bytes = 0 }) => {
    end += bytes
    return end
  })
  const walked = walk([joinChunks(recording)], VIDEO_TYPES[container], cuts)
  expect(walked.container).toMatchObject({ state: 'sane' })
  const received = { source: 'upload' as const, bytes: end, chunks: [], looseBytes: 0, streamNonce: null }
  const { footage } = examineVideo({ ...walked, manifest, received, nonce: NONCE })
  if (footage === null) throw new Error('nothing was measured')
  return footage
}

function walk(parts: readonly Buffer[], type: string, cuts: number[] = []) {
  const walker = createWalker(type, cuts)
  for (const part of parts) walker.push(part)
  return walker.end()
}

function told({ codec, timescale, frames, durationUs, fragments }: Footage): Omit<Case['expect'], 'state' | 'reason'> {
  return {
    codec: describeCodec(codec),
    timescale,
    frames,
    duration_us: durationUs,
    fragments: fragments.map(({ from, at, firstUs, frames: count }) => ({
      from,
      at,
      first_us: firstUs,
      frames: count,
    })),
  }
}
