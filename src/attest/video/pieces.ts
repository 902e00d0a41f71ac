// Reads the bytes of a video once from end to end: the digest of each chunk, and the container.

import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Slice } from '#src/platform/slices.ts'
import { createWalker, type Walked } from './container.ts'
import type { ManifestChunk } from './facts.ts'

export interface Pieces extends Walked {
  bytes: number
  /** The complete ones, in order. */
  pieces: { sha256: string; bytes: number }[]
  looseBytes: number
}

/**
 * Reads a stream to its end: the hash of each piece of the given sizes, the state of the container and its video data.
 * Uses the memory of one buffer of the stream. With `slice`, blocks the event loop for some milliseconds at a time, whatever
 * the length.
 */
export async function readPieces(
  source: Readable,
  { sizes, type, signal, slice }: { sizes: readonly number[]; type: string; signal: AbortSignal; slice?: Slice },
): Promise<Pieces> {
  const walker = createWalker(type, cutsOf(sizes))
  const pieces: Pieces['pieces'] = []
  let bytes = 0
  let piece: { hash: Hash; left: number; size: number } | undefined
  const next = () => {
    const size = sizes[pieces.length]
    piece = size === undefined ? undefined : { hash: createHash('sha256'), left: size, size }
  }
  const finish = () => {
    while (piece?.left === 0) {
      pieces.push({ sha256: piece.hash.digest('hex'), bytes: piece.size })
      next()
    }
  }
  next()
  finish()
  const take = (buffer: Buffer) => {
    walker.push(buffer)
    bytes += buffer.byteLength
    for (let at = 0; at < buffer.byteLength && piece !== undefined; ) {
      const part = buffer.subarray(at, at + piece.left)
      piece.hash.update(part)
      piece.left -= part.byteLength
      at += part.byteLength
      finish()
    }
  }
  await eachBuffer(source, signal, take, slice)
  const told = pieces.reduce((sum, { bytes: size }) => sum + size, 0)
  return { bytes, pieces, looseBytes: bytes - told, ...walker.end() }
}

/** The sizes of the chunks, up to the first that the manifest does not state. */
export function sizesOf(chunks: readonly ManifestChunk[]): number[] {
  const sizes: number[] = []
  for (const { bytes } of chunks) {
    if (bytes === undefined) break
    sizes.push(bytes)
  }
  return sizes
}

/** Parsing this much takes 2 ms where it holds many small boxes. */
const TAKEN_BYTES = 64 * 1024

export async function eachBuffer(
  source: Readable,
  signal: AbortSignal,
  take: (buffer: Buffer) => unknown,
  slice?: Slice,
): Promise<void> {
  try {
    for await (const buffer of source as AsyncIterable<Buffer>) {
      for (let at = 0; at < buffer.byteLength; at += TAKEN_BYTES) {
        signal.throwIfAborted()
        take(buffer.subarray(at, at + TAKEN_BYTES))
        if (slice?.isOver()) await slice.next()
      }
    }
  } finally {
    if (!source.destroyed) {
      source.destroy()
      await once(source, 'close')
    }
  }
}

function cutsOf(sizes: readonly number[]): number[] {
  let end = 0
  return sizes.map((size) => {
    end += size
    return end
  })
}
