// The movie box (ISO/IEC 14496-12 8.2 to 8.6): for each track its id, handler, timescale, codec and sample times. Only
// the video track is kept.

import type { Box, BoxReader, Taken } from './boxes.ts'
import { CONFIGURATION_BYTES, type Codec, codecOf } from './codec.ts'
import type { Finding } from './container.ts'
import { MAX_FRAMES, MAX_TRACKS } from './limits.ts'
import { addRun, createRuns, type Runs, type Span, spanOf, sumOf } from './runs.ts'

const UNKNOWN_32 = 0xffffffff
const VIDEO = 'vide'
const SINGLE: ReadonlySet<string> = new Set(['edts', 'mdia', 'minf', 'stbl', 'stsd'])

/** The movie box's data of its one video track; times in ticks of `timescale`. */
export interface VideoTrack {
  id: number
  timescale: number
  codec: Codec
  /** Samples in the movie box; a fragmented file may have none. */
  frames: number
  span: Span | null
  /** The sum of the durations of those samples. */
  sumTicks: number
  /** According to the track's media header; null when it states none. */
  statedTicks: number | null
  /** The duration of the edit list, in ticks of the movie. */
  editedTicks: number
}

export interface Movie {
  readers: ReadonlyMap<string, BoxReader>
  /** A box of this type was entered, or has ended. */
  enter(type: string, offset: number): Finding | undefined
  leave(type: string, offset: number): Finding | undefined
  video(): VideoTrack | undefined
  hasVideo(): boolean
  movieTimescale(): number | undefined
  /** The length of a sample of this track where the fragment does not state it. */
  defaultDuration(trackId: number): number
}

interface Track {
  seen: Set<string>
  id?: number
  handler?: string
  timescale?: number
  statedTicks: number | null
  codecs: Codec[]
  durations: Runs
  offsets: Runs
  sampleCount: number
  editedTicks: number
}

