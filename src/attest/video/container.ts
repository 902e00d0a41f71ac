// Whether the bytes of a video are a file that a player could read, told while they stream past: a few bytes of each header
// are looked at, and payloads are skipped. Nothing is kept but the place in the nesting, which is at most four deep.

import { createBoxReader } from './boxes.ts'
import { createElementReader } from './elements.ts'
import type { ContainerFacts } from './facts.ts'

export interface Walker {
  push(bytes: Uint8Array): void
  /** After the last byte. */
  end(): ContainerFacts
}

/** What a format knows: how long a header is, and what comes after it. */
export interface HeaderReader {
  /** How many bytes the first look at a header takes. */
  readonly start: number
  /** @param header From its first byte; `offset` is where that stands in the file. */
  read(header: Buffer, offset: number): Step
  /** Reaching the end of the file at `offset`: what is missing from a whole file. */
  finish(offset: number): Finding | undefined
}

/** `more`: look again with so many bytes. `skip`: the next header begins so many bytes after this one began. */
export type Step = { more: number } | { skip: number } | Finding

export interface Finding {
  reason: string
  offset: number
}

/** An hour of 4K at 60 frames a second with its sound has 400,000 elements in WebM. More are not looked at. */
export const MAX_ELEMENTS = 500_000
/** The longest look at one header, with the little of its payload that matters. */
const MAX_HEADER_BYTES = 32

export function createWalker(contentType: string): Walker {
  const reader = contentType === 'video/webm' ? createElementReader() : createBoxReader()
  const header = Buffer.alloc(MAX_HEADER_BYTES)
  let offset = 0
  let had = 0
  let wanted = reader.start
  let skip = 0
  let elements = 0
  let verdict: ContainerFacts | undefined

  function advance(): void {
    const step = reader.read(header.subarray(0, had), offset)
    if ('reason' in step) {
      verdict = { state: 'broken', ...step }
    } else if ('more' in step) {
      wanted = step.more
    } else {
      // Of the header's own bytes those that are already here are behind us.
      skip = step.skip - had
      offset += step.skip
      had = 0
      wanted = reader.start
      elements += 1
      if (elements >= MAX_ELEMENTS) verdict = { state: 'unverified', reason: 'too_many_elements', offset }
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
        header.set(bytes.subarray(at, at + taken), had)
        had += taken
        at += taken
        if (had === wanted && skip === 0) advance()
      }
    },
    end() {
      if (verdict !== undefined) return verdict
      const isCut = (skip > 0 && skip !== Number.POSITIVE_INFINITY) || had > 0
      const finding = isCut ? { reason: 'truncated', offset } : reader.finish(offset)
      return finding === undefined
        ? { state: 'sane', reason: null, offset: null }
        : { state: 'broken', reason: finding.reason, offset: Number.isFinite(finding.offset) ? finding.offset : null }
    },
  }
}
