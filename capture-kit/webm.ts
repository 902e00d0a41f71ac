// WebM (RFC 8794, RFC 9559) as a browser records it: sizes not known in advance are left unknown, and times are
// milliseconds.

import type { ChunkFrames } from './video.ts'

const TRACK = 1
const KEY_FRAME = 0x80

/** The bytes of each chunk: a cluster. What precedes the first cluster belongs to the first chunk. */
export function webmParts(chunks: readonly ChunkFrames[]): Buffer[] {
  const head = Buffer.concat([
    element(0x1a45dfa3, element(0x4282, Buffer.from('webm'))),
    openElement(0x18538067),
    element(0x1549a966, element(0x2ad7b1, unsigned(1_000_000)), element(0x4d80, Buffer.from('Capture'))),
    element(
      0x1654ae6b,
      element(0xae, element(0xd7, unsigned(TRACK)), element(0x83, unsigned(1)), element(0x86, Buffer.from('V_VP8'))),
    ),
  ])
  return chunks.map((chunk, index) => (index === 0 ? Buffer.concat([head, cluster(chunk)]) : cluster(chunk)))
}

function cluster({ startMs, lengthMs, frames, data }: ChunkFrames): Buffer {
  const size = Math.floor(data.length / frames)
  const blocks = Array.from({ length: frames }, (_, index) => {
    const head = Buffer.from([0x80 | TRACK, 0, 0, index === 0 ? KEY_FRAME : 0])
    head.writeInt16BE(Math.round((index * lengthMs) / frames), 1)
    const end = index === frames - 1 ? data.length : (index + 1) * size
    return element(0xa3, head, data.subarray(index * size, end))
  })
  return Buffer.concat([openElement(0x1f43b675), element(0xe7, unsigned(startMs)), ...blocks])
}

function element(id: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(0x10000000 + body.length)
  return Buffer.concat([unsigned(id), size, body])
}

/** Opens an element of unknown size. */
function openElement(id: number): Buffer {
  return Buffer.concat([unsigned(id), Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])])
}

function unsigned(value: number): Buffer {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}