export function createMovie(): Movie {
  const defaults = new Map<number, number>()
  let tracks = 0
  let track = createTrack()
  let movieTimescale: number | undefined
  let video: VideoTrack | undefined
  let hasVideo = false

  // A duplicate box is refused: programs differ in which of the two they believe.
  function once(type: string, offset: number): Finding | undefined {
    if (track.seen.has(type)) return { reason: 'second_box', offset }
    track.seen.add(type)
    return undefined
  }

  const single =
    (read: (payload: Buffer, box: Box) => Taken) =>
    (payload: Buffer, box: Box): Taken =>
      // A box that asked for more bytes is passed again: it is the same box.
      read(payload, box) ?? once(box.type, box.offset)

  const table =
    (runs: (one: Track) => Runs, numberAt: (record: Buffer, at: number) => number) =>
    (payload: Buffer, box: Box): Taken => {
      const second = once(box.type, box.offset)
      if (second !== undefined) return second
      const target = runs(track)
      const count = payload.readUInt32BE(4)
      if (isTooMany(count, box)) return tooMany(box)
      return {
        table: { after: 8, recordBytes: 8, count },
        take: (records) => {
          for (let at = 0; at < records.length; at += 8)
            addRun(target, records.readUInt32BE(at), numberAt(records, at + 4))
        },
      }
    }

  function readMovieHeader(payload: Buffer, { offset }: Box): Taken {
    // It belongs to no track, so `once` does not know of it.
    if (movieTimescale !== undefined) return { reason: 'second_box', offset }
    movieTimescale = payload.readUInt32BE(isLong(payload) ? 20 : 12)
    return undefined
  }

  function readTrackHeader(payload: Buffer): undefined {
    track.id = payload.readUInt32BE(isLong(payload) ? 20 : 12)
  }

  function readMediaHeader(payload: Buffer): Taken {
    if (isLong(payload) && payload.length < 32) return { more: 32 }
    track.timescale = payload.readUInt32BE(isLong(payload) ? 20 : 12)
    track.statedTicks = isLong(payload) ? long(payload, 24) : known(payload.readUInt32BE(16))
    return undefined
  }

  function readHandler(payload: Buffer): undefined {
    track.handler = payload.toString('latin1', 8, 12)
  }

  function readSizes(payload: Buffer): undefined {
    track.sampleCount = payload.readUInt32BE(8)
  }

  function readEntry(_: Buffer, { type, offset }: Box): Taken {
    if (track.codecs.length >= MAX_TRACKS) return { reason: 'mixed_codecs', offset }
    track.codecs.push(codecOf(type))
    return undefined
  }

  function readEdits(payload: Buffer, box: Box): Taken {
    const second = once(box.type, box.offset)
    if (second !== undefined) return second
    const recordBytes = isLong(payload) ? 20 : 12
    const count = payload.readUInt32BE(4)
    if (isTooMany(count, box)) return tooMany(box)
    return {
      table: { after: 8, recordBytes, count },
      take: (records) => {
        for (let at = 0; at < records.length; at += recordBytes) {
          const isEmpty =
            recordBytes === 20 ? records.readBigInt64BE(at + 8) === -1n : records.readInt32BE(at + 4) === -1
          const ticks = recordBytes === 20 ? Number(records.readBigUInt64BE(at)) : records.readUInt32BE(at)
          // During an empty edit nothing is shown: the recording has not begun.
          if (!isEmpty) track.editedTicks += ticks
        }
      },
    }
  }

  function readDefaults(payload: Buffer, { offset }: Box): Taken {
    if (defaults.size >= MAX_TRACKS) return { reason: 'too_many_tracks', offset, isOverLimit: true }
    const id = payload.readUInt32BE(4)
    if (defaults.has(id)) return { reason: 'second_box', offset }
    defaults.set(id, payload.readUInt32BE(12))
    return undefined
  }

  function readConfiguration(payload: Buffer, { payloadBytes }: Box): Taken {
    const wanted = Math.min(CONFIGURATION_BYTES, payloadBytes)
    if (payload.length < wanted) return { more: wanted }
    const codec = track.codecs.pop()
    if (codec !== undefined) track.codecs.push(codecOf(codec.name, payload))
    return undefined
  }

  function endTrack(offset: number): Finding | undefined {
    const { id, handler, timescale, codecs, durations, offsets, sampleCount, statedTicks, editedTicks } = track
    if (handler !== VIDEO) return undefined
    hasVideo = true
    const [codec] = codecs
    const fail = (reason: string): Finding => ({ reason, offset })
    // A player shows only one of them, perhaps not the one that was compared.
    if (video !== undefined) return fail('second_video_track')
    if (id === undefined || id === 0) return fail('no_track_id')
    if (timescale === undefined || timescale === 0) return fail('bad_timescale')
    if (codec === undefined) return fail('no_codec')
    if (codecs.some(({ name }) => name !== codec.name)) return fail('mixed_codecs')
    if (durations.total > MAX_FRAMES) return { ...fail('too_many_frames'), isOverLimit: true }
    if (durations.total !== sampleCount || offsets.total > sampleCount) return fail('sample_counts_differ')
    video = {
      id,
      timescale,
      codec,
      frames: sampleCount,
      span: sampleCount === 0 ? null : spanOf(durations, offsets),
      sumTicks: sumOf(durations),
      statedTicks,
      editedTicks,
    }
    return undefined
  }

  return {
    readers: new Map<string, BoxReader>([
      ['moov/mvhd', { bytes: 24, read: readMovieHeader }],
      ['trak/tkhd', { bytes: 24, read: single(readTrackHeader) }],
      ['mdia/mdhd', { bytes: 20, read: single(readMediaHeader) }],
      ['mdia/hdlr', { bytes: 12, read: single(readHandler) }],
      [
        'stbl/stts',
        {
          bytes: 8,
          read: table(
            ({ durations }) => durations,
            (record, at) => record.readUInt32BE(at),
          ),
        },
      ],
      // Version 0 should have no negative offsets. QuickTime writes some, and programs read them as negative.
      [
        'stbl/ctts',
        {
          bytes: 8,
          read: table(
            ({ offsets }) => offsets,
            (record, at) => record.readInt32BE(at),
          ),
        },
      ],
      ['stbl/stsz', { bytes: 12, read: single(readSizes) }],
      ['stbl/stz2', { bytes: 12, read: single(readSizes) }],
      ['edts/elst', { bytes: 8, read: readEdits }],
      ['mvex/trex', { bytes: 16, read: readDefaults }],
      ['stsd/*', { bytes: 0, read: readEntry }],
      ['entry/config', { bytes: 4, read: readConfiguration }],
    ]),
    enter(type, offset) {
      if (SINGLE.has(type)) return once(type, offset)
      if (type !== 'trak') return undefined
      tracks += 1
      track = createTrack()
      return undefined
    },
    leave: (type, offset) => {
      if (type !== 'trak') return undefined
      return tracks > MAX_TRACKS ? { reason: 'too_many_tracks', offset, isOverLimit: true } : endTrack(offset)
    },
    video: () => video,
    hasVideo: () => hasVideo,
    movieTimescale: () => movieTimescale,
    defaultDuration: (trackId) => defaults.get(trackId) ?? 0,
  }
}

function createTrack(): Track {
  return {
    seen: new Set(),
    statedTicks: null,
    codecs: [],
    durations: createRuns(),
    offsets: createRuns(),
    sampleCount: 0,
    editedTicks: 0,
  }
}

// A count larger than its box is false, not a large table.
const isTooMany = (count: number, { payloadBytes }: Box): boolean => count > MAX_FRAMES && count * 8 + 8 <= payloadBytes

const tooMany = ({ offset }: Box): Finding => ({ reason: 'too_many_frames', offset, isOverLimit: true })

// Version 1 of a box has times of 64 bits.
const isLong = (payload: Buffer): boolean => payload[0] === 1

const known = (ticks: number): number | null => (ticks === UNKNOWN_32 ? null : ticks)

function long(payload: Buffer, at: number): number | null {
  const ticks = payload.readBigUInt64BE(at)
  return ticks === 2n ** 64n - 1n ? null : Number(ticks)
}
