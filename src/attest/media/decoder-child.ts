// The decoder's child process: it decodes one picture at a time and keeps no state between two of them. It knows
// nothing of the service: it has nothing of its environment and no connection, and reads only the file named in the request.

import { constants, writeFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { lowerProcessPriority } from '#src/platform/priority.ts'
import { openPixels, type Sharp, TOO_LARGE } from './sharp.ts'
import type { Inspection, ThreadAnswer } from './threads.ts'

export type DecodeRequest =
  | { op: 'thumbnail'; path: string; maxSide: number }
  /** Decodes to a small square of grey values, for perceptual hashes. */
  | { op: 'greys'; path: string; side: number }

export type DecoderMessage = DecodeRequest & {
  /** A picture that takes longer than the limit is not to be decoded now; the answer is `slow`. */
  isQuick: boolean
  /** Limit of processor time. */
  limitMs: number
}

export type DecoderAnswer = ThreadAnswer<DecodedPicture> | { op: 'slow'; isSpent?: boolean }

export interface DecodedPicture {
  /** A thumbnail is WebP; greys are one byte per pixel, row by row. */
  data: Uint8Array
  width: number
  height: number
}

// A claims list shows dozens of thumbnails; at 320 pixels and quality 72 each takes about 10 KB.
const QUALITY = 72
// Decoders allocate hundreds of megabytes within a tenth of a second.
const CHECK_MS = 20
// Decoding keeps a processor busy for seconds, in up to four threads, and uses memory as fast as it can: what callers and
// other workers do comes first.
const NICE = 10

const [, , maxMegabytes = 'Infinity'] = process.argv
const maxBytes = Number(maxMegabytes) * 1024 * 1024
let begun: { message: DecoderMessage; usage: NodeJS.CpuUsage } | undefined

process.on('message', (message: DecoderMessage) => {
  begun = { message, usage: process.cpuUsage() }
  void decode(message).then(answer)
})
// A terminal sends these signals to the whole process group; the parent ends this process when its work is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// The parent is gone. A plain exit would wait for native work.
process.on('disconnect', endNow)
// Native decoding runs in libuv's threads, so this thread is free to check memory and time.
setInterval(() => {
  if (process.memoryUsage.rss() > maxBytes) {
    endWith('crashed', `Decoding it takes more than ${maxMegabytes} MB of memory.`)
  } else if (begun !== undefined && usedMs(begun.usage) > begun.message.limitMs) {
    if (begun.message.isQuick) answer({ op: 'slow', isSpent: true }, endNow)
    else endWith('timeout', `Decoding it takes longer than ${begun.message.limitMs / 1_000} s.`)
  }
}, CHECK_MS).unref()
if (process.send !== undefined) {
  volunteer()
  lowerProcessPriority(Math.max(0, NICE - getPriority()))
}
answer({ op: 'ready' })

async function decode(request: DecoderMessage): Promise<DecoderAnswer> {
  try {
    const { image, isSlow } = await openPixels(request.path)
    if (isSlow && request.isQuick) return { op: 'slow' }
    const value = await (request.op === 'thumbnail' ? makeThumbnail(image, request) : readGreys(image, request))
    return { op: 'done', inspection: { ok: true, value } }
  } catch (error) {
    return { op: 'done', inspection: await describe(error, request.path) }
  }
}

async function describe(error: unknown, path: string): Promise<Inspection<DecodedPicture>> {
  const isThere = await access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
  if (!isThere) return { ok: false, code: 'missing', detail: 'The file is not there, or can not be opened.' }
  const code = error instanceof Error && error.cause === TOO_LARGE ? 'too_large' : 'unreadable'
  // The library's message can hold the path, which callers must not see.
  const reason = error instanceof Error ? error.message.replaceAll(path, 'the file') : 'unknown'
  return { ok: false, code, detail: reason.slice(0, 200) }
}

async function makeThumbnail(image: Sharp, { maxSide }: { maxSide: number }): Promise<DecodedPicture> {
  const { data, info } = await image
    .autoOrient()
    .resize(maxSide, maxSide, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

// A JPEG is decoded at an eighth of its size where that is enough (shrink on load). Upright, so that a copy with the
// rotation applied to its pixels has the same hash; on white, so that transparency has a defined colour.
async function readGreys(image: Sharp, { side }: { side: number }): Promise<DecodedPicture> {
  const { data, info } = await image
    .autoOrient()
    .flatten({ background: '#fff' })
    .resize(side, side, { fit: 'fill' })
    .toColourspace('b-w')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  if (info.channels !== 1) throw new Error(`the picture became ${info.channels} channels and not one`)
  return { data, width: info.width, height: info.height }
}

function usedMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

function endWith(code: 'crashed' | 'timeout', detail: string): void {
  answer({ op: 'done', inspection: { ok: false, code, detail }, isSpent: true }, endNow)
}

function answer(message: DecoderAnswer, then: () => void = () => {}): void {
  begun = undefined
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
