// Lays out documents in worker threads: a hundred photos take a second of CPU time, and some of the text is untrusted.
// A thread has one document at a time and stays for the next ones, because to load the libraries and to compile them takes
// four times as long as a document of one photo.

import { Failure } from '#src/failure.ts'
import { createThreads } from '../media/threads.ts'
import type { PictureMissing } from './sentences.ts'
import type { SignedPacket } from './views.ts'

export interface Rendering {
  signed: SignedPacket
  /** Pictures by media id: WebP made by this service, or why there is none. */
  pictures: Record<string, Uint8Array | PictureMissing>
}

export type RenderPdf = (rendering: Rendering) => Promise<Uint8Array>

export interface Renderer {
  /** @throws {Failure} `service_unavailable` when a document takes too long, or no thread can be started. */
  renderPdf: RenderPdf
  close(): void
}

// The largest packet takes some seconds on a busy machine.
const LIMIT_MS = 60_000
// Packets are asked for seldom, and an idle thread keeps the memory of its libraries.
const IDLE_MS = 30_000
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 }

/** @param threads The most documents at the same time. */
export function createRenderer({
  threads,
  limitMs = LIMIT_MS,
  thread = new URL('./pdf-thread.ts', import.meta.url),
}: {
  threads: number
  limitMs?: number
  thread?: URL
}): Renderer {
  const pool = createThreads<Rendering>({
    thread,
    threads,
    limitMs,
    // A slow document has its thread to itself.
    quickMs: limitMs,
    // The callers limit how many wait.
    maxWaiting: Number.POSITIVE_INFINITY,
    resourceLimits: RESOURCE_LIMITS,
    idleMs: IDLE_MS,
  })
  return {
    async renderPdf(rendering) {
      const rendered = await pool.submit<Uint8Array>(rendering)
      if (rendered.ok) return rendered.value
      const { code, detail } = rendered
      if (code === 'timeout') throw tooSlow(limitMs)
      if (code === 'busy') throw notStarted(detail)
      if (code === 'closed') throw new Failure('service_unavailable', { detail: 'The service is shutting down.' })
      throw new Error(`the document failed: ${code}: ${detail}`)
    },
    close: () => pool.close(),
  }
}

function tooSlow(limitMs: number): Failure {
  return new Failure('service_unavailable', {
    detail: `The document took longer than ${limitMs / 1_000} s. Ask for the packet as JSON, or for fewer attestations (limit).`,
    headers: { 'Retry-After': '30' },
  })
}

function notStarted(detail: string): Failure {
  return new Failure('service_unavailable', {
    detail: 'No document can be made now. Try again, or ask for the packet as JSON.',
    headers: { 'Retry-After': '30' },
    cause: new Error(detail),
  })
}
