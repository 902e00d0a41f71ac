// Checks while the bytes of a video stream past whether a player could read the file, and reads its times: a few bytes
// of each header and the sample tables are parsed, and payloads are skipped.

import { createBoxReader } from './boxes.ts'
import { createElementReader } from './elements.ts'
import type { ContainerFacts } from './facts.ts'
import type { Footage } from './footage.ts'
import { MAX_ELEMENTS } from './limits.ts'

export interface Walker {
  push(bytes: Uint8Array): void
  /** Call after the last byte. */
  end(): Walked
}

export interface Walked {
  container: ContainerFacts
  /** Null unless the container is sane. */
  footage: Footage | null
}

/** A parser of one format: how long a header is, and what follows it. */
export interface HeaderReader {
  /** How many bytes to read at this position first. */
  wanted(offset: number): number
  /** @param window the requested bytes; `offset` is their position in the file. */
  read(window: Buffer, offset: number): Step
  /** At the end of the file, `rest` being fewer bytes than requested: what is missing from a whole file. */
  finish(rest: Buffer, offset: number): Finding | undefined
  /** What the whole file says about its video. */
  footage(): Footage | null
}

/**
 * `more`: read again with this many bytes. `skip`: the next read begins this many bytes after the start of this one.
 */
export type Step = { more: number } | { skip: number } | Finding

export interface Finding {
  reason: string
  offset: number
  /** Nothing is wrong except that the file exceeds a limit of this check. */
  isOverLimit?: boolean
}

/**
 * The longest read. Tables are read in pieces of this size; headers, with the few payload bytes that matter, take up to
 * 50.
 */
export const MAX_LOOK_BYTES = 4_096

/** @param cuts where chunks end, in bytes from the start, in order. */
export function createWalker(contentType: string, cuts: readonly number[] = []): Walker {
  const reader = contentType === 'video/webm' ? createElementReader(cuts) : createBoxReader()
  const window = Buffer.alloc(MAX_LOOK_BYTES)
  let offset = 0
  let had = 0
  let wanted = reader.wanted(0)
  let skip = 0
  let elements = 0
  let verdict: ContainerFacts | undefined

  function advance(): void {
    const step = reader.read(window.subarray(0, had), offset)
    if ('reason' in step) {
      verdict = factsOf(step)
    } else if ('more' in step) {
      wanted = step.more
    } else {
      // Header bytes that are already buffered count as skipped.
      skip = step.skip - had
      offset += step.skip
      had = 0
      wanted = reader.wanted(offset)
      elements += 1
      if (elements >= MAX_ELEMENTS) verdict = factsOf({ reason: 'too_many_elements', offset, isOverLimit: true })
    }
  }

  return {
    push(bytes) {
      let at = 0
      while (verdict === undefined && at < bytes.byteLength) {
        const passed = Math.min(skip, bytes.byteLength - at)
        skip -= passed
        at += passed
        const taken = Math.min(wanted - had, bytes.byteLength - at)
        window.set(bytes.subarray(at, at + taken), had)
        had += taken
        at += taken
        if (had === wanted && skip === 0) advance()
      }
    },
    end() {
      if (verdict === undefined) {
        const isCut = skip > 0 && skip !== Number.POSITIVE_INFINITY
        const finding = isCut ? { reason: 'truncated', offset } : reader.finish(window.subarray(0, had), offset)
        if (finding === undefined) {
          return { container: { state: 'sane', reason: null, offset: null }, footage: reader.footage() }
        }
        verdict = factsOf(finding)
      }
      return { container: verdict, footage: null }
    },
  }
}

function factsOf({ reason, offset, isOverLimit = false }: Finding): ContainerFacts {
  return { state: isOverLimit ? 'unverified' : 'broken', reason, offset: Number.isFinite(offset) ? offset : null }
}
