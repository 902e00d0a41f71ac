// The decoder's child process: it decodes one picture at a time and keeps no state between two of them. It knows
// nothing of the service: it has no environment and no connection, and reads only the file named in the request.

import { constants, writeFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { lowerProcessPriority } from '#src/platform/priority.ts'
import { MAX_DECODED_PIXELS, openImage } from './sharp.ts'
import type { Inspection, ThreadAnswer } from './threads.ts'

export type DecodeRequest =
  | { op: 'thumbnail'; path: string; maxSide: number }
  /** As a small square of greys, for perceptual hashes. */
  | { op: 'greys'; path: string; side: number }

export interface DecodedPicture {
  /** A thumbnail is WebP; greys are one byte per pixel, row by row. */
  data: Uint8Array
  width: number
  height: number
}

// A claims list shows dozens of thumbnails; at 320 pixels and quality 72 each takes about 10 KB.
const QUALITY = 72
// Decoders allocate hundreds of megabytes within a tenth of a second.
const MEMORY_CHECK_MS = 20

const [, , maxMegabytes = 'Infinity'] = process.argv
const maxBytes = Number(maxMegabytes) * 1024 * 1024

process.on('message', (request: DecodeRequest) => {
  void decode(request).then((inspection) => answer({ op: 'done', inspection }))
})
// A terminal sends these signals to the whole process group; the parent ends this process when its work is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// The parent is gone. A plain exit would wait for native work.
process.on('disconnect', endNow)
// Native decoding runs in libuv's threads, so this thread is free to check memory.
setInterval(() => {
  if (process.memoryUsage.rss() <= maxBytes) return
  const detail = `Decoding it takes more than ${maxMegabytes} MB of memory.`
  answer({ op: 'done', inspection: { ok: false, code: 'crashed', detail }, isSpent: true }, endNow)
}, MEMORY_CHECK_MS).unref()
if (process.send !== undefined) {
  volunteer()
  lowerProcessPriority()
}
answer({ op: 'ready' })

async function decode(request: DecodeRequest): Promise<Inspection<DecodedPicture>> {
  try {
    return { ok: true, value: await (request.op === 'thumbnail' ? makeThumbnail(request) : readGreys(request)) }
  } catch (error) {
    const isThere = await access(request.path, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (!isThere) return { ok: false, code: 'missing', detail: 'The file is not there, or can not be opened.' }
    // The library's message can hold the path, which callers must not see.
    const reason = error instanceof Error ? error.message.replaceAll(request.path, 'the file') : 'unknown'
    return { ok: false, code: 'unreadable', detail: reason.slice(0, 200) }
  }
}

async function makeThumbnail({ path, maxSide }: { path: string; maxSide: number }): Promise<DecodedPicture> {
  const { data, info } = await openImage(path, { maxPixels: MAX_DECODED_PIXELS })
    .autoOrient()
    .resize(maxSide, maxSide, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

// A JPEG is decoded at an eighth of its sides where that is enough (shrink on load). Upright, so that a copy with the
// rotation applied to its pixels has the same hash; on white, so that transparency has a defined colour.
async function readGreys({ path, side }: { path: string; side: number }): Promise<DecodedPicture> {
  const { data, info } = await openImage(path, { maxPixels: MAX_DECODED_PIXELS })
    .autoOrient()
    .flatten({ background: '#fff' })
    .resize(side, side, { fit: 'fill' })
    .toColourspace('b-w')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  if (info.channels !== 1) throw new Error(`the picture became ${info.channels} channels and not one`)
  return { data, width: info.width, height: info.height }
}

function answer(message: ThreadAnswer<DecodedPicture>, then: () => void = () => {}): void {
  process.send?.(message, then)
}

function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}

// When memory runs out, the kernel should end this process before its parent. Linux only; elsewhere the file doesn't
// exist.
function volunteer(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // This is only a preference: the memory limit above holds without it.
  }
}
