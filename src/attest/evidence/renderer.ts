// Lays out documents in worker threads: a hundred photos take a second of CPU time, and some of the text is untrusted.
// Each document has its own thread.

import { Worker } from 'node:worker_threads'
import { Failure } from '#src/failure.ts'
import type { PictureMissing } from './sentences.ts'
import type { SignedPacket } from './views.ts'

export interface Rendering {
  signed: SignedPacket
  /** By media id: WebP made by this service, or why there is none. */
  pictures: Record<string, Uint8Array | PictureMissing>
}

export type RenderPdf = (rendering: Rendering) => Promise<Uint8Array>

export type RendererAnswer = { pdf: Uint8Array } | { failure: string }

// The largest packet takes some seconds on a busy machine.
const LIMIT_MS = 60_000
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 }

/** @throws {Failure} from the returned function: `service_unavailable` when a document takes too long. */
export function createRenderer({
  limitMs = LIMIT_MS,
  thread = new URL('./pdf-thread.ts', import.meta.url),
}: {
  limitMs?: number
  thread?: URL
} = {}): RenderPdf {
  return (rendering) =>
    new Promise((resolve, reject) => {
      // No environment and no flags, as with the inspector's thread.
      const worker = new Worker(thread, {
        env: {},
        execArgv: [],
        resourceLimits: RESOURCE_LIMITS,
        workerData: rendering,
      })
      const timer = setTimeout(() => settle(() => reject(tooSlow(limitMs))), limitMs)
      const settle = (end: () => void) => {
        clearTimeout(timer)
        void worker.terminate()
        end()
      }
      worker.on('message', (answer: RendererAnswer) =>
        settle(() =>
          'pdf' in answer ? resolve(answer.pdf) : reject(new Error(`the document failed: ${answer.failure}`)),
        ),
      )
      worker.on('error', (error) =>
        settle(() => reject(new Error('the thread of a document crashed', { cause: error }))),
      )
      worker.on('exit', () => settle(() => reject(new Error('the thread of a document ended without it'))))
    })
}

function tooSlow(limitMs: number): Failure {
  return new Failure('service_unavailable', {
    detail: `The document took longer than ${limitMs / 1_000} s. Ask for the packet as JSON, or for fewer attestations (limit).`,
    headers: { 'Retry-After': '30' },
  })
}
