// ISO/IEC 14496-12 4.2 and QuickTime: boxes of a size and a type. Only those are entered that tell what the file is made of.

import type { Finding, HeaderReader, Step } from './container.ts'

/** Where each of them may stand; elsewhere it is payload. */
const ENTERED: ReadonlyMap<string, string | null> = new Map([
  ['moov', null],
  ['trak', 'moov'],
  ['mdia', 'trak'],
  ['moof', null],
])
const HEADER_BYTES = 8
const LONG_HEADER_BYTES = 16
// Version and flags, then what each is looked at for.
const SEQUENCE_BYTES = 8
const HANDLER_BYTES = 12

interface Open {
  type: string
  end: number
}

export function createBoxReader(): HeaderReader {
  const open: Open[] = []
  let hasMovie = false
  let hasVideo = false
  let hasData = false
  let sequence: number | undefined

  function read(header: Buffer, offset: number): Step {
    while (open.length > 0 && offset >= (open.at(-1)?.end ?? 0)) open.pop()
    const parent = open.at(-1)
    const short = header.readUInt32BE(0)
    const type = header.toString('latin1', 4, 8)
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return { reason: 'bad_box_type', offset }
    if (short === 1 && header.byteLength < LONG_HEADER_BYTES) return { more: LONG_HEADER_BYTES }
    const headerBytes = short === 1 ? LONG_HEADER_BYTES : HEADER_BYTES
    const size = sizeOf(header, short, parent)
    if (size < headerBytes) return { reason: 'bad_box_size', offset }
    if (parent !== undefined && offset + size > parent.end) return { reason: 'box_beyond_parent', offset }

    const within = parent?.type ?? null
    const looked = lookedAt(type, within)
    if (looked > 0) {
      if (size < headerBytes + looked) return { reason: 'bad_box_size', offset }
      if (header.byteLength < headerBytes + looked) return { more: headerBytes + looked }
    }
    return (
      note(type, within, header.subarray(headerBytes), offset) ?? enter(type, within, { offset, headerBytes, size })
    )
  }

  function note(type: string, within: string | null, payload: Buffer, offset: number): Finding | undefined {
    if (type === 'moov' && within === null) {
      if (hasMovie) return { reason: 'second_movie', offset }
      hasMovie = true
    }
    if (type === 'mdat' && within === null) hasData = true
    if (type === 'moof' && within === null && !hasMovie) return { reason: 'fragment_before_movie', offset }
    if (type === 'hdlr' && within === 'mdia' && payload.toString('latin1', 8, 12) === 'vide') hasVideo = true
    if (type === 'mfhd' && within === 'moof') {
      const number = payload.readUInt32BE(4)
      if (sequence !== undefined && number <= sequence) return { reason: 'fragments_out_of_order', offset }
      sequence = number
    }
    return undefined
  }

  function enter(
    type: string,
    within: string | null,
    box: { offset: number; headerBytes: number; size: number },
  ): Step {
    if (ENTERED.get(type) !== within) return { skip: box.size }
    open.push({ type, end: box.offset + box.size })
    return { skip: box.headerBytes }
  }

  return {
    start: HEADER_BYTES,
    read,
    finish(offset) {
      const cut = open.find(({ end }) => end > offset && end !== Number.POSITIVE_INFINITY)
      if (cut !== undefined) return { reason: 'truncated', offset }
      if (!hasMovie) return { reason: 'no_movie', offset }
      if (!hasVideo) return { reason: 'no_video_track', offset }
      return hasData ? undefined : { reason: 'no_media_data', offset }
    },
  }
}

// 0: to the end of the file, which a box inside of another can't say.
function sizeOf(header: Buffer, short: number, parent: Open | undefined): number {
  if (short === 1) return Number(header.readBigUInt64BE(8))
  if (short === 0) return parent === undefined ? Number.POSITIVE_INFINITY : 0
  return short
}

function lookedAt(type: string, within: string | null): number {
  if (type === 'hdlr' && within === 'mdia') return HANDLER_BYTES
  return type === 'mfhd' && within === 'moof' ? SEQUENCE_BYTES : 0
}
