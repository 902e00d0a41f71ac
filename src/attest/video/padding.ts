// Zero bytes after the end of a file. Recorders reserve space on flash memory and leave it in the file; every player
// ignores it.

import type { Finding, Step } from './container.ts'
import { MAX_PADDING_BYTES } from './limits.ts'

export interface Padding {
  hasBegun(): boolean
  /** Whether these bytes begin padding and no header. */
  begins(header: Buffer): boolean
  read(bytes: Buffer, offset: number): Step
  /** Call after the last bytes, which are fewer than requested. */
  finish(rest: Buffer, offset: number): Finding | undefined
}

export function createPadding(): Padding {
  let start: number | undefined
  let length = 0

  function take(bytes: Buffer, offset: number): Finding | undefined {
    start ??= offset
    if (!isZero(bytes)) return { reason: 'bad_padding', offset }
    length += bytes.length
    return length > MAX_PADDING_BYTES ? { reason: 'padding_too_long', offset: start } : undefined
  }

  return {
    hasBegun: () => start !== undefined,
    begins: isZero,
    read: (bytes, offset) => take(bytes, offset) ?? { skip: bytes.length },
    finish: take,
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}
