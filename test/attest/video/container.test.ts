import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWalker } from '#src/attest/video/container.ts'
import type { ContainerFacts } from '#src/attest/video/facts.ts'
import { MAX_ELEMENTS, MAX_PADDING_BYTES } from '#src/attest/video/limits.ts'
import { joinChunks, recordVideo } from '../../../capture-kit/video.ts'

const MP4 = joinChunks(recordVideo({ seed: 3, chunks: 3 }))
const MOV = joinChunks(recordVideo({ seed: 3, chunks: 3, container: 'mov' }))
const HEAD = element(0x1a45dfa3, element(0x4282, Buffer.from('webm')))
const SANE = { state: 'sane', reason: null, offset: null }

describe('an MP4', () => {
  it('is valid, however its bytes are split on arrival', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(MP4.length), { maxLength: 20 }), (cuts) => {
        expect(walk(MP4, 'video/mp4', cuts)).toEqual(SANE)
      }),
      { numRuns: 50 },
    )
    expect(walk(MP4, 'video/mp4', [...MP4.keys()])).toEqual(SANE)
  })

  it('is valid with its index at the end, and with data to the end of the file', () => {
    const head = boxAt(0, MOV)
    const index = MOV.subarray(MOV.indexOf('moov') - 4)
    expect(walk(join(head, box('mdat', Buffer.alloc(100)), index), 'video/mp4')).toEqual(SANE)
    expect(walk(join(head, index, long('mdat', 100)), 'video/quicktime')).toEqual(SANE)
    const endless = box('mdat', Buffer.alloc(100))
    endless.writeUInt32BE(0)
    expect(walk(join(head, index, endless), 'video/mp4')).toEqual(SANE)
  })

  it('is valid with as many zero bytes at its end as recorders leave, and not with more', () => {
    for (const [file, type] of [
      [MP4, 'video/mp4'],
      [MOV, 'video/quicktime'],
      [joinChunks(recordVideo({ seed: 3, chunks: 2, container: 'webm' })), 'video/webm'],
    ] as const) {
      expect(walk(join(file, Buffer.alloc(MAX_PADDING_BYTES)), type)).toEqual(SANE)
      const more = walk(join(file, Buffer.alloc(MAX_PADDING_BYTES + 1)), type)
      expect(more).toMatchObject({ state: 'broken', reason: expect.stringMatching(/padding_too_long|truncated/) })
      const far = walk(join(file, Buffer.alloc(3 * MAX_PADDING_BYTES)), type)
      expect(far).toEqual({ state: 'broken', reason: 'padding_too_long', offset: file.length })
    }
  })

  const ftyp = boxAt(0)
  const moov = boxAt(ftyp.length)
  const [first, second] = [fragmentAt(0), fragmentAt(1)]
  const data = box('mdat', Buffer.alloc(4))
  const broken: [string, Buffer, string][] = [
    ['that ends within a box', MP4.subarray(0, -1), 'truncated'],
    ['that ends within a header', join(MP4, Buffer.from('free')), 'truncated'],
    ['that ends within its index, between two boxes', join(ftyp, grown(moov)), 'truncated'],
    ['without an index', join(ftyp, data), 'no_movie'],
    ['without a video track', join(ftyp, replaced(moov, 'vide', 'soun'), data), 'no_video_track'],
    ['without data', join(ftyp, moov), 'no_media_data'],
    ['without a sample', join(ftyp, moov, data), 'no_frames'],
    ['with two indices', join(ftyp, moov, moov, data), 'second_movie'],
    ['with fragments that changed places', join(ftyp, moov, second, first), 'fragments_out_of_order'],
    ['with a fragment twice', join(ftyp, moov, first, first), 'fragments_out_of_order'],
    ['with a fragment before its index', join(ftyp, first, moov), 'fragment_before_movie'],
    ['with a box that is larger than what it is in', join(ftyp, shrunk(moov), data), 'box_beyond_parent'],
    [
      'with a box smaller than its header',
      join(ftyp, Buffer.from([0, 0, 0, 7, 0x66, 0x72, 0x65, 0x65])),
      'bad_box_size',
    ],
    ['with zeros between its boxes', join(ftyp, moov, Buffer.alloc(64), first), 'bad_box_type'],
    ['with a box of 2^63 bytes', join(MP4, huge('free')), 'truncated'],
  ]
  it.each(broken)('%s is broken', (_, bytes, reason) => {
    expect(walk(bytes, 'video/mp4')).toMatchObject({ state: 'broken', reason })
    expect(walk(bytes, 'video/mp4', [...bytes.keys()])).toMatchObject({ state: 'broken', reason })
  })
})

