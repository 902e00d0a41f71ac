// The inside of the hasher: a worker thread that decodes one picture at a time, as small as its format lets it.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { MAX_DECODED_PIXELS, openImage } from '../media/sharp.ts'
import type { Answer, Inspection } from '../media/threads.ts'
import { hashGreys, type PictureHash, SIDE } from './phash.ts'

export interface HashRequest {
  path: string
}

// Of libvips's own work, which the end of a thread does not stop. Below the pool's limit, so that it ends first.
const DECODE_LIMIT_SECONDS = 8

parentPort?.on('message', async (request: HashRequest) => {
  answer({ op: 'done', inspection: await hash(request) })
})
answer({ op: 'ready' })

async function hash({ path }: HashRequest): Promise<Inspection<PictureHash>> {
  try {
    return { ok: true, value: hashGreys(await readGreys(path)) }
  } catch (error) {
    const isThere = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (!isThere) return { ok: false, code: 'missing', detail: 'The file is not there, or can not be opened.' }
    const reason = error instanceof Error ? error.message.replaceAll(path, 'the file') : 'unknown'
    return { ok: false, code: 'unreadable', detail: reason.slice(0, 200) }
  }
}

// A JPEG is decoded at an eighth of its sides where that is enough (shrink on load). Upright, so that a copy whose rotation
// was written into its pixels is the same picture; on white, so that transparency is a colour.
async function readGreys(path: string): Promise<Uint8Array> {
  const { data, info } = await openImage(path, { maxPixels: MAX_DECODED_PIXELS })
    .autoOrient()
    .flatten({ background: '#fff' })
    .resize(SIDE, SIDE, { fit: 'fill' })
    .toColourspace('b-w')
    .timeout({ seconds: DECODE_LIMIT_SECONDS })
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  if (info.channels !== 1) throw new Error(`the picture became ${info.channels} channels and not one`)
  return data
}

function answer(message: Answer<PictureHash>): void {
  parentPort?.postMessage(message)
}
