// Bodies that are not JSON: bytes of a file or stream, and lines. A stream is sent once; what can be opened again is sent again
// when an attempt fails.

import { toJson } from './names.ts'
import { isBrowser } from './options.ts'
import type { Body } from './transport.ts'
import type { Progress } from './watched.ts'

type Chunks = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** Bytes to send. A file of the disk is `{ path }`. Streams are sent once; a function that opens one is called for each attempt. */
export type Uploadable = Blob | Uint8Array | ArrayBuffer | Chunks | (() => Chunks | Promise<Chunks>) | { path: string }

/** Values of any number: an array, or what gives them one after the other, from a file for example. */
export type Items<Item> = Iterable<Item> | AsyncIterable<Item>

export async function bodyOfBytes(
  source: Uploadable,
  contentType: string | undefined,
  onProgress: Progress | undefined,
): Promise<Body> {
  const held = await hold(source)
  const type = contentType ?? (held instanceof Blob ? held.type : '')
  if (type === '') throw new TypeError('the upload has no type of its own: name it as contentType')
  if (held instanceof Blob) {
    // XMLHttpRequest counts by itself.
    const isCounted = onProgress !== undefined && !isBrowser()
    const open = () => (isCounted ? counted(held.stream(), held.size, onProgress) : held)
    return { contentType: type, isRepeatable: true, open }
  }
  const open = async () => counted(await streamOf(held), undefined, onProgress)
  return { contentType: type, isRepeatable: typeof held === 'function', open }
}

async function hold(source: Uploadable): Promise<Blob | Chunks | (() => Chunks | Promise<Chunks>)> {
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) return new Blob([source as ArrayBuffer])
  if (typeof source === 'object' && 'path' in source) return openFile(source.path)
  return source
}

// Bundlers for browsers must not look for the module.
async function openFile(path: string): Promise<Blob> {
  const name = ['node', 'fs'].join(':')
  const { openAsBlob } = (await import(name)) as { openAsBlob(path: string): Promise<Blob> }
  return openAsBlob(path)
}

async function streamOf(source: Chunks | (() => Chunks | Promise<Chunks>)): Promise<ReadableStream<Uint8Array>> {
  const chunks = typeof source === 'function' ? await source() : source
  return chunks instanceof ReadableStream ? chunks : streamFrom(chunks)
}

/** Lines of JSON, sent as they are given. An array is sent again when an attempt fails. */
export function bodyOfLines(items: Items<unknown>, shape: string): Body {
  const encode = (item: unknown) => `${JSON.stringify(toJson(item, shape))}\n`
  const contentType = 'application/x-ndjson'
  if (Array.isArray(items)) return { contentType, isRepeatable: true, open: () => new Blob(items.map(encode)) }
  const encoder = new TextEncoder()
  async function* encoded() {
    for await (const item of items) yield encoder.encode(encode(item))
  }
  // Browsers send streams over HTTP/2 alone, and some not at all.
  return { contentType, isRepeatable: false, open: () => (isBrowser() ? collect(encoded()) : streamFrom(encoded())) }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Blob> {
  const parts: Blob[] = []
  for await (const chunk of chunks) parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]))
  return new Blob(parts)
}

function streamFrom(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

function counted(stream: ReadableStream<Uint8Array>, totalBytes: number | undefined, onProgress: Progress | undefined) {
  if (onProgress === undefined) return stream
  let sentBytes = 0
  onProgress({ sentBytes, totalBytes })
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        sentBytes += chunk.byteLength
        controller.enqueue(chunk)
        onProgress({ sentBytes, totalBytes })
      },
    }),
  )
}
