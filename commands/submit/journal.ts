// The journal of this command: one line of JSON per completed step, only ever appended, so that the process can be
// killed between any two steps. A lost line does no harm: a submission under the same name is the same attestation.

import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { takeFileLock } from '#src/platform/file-lock.ts'
import type { BatchLine } from '../../capture-kit/client.ts'
import type { Duplicates } from './duplicates.ts'
import type { Finding } from './files.ts'

/** The outcome of a capture: its result, or why it was refused. */
export type Outcome = { result: BatchLine } | { errors: Finding[] }

export interface Sending {
  batchId: string
  /** The captures of the batch's lines, in order. */
  keys: string[]
}

export interface Media {
  mediaId: string
  /** base64 of the SHA-256 of its bytes. */
  digest: string
}

export interface Journal {
  /** Batches whose results are incomplete. */
  open(): Sending[]
  /** Any batch of an earlier run, to tell whether this is the same account. */
  anyBatch(): string | undefined
  mediaOf(file: string): Media | undefined
  /** Evaluated; nothing more will change. */
  isDone(key: string): boolean
  /** Whether there is a result or a refusal. A cancelled capture has neither: it counts as never submitted. */
  hasOutcome(key: string): boolean
  read(key: string): Outcome | undefined
  addMedia(file: string, media: Media): void
  forgetMedia(file: string): void
  addBatch(sending: Sending): void
  endBatch(batchId: string): void
  addResult(key: string, result: BatchLine): void
  addRefusal(key: string, errors: readonly Finding[]): void
  /** Undefined while they are unknown. */
  duplicatesOf(key: string): Duplicates | undefined
  addDuplicates(key: string, duplicates: Duplicates): void
  /** Makes added lines survive a power cut. */
  sync(): Promise<void>
  close(): Promise<void>
}

type Mark =
  | { t: 'media'; f: string; id: string; sha: string; to: string; at: number }
  | { t: 'gone'; f: string }
  | { t: 'batch'; id: string; keys: string[] }
  | { t: 'end'; id: string }
  | { t: 'result'; k: string; r: BatchLine }
  | { t: 'refused'; k: string; e: Finding[] }
  | { t: 'duplicates'; k: string; d: Duplicates }

interface Place {
  offset: number
  length: number
  /** Only results of earlier runs count: a user who repeats a run wants to know whether a refusal still applies. */
  isResult: boolean
  isDone: boolean
  isCancelled: boolean
}

// The service purges unreferenced media after days. Uploading again is harmless, a reference to purged media is not.
const MEDIA_LIFE_MS = 24 * 3_600_000
const READ_BYTES = 1024 * 1024
const NEWLINE = 0x0a
/** Shared by the thousands of captures that have none. */
const NO_DUPLICATES: Duplicates = { not_comparable: null, earlier: [], earlier_more: 0, later: [] }
const sync = promisify(fdatasync)

/**
 * @param path Created when it does not exist.
 * @param to Names the key: media ids of another key may belong to another account, and are useless here.
 * @throws {Error} when another run uses it, or when it is not a journal.
 */
