// Whether the bytes of a video are a file that a player could read, and what it says of its times, told while they stream past: a few
// bytes of each header and the tables of samples are looked at, and payloads are skipped.

import { createBoxReader } from './boxes.ts'
import { createElementReader } from './elements.ts'
import type { ContainerFacts } from './facts.ts'
import type { Footage } from './footage.ts'
import { MAX_ELEMENTS } from './limits.ts'

export interface Walker {
  push(bytes: Uint8Array): void
  /** After the last byte. */
  end(): Walked
}

export interface Walked {
  container: ContainerFacts
  /** Null unless the container is sane. */
  footage: Footage | null
}

/** What a format knows: how long a header is, and what comes after it. */
export interface HeaderReader {
  /** How many bytes the first look at what is here takes. */
  wanted(offset: number): number
  /** @param look What was wanted; `offset` is where it stands in the file. */
  read(look: Buffer, offset: number): Step
  /** Reaching the end of the file, `rest` being fewer bytes than were wanted: what is missing from a whole file. */
  finish(rest: Buffer, offset: number): Finding | undefined
  /** What the whole file says of its video. */
  footage(): Footage | null
}

/** `more`: look again with so many bytes. `skip`: the next look begins so many bytes after this one began. */
export type Step = { more: number } | { skip: number } | Finding

export interface Finding {
  reason: string
  offset: number
  /** Nothing is wrong with it but that it is too much to look at. */
  isOverLimit?: boolean
}

/** The longest look. Tables are read in looks of this size; headers, with the little of their payloads that matters, take up to 50. */
export const MAX_LOOK_BYTES = 4_096

/** @param cuts Where chunks end, in bytes from the start, in their order. */
export function createWalker(contentType: string, cuts: readonly number[] = []): Walker {
  const reader = contentType === 'video/webm' ? createElementReader(cuts) : createBoxReader()
  const look = Buffer.alloc(MAX_LOOK_BYTES)
  let offset = 0
  let had = 0
  let wanted = reader.wanted(0)
  let skip = 0
  let elements = 0
  let verdict: ContainerFacts | undefined

  function advance(): void {
    const step = reader.read(look.subarray(0, had), offset)
    if ('reason' in step) {
      verdict = factsOf(step)
    } else if ('more' in step) {
      wanted = step.more
    } else {
      // Of the header's own bytes those that are already here are behind us.
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
        look.set(bytes.subarray(at, at + taken), had)
        had += taken
        at += taken
        if (had === wanted && skip === 0) advance()
      }
    },
    end() {
      if (verdict === undefined) {
        const isCut = skip > 0 && skip !== Number.POSITIVE_INFINITY
        const finding = isCut ? { reason: 'truncated', offset } : reader.finish(look.subarray(0, had), offset)
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
