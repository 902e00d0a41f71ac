// Small reads of a file that is not in memory, for code that reads only headers.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Random access to a file. */
export interface ByteSource {
  size: number
  /** `length` bytes, fewer at the end of the file. */
  read(offset: number, length: number): Uint8Array
}

export type Peek = (offset: number, length: number) => Uint8Array

/**
 * Passes a local file or bytes to `work`. Use it in a thread only: the reads are synchronous. @throws when there is no
 * such file.
 */
export function withSource<R>(input: string | Uint8Array, work: (source: ByteSource) => R): R {
  if (typeof input !== 'string') {
    return work({ size: input.length, read: (offset, length) => input.subarray(offset, offset + length) })
  }
  const file = openSync(input, 'r')
  try {
    return work({
      size: fstatSync(file).size,
      read(offset, length) {
        const bytes = Buffer.alloc(length)
        return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
      },
    })
  } finally {
    closeSync(file)
  }
}

const WINDOW_BYTES = 4_096

// Headers stand close together at the start, so most files take only a few reads.
export function windowed({ size, read }: ByteSource): Peek {
  let from = 0
  let bytes: Uint8Array = new Uint8Array(0)
  return (offset, length) => {
    if (offset >= size) return new Uint8Array(0)
    const isWithin = offset >= from && Math.min(offset + length, size) <= from + bytes.length
    if (!isWithin) {
      from = offset
      bytes = read(offset, Math.min(Math.max(length, WINDOW_BYTES), size - offset))
    }
    return bytes.subarray(offset - from, offset - from + length)
  }
}

// Bytes beyond the end read as zeros, which end every walk.
export const u16 = (bytes: Uint8Array, at: number, isLittle: boolean): number => {
  const [a = 0, b = 0] = bytes.subarray(at, at + 2)
  return isLittle ? a + b * 256 : a * 256 + b
}
export const u32 = (bytes: Uint8Array, at: number, isLittle: boolean): number => {
  const [first, second] = [u16(bytes, at, isLittle), u16(bytes, at + 2, isLittle)]
  return isLittle ? first + second * 65_536 : first * 65_536 + second
}
export const text = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to))
