// Reads the values of a GGUF header in their order. The file says how long each of its texts and lists is, so every
// length is compared with a limit and with what is left of the file before anything is read or allocated for it.

import { readSync } from 'node:fs'
import { modelError } from './model-error.ts'

export interface Cursor {
  readonly position: number
  uint8(): number
  int8(): number
  uint16(): number
  int16(): number
  uint32(): number
  int32(): number
  float32(): number
  float64(): number
  /** At most 2^53 - 1: more can't be a count, a length or a place in a file. */
  uint64(what: string): number
  int64(what: string): number
  boolean(): boolean
  /** @param what What the text is, for the message. */
  text(maxBytes: number, what: string): string
}

// Headers are read forwards once; a window of this size makes it few reads.
const WINDOW_BYTES = 1024 * 1024
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @param maxBytes The header may not be longer: what stands behind that is never read. */
export function createCursor(descriptor: number, fileBytes: number, maxBytes: number): Cursor {
  const end = Math.min(fileBytes, maxBytes)
  let window = Buffer.alloc(0)
  let windowAt = 0
  let position = 0

  /** Moves past `bytes` bytes and returns their place in the window. */
  function take(bytes: number, what: string): number {
    if (bytes > end - position) {
      throw modelError(
        'model_file_invalid',
        end < fileBytes
          ? `The header is longer than ${maxBytes} bytes.`
          : `The file ends in the middle of ${what}, at byte ${fileBytes}.`,
      )
    }
    if (position < windowAt || position + bytes > windowAt + window.length) fill(bytes)
    const at = position - windowAt
    position += bytes
    return at
  }

  function fill(bytes: number): void {
    const wanted = Buffer.allocUnsafe(Math.min(Math.max(bytes, WINDOW_BYTES), end - position))
    let filled = 0
    while (filled < wanted.length) {
      const read = readSync(descriptor, wanted, filled, wanted.length - filled, position + filled)
      if (read === 0) throw modelError('model_file_invalid', 'The file became shorter while it was read.')
      filled += read
    }
    window = wanted
    windowAt = position
  }

  function whole(value: bigint, what: string): number {
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
      throw modelError('model_file_invalid', `${what} is ${value}, which is beyond any file.`)
    }
    return Number(value)
  }

  // `take` may replace the window, so it runs before the window is read.
  const read = <V>(bytes: number, from: (window: Buffer, at: number) => V): V => {
    const at = take(bytes, 'a value')
    return from(window, at)
  }
  const uint64 = (what: string) =>
    whole(
      read(8, (bytes, at) => bytes.readBigUInt64LE(at)),
      what,
    )

  return {
    get position() {
      return position
    },
    uint8: () => read(1, (bytes, at) => bytes.readUInt8(at)),
    int8: () => read(1, (bytes, at) => bytes.readInt8(at)),
    uint16: () => read(2, (bytes, at) => bytes.readUInt16LE(at)),
    int16: () => read(2, (bytes, at) => bytes.readInt16LE(at)),
    uint32: () => read(4, (bytes, at) => bytes.readUInt32LE(at)),
    int32: () => read(4, (bytes, at) => bytes.readInt32LE(at)),
    float32: () => read(4, (bytes, at) => bytes.readFloatLE(at)),
    float64: () => read(8, (bytes, at) => bytes.readDoubleLE(at)),
    uint64,
    int64: (what) =>
      whole(
        read(8, (bytes, at) => bytes.readBigInt64LE(at)),
        what,
      ),
    boolean() {
      const value = read(1, (bytes, at) => bytes.readUInt8(at))
      if (value > 1) throw modelError('model_file_invalid', `A true or false value is ${value}.`)
      return value === 1
    },
    text(maxTextBytes, what) {
      const bytes = uint64(`The length of ${what}`)
      if (bytes > maxTextBytes) {
        throw modelError('model_file_invalid', `${what} has ${bytes} bytes; at most ${maxTextBytes} are read.`)
      }
      const at = take(bytes, what)
      try {
        return DECODER.decode(window.subarray(at, at + bytes))
      } catch (error) {
        throw modelError('model_file_invalid', `${what} is not UTF-8.`, error)
      }
    },
  }
}