export async function openJournal(path: string, to: string): Promise<Journal> {
  const unlock = takeFileLock(`${path}.lock`)
  if (unlock === undefined) throw new Error(`Another run of this command is submitting with the state ${path}.`)
  let file: number
  try {
    file = openSync(path, 'a+', 0o600)
  } catch (error) {
    unlock()
    throw error
  }
  const media = new Map<string, Media>()
  const places = new Map<string, Place>()
  const duplicates = new Map<string, Duplicates>()
  const batches = new Map<string, string[]>()
  let lastBatch: string | undefined
  let end = 0

  function apply(mark: Mark, offset: number, length: number): void {
    if (mark.t === 'media') {
      if (mark.to === to && Date.now() - mark.at < MEDIA_LIFE_MS)
        media.set(mark.f, { mediaId: mark.id, digest: mark.sha })
    } else if (mark.t === 'gone') media.delete(mark.f)
    else if (mark.t === 'batch') {
      batches.set(mark.id, mark.keys)
      lastBatch = mark.id
    } else if (mark.t === 'end') batches.delete(mark.id)
    else if (mark.t === 'duplicates') {
      const { not_comparable: why, earlier, later } = mark.d
      const isNone = why === null && earlier.length + later.length === 0
      duplicates.set(mark.k, isNone ? NO_DUPLICATES : mark.d)
    } else {
      duplicates.delete(mark.k)
      const isResult = mark.t === 'result'
      const status = isResult ? mark.r.status : undefined
      const isDone = status === 'succeeded'
      places.set(mark.k, { offset, length, isResult, isDone, isCancelled: status === 'cancelled' })
    }
  }

  function add(mark: Mark): void {
    const bytes = Buffer.from(`${JSON.stringify(mark)}\n`)
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    apply(mark, end, bytes.length)
    end += bytes.length
  }

  try {
    end = load(file, path, apply)
  } catch (error) {
    closeSync(file)
    unlock()
    throw error
  }
  for (const [key, { isResult }] of places) if (!isResult) places.delete(key)

  return {
    open: () => [...batches].map(([batchId, keys]) => ({ batchId, keys })),
    anyBatch: () => lastBatch,
    mediaOf: (name) => media.get(name),
    isDone: (key) => places.get(key)?.isDone === true,
    hasOutcome: (key) => places.get(key)?.isCancelled === false,
    read(key) {
      const place = places.get(key)
      if (place === undefined) return undefined
      const bytes = Buffer.alloc(place.length)
      readSync(file, bytes, 0, place.length, place.offset)
      const mark: Mark = JSON.parse(bytes.toString('utf8'))
      if (mark.t === 'result') return { result: mark.r }
      return mark.t === 'refused' ? { errors: mark.e } : undefined
    },
    addMedia: (name, { mediaId, digest }) => add({ t: 'media', f: name, id: mediaId, sha: digest, to, at: Date.now() }),
    forgetMedia: (name) => add({ t: 'gone', f: name }),
    addBatch: ({ batchId, keys }) => add({ t: 'batch', id: batchId, keys }),
    endBatch: (batchId) => add({ t: 'end', id: batchId }),
    addResult: (key, result) => add({ t: 'result', k: key, r: result }),
    addRefusal: (key, errors) => add({ t: 'refused', k: key, e: [...errors] }),
    duplicatesOf: (key) => duplicates.get(key),
    addDuplicates: (key, found) => add({ t: 'duplicates', k: key, d: found }),
    sync: () => sync(file),
    async close() {
      await sync(file)
      closeSync(file)
      unlock()
    },
  }
}

// Removes a line that a kill or a full disk cut short; the run repeats that step.
function load(file: number, path: string, apply: (mark: Mark, offset: number, length: number) => void): number {
  const { size } = fstatSync(file)
  let offset = 0
  let rest = Buffer.alloc(0)
  for (let at = 0; at < size; ) {
    const chunk = Buffer.alloc(Math.min(READ_BYTES, size - at))
    const read = readSync(file, chunk, 0, chunk.length, at)
    if (read === 0) break
    at += read
    rest = Buffer.concat([rest, chunk.subarray(0, read)])
    let start = 0
    for (let stop = rest.indexOf(NEWLINE); stop !== -1; stop = rest.indexOf(NEWLINE, start)) {
      apply(parseMark(rest.subarray(start, stop), path), offset, stop + 1 - start)
      offset += stop + 1 - start
      start = stop + 1
    }
    rest = rest.subarray(start)
  }
  if (offset < size) ftruncateSync(file, offset)
  return offset
}

function parseMark(bytes: Buffer, path: string): Mark {
  try {
    const mark: Mark = JSON.parse(bytes.toString('utf8'))
    if (typeof mark.t === 'string') return mark
  } catch {
    // Reported below.
  }
  throw new Error(`${path} is damaged, or no state of this command: name another with --state.`)
}