describe('a WebM', () => {
  const codec = element(0x86, Buffer.from('V_VP8'))
  const track = element(
    0x1654ae6b,
    element(0xae, join(element(0xd7, Buffer.from([3])), codec, element(0x83, Buffer.from([1])))),
  )
  const block = element(0xa3, Buffer.from([0x83, 0, 0, 0x80, 0, 0, 0, 0, 0]))
  const cluster = (at: number, isLive = false) =>
    element(0x1f43b675, join(element(0xe7, Buffer.from([at])), block), isLive)
  const file = (...parts: Buffer[]) => join(HEAD, element(0x18538067, join(...parts)))
  const live = (...parts: Buffer[]) => join(HEAD, element(0x18538067, join(...parts), true))

  it('is valid, complete or as it is recorded', () => {
    const cues = element(0x1c53bb6b, Buffer.alloc(3))
    for (const bytes of [
      file(track, cluster(0), cluster(5), cues),
      live(track, cluster(0, true), cluster(5, true), cues),
    ]) {
      expect(walk(bytes, 'video/webm')).toEqual(SANE)
      expect(walk(bytes, 'video/webm', [...bytes.keys()])).toEqual(SANE)
    }
  })

  const broken: [string, Buffer, string][] = [
    ['that ends within a block', live(track, cluster(0)).subarray(0, -1), 'truncated'],
    ['without a segment', HEAD, 'no_segment'],
    ['without a video track', file(replacedByte(track, 1, 2), cluster(0)), 'no_video_track'],
    ['without a block', file(track), 'no_media_data'],
    ['with clusters that changed places', live(track, cluster(5, true), cluster(0, true)), 'clusters_out_of_order'],
    [
      'with an element that is larger than what it is in',
      file(track, Buffer.from([0xec, 0x8f])),
      'element_beyond_parent',
    ],
    ['with an element of no length', live(track, Buffer.from([0xec, 0])), 'bad_element'],
    ['with an id that is none', live(track, Buffer.from([0, 0])), 'bad_element'],
    ['with a track of unknown size', live(element(0x1654ae6b, Buffer.alloc(0), true)), 'unknown_size'],
    ['with two segments', join(file(track, cluster(0)), element(0x18538067, track)), 'second_segment'],
  ]
  it.each(broken)('%s is broken', (_, bytes, reason) => {
    expect(walk(bytes, 'video/webm')).toMatchObject({ state: 'broken', reason })
    expect(walk(bytes, 'video/webm', [...bytes.keys()])).toMatchObject({ state: 'broken', reason })
  })
})

describe('any bytes', () => {
  it('get the same verdict however they are split', () => {
    const type = fc.constantFrom('video/mp4', 'video/webm', 'video/quicktime')
    const mutated = fc
      .array(fc.tuple(fc.nat(MP4.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 })
      .map((edits) => {
        const bytes = Buffer.from(MP4)
        for (const [at, value] of edits) bytes[at] = value
        return bytes
      })
    const bytes = fc.oneof(mutated, fc.uint8Array({ maxLength: 300 }).map(Buffer.from))
    fc.assert(
      fc.property(type, bytes, fc.array(fc.nat(400), { maxLength: 10 }), (contentType, given, cuts) => {
        const facts = walk(given, contentType)
        expect(['sane', 'broken', 'unverified']).toContain(facts.state)
        expect(walk(given, contentType, cuts)).toEqual(facts)
      }),
      { numRuns: 300 },
    )
  })

  it('are not walked endlessly', () => {
    const walker = createWalker('video/mp4')
    const boxes = Buffer.concat(Array.from({ length: 10_000 }, () => box('free', Buffer.alloc(0))))
    for (let sent = 0; sent < MAX_ELEMENTS + 10_000; sent += 10_000) walker.push(boxes)
    expect(walker.end()).toMatchObject({
      container: { state: 'unverified', reason: 'too_many_elements' },
      footage: null,
    })
  })
})

function walk(bytes: Buffer, type: string, cuts: number[] = []): ContainerFacts {
  const walker = createWalker(type)
  let from = 0
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    walker.push(bytes.subarray(from, cut))
    from = Math.max(from, cut)
  }
  walker.push(bytes.subarray(from))
  return walker.end().container
}

function boxAt(offset: number, file = MP4): Buffer {
  return file.subarray(offset, offset + file.readUInt32BE(offset))
}

/** A `moof` and its `mdat`. */
function fragmentAt(index: number): Buffer {
  let at = boxAt(0).length
  at += boxAt(at).length
  for (let skipped = 0; skipped < index; skipped += 1) at += boxAt(at).length + boxAt(at + boxAt(at).length).length
  const moof = boxAt(at)
  return join(moof, boxAt(at + moof.length))
}

function join(...parts: Buffer[]): Buffer {
  return Buffer.concat(parts)
}

function box(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4, 'latin1')
  return join(head, body)
}

/** The same box, with a length beyond its data. */
function grown(whole: Buffer): Buffer {
  const copy = Buffer.from(whole)
  copy.writeUInt32BE(whole.length + 200)
  return copy
}

/** The same box, with a length that ends within its first child. */
function shrunk(whole: Buffer): Buffer {
  const copy = Buffer.from(whole)
  copy.writeUInt32BE(40)
  return copy
}

function long(type: string, size: number): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32BE(1)
  head.write(type, 4, 'latin1')
  head.writeBigUInt64BE(BigInt(size + 16), 8)
  return join(head, Buffer.alloc(size))
}

function huge(type: string): Buffer {
  const bytes = long(type, 16)
  bytes.writeBigUInt64BE(2n ** 63n, 8)
  return bytes
}

function replaced(bytes: Buffer, from: string, to: string): Buffer {
  const copy = Buffer.from(bytes)
  copy.write(to, copy.indexOf(from), 'latin1')
  return copy
}

function replacedByte(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[copy.lastIndexOf(from)] = to
  return copy
}

function element(id: number, body: Buffer, isUnknown = false): Buffer {
  const hex = id.toString(16)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(isUnknown ? 2n ** 57n - 1n : BigInt(body.length))
  size[0] = 1
  return join(Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'), size, body)
}
