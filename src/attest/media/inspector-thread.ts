// The inside of the inspector: a worker thread that does one request at a time and holds no state between two of them.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { scanForC2pa } from './c2pa-scan.ts'
import { type FileFacts, readImageFacts } from './exif.ts'
import { withSource } from './peek.ts'
import { MAX_DECODED_PIXELS, openImage } from './sharp.ts'
import type { Answer, Inspection } from './threads.ts'

export type ThreadRequest = { op: 'inspect'; path: string } | { op: 'thumbnail'; path: string; maxSide: number }

export type ThreadAnswer = Answer<FileFacts | Thumbnail>

export interface Thumbnail {
  /** WebP. */
  data: Uint8Array<ArrayBuffer>
  width: number
  height: number
}

// Of libvips's own work, which the end of a thread does not stop. Below the inspector's limit, so that it ends first.
const DECODE_LIMIT_SECONDS = 4
// A claims list shows dozens of these; 320 pixels at 72 take about 10 KB.
const QUALITY = 72

parentPort?.on('message', async (request: ThreadRequest) => {
  answer({ op: 'done', inspection: await inspect(request) })
})
answer({ op: 'ready' })

async function inspect(request: ThreadRequest): Promise<Inspection<FileFacts | Thumbnail>> {
  try {
    const value = request.op === 'inspect' ? await inspectFile(request.path) : await makeThumbnail(request)
    return { ok: true, value }
  } catch (error) {
    if (!(await isReadable(request.path))) {
      return { ok: false, code: 'missing', detail: 'The file is not there, or can not be opened.' }
    }
    // The library's words can hold the path, which is no caller's business.
    const reason = error instanceof Error ? error.message.replaceAll(request.path, 'the file') : 'unknown'
    return { ok: false, code: 'unreadable', detail: reason.slice(0, 200) }
  }
}

async function inspectFile(path: string): Promise<FileFacts> {
  return { ...(await readImageFacts(path)), c2pa: withSource(path, scanForC2pa) }
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}

async function makeThumbnail({ path, maxSide }: { path: string; maxSide: number }): Promise<Thumbnail> {
  const { data, info } = await openImage(path, { maxPixels: MAX_DECODED_PIXELS })
    .autoOrient()
    .resize(maxSide, maxSide, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY })
    .timeout({ seconds: DECODE_LIMIT_SECONDS })
    .toBuffer({ resolveWithObject: true })
  // A copy of its own: a small Buffer lies in a pool that must not be handed to another thread.
  return { data: new Uint8Array(data), width: info.width, height: info.height }
}

function answer(message: ThreadAnswer): void {
  const value = message.op === 'done' && message.inspection.ok ? message.inspection.value : undefined
  parentPort?.postMessage(message, value !== undefined && 'data' in value ? [value.data.buffer] : [])
}
