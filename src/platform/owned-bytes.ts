// Bytes of request bodies, whose memory is freed as soon as they have been used. Otherwise the chunks of a few photos count as
// tens of megabytes of memory outside of the heap, and V8 marks the whole heap to collect them. At eight uploads at a time
// that took a third of all processor time; two bodies of 20 MB per second had the heap of `web`, 70 MB, marked every two
// seconds, for 70 ms each on both of two processors.

/** Node's pools hold small slices. Bytes of at least this size have memory of their own. */
const FREED_BYTES = 16 * 1024

/**
 * Frees the memory of bytes that are not read any more: their length is 0 afterwards. Bytes that share their memory
 * with others are left to the collector. To be called when no write of them is under way: a thread would read freed
 * memory.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= FREED_BYTES && buffer.byteLength === byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Joins chunks that no other code reads, and frees them. */
export function joinBytes(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return first
  const joined = Buffer.concat(chunks)
  for (const chunk of chunks) freeBytes(chunk)
  return joined
}

/** Bytes that came as base64 in a JSON string, or as one array. */
export interface InlineBytes {
  byteLength: number
  pieces: readonly Uint8Array[]
}

/** Frees bytes that were not used and will not be. */
export function freeInline(unused: Iterable<InlineBytes>): void {
  for (const { pieces } of unused) for (const piece of pieces) freeBytes(piece)
}

/** Decodes a string that the schema has checked. */
export function decodeBase64(base64: string): InlineBytes {
  const bytes = Buffer.from(base64, 'base64')
  return { byteLength: bytes.byteLength, pieces: [bytes] }
}

/** The same bytes, in pieces of at most `partBytes`. */
export function* partsOf({ pieces }: InlineBytes, partBytes: number): Generator<Uint8Array> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.byteLength; at += partBytes) yield piece.subarray(at, at + partBytes)
  }
}
