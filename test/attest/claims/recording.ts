// Changes that tests make to the chunks of a recording.

import { createHash } from 'node:crypto'
import type { VideoChunk, VideoManifest } from '../../../capture-kit/video.ts'

export interface Upload {
  recording: VideoChunk[]
  file: Buffer
  manifest: (manifest: VideoManifest) => Partial<VideoManifest> | undefined
  issuedSecondsAgo: number
  hasNonce: boolean
}

export interface Session {
  capture_session_id: string
  session_nonce: string
}

export function shiftFrom(chunks: readonly VideoChunk[], from: number, us: number): VideoChunk[] {
  return chunks.map((chunk, index) =>
    index < from ? chunk : { ...chunk, firstPtsUs: chunk.firstPtsUs + us, lastPtsUs: chunk.lastPtsUs + us },
  )
}

export function flipped(data: Buffer): Buffer {
  const copy = Buffer.from(data)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1
  return copy
}

export function sha256(data: Uint8Array = Buffer.alloc(0)): string {
  return createHash('sha256').update(data).digest('hex')
}

export function digest64(data: Uint8Array = Buffer.alloc(0)): string {
  return createHash('sha256').update(data).digest('base64')
}
