// Reads C2PA manifests, behind an interface that another library could stand behind as well. Files without one cost nothing
// here: the scan has been made, and neither thread nor WebAssembly is loaded for them.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { C2paFacts } from './c2pa-facts.ts'
import type { C2paScan } from './c2pa-scan.ts'
import type { C2paRequest, C2paThreadData } from './c2pa-thread.ts'
import { trustListOf } from './c2pa-trust.ts'
import { createThreads, type Inspection, type Threads } from './threads.ts'
import { limitMemory } from './wasm-memory.ts'

export interface C2paReader {
  /**
   * What the manifest of a file says. A refusal is about the file (`timeout`, `crashed`) or about now (`busy`, `closed`,
   * `missing`). Reads no byte of a file that the scan found none in.
   */
  read(path: string, options: C2paReadOptions): Promise<Inspection<C2paFacts>>
  close(): Promise<void>
}

export interface C2paReadOptions {
  scan: C2paScan
  /** Where XMP says that a manifest is, if it does. */
  manifestReference: string | null
  /** Certificates (DER) that are trusted beside those of the deployment. Asked only when there is a manifest. */
  anchors(): Promise<readonly Uint8Array[]>
  /** For this time certificates are judged; the same time gives the same facts. */
  at: Date
  /** Whose file it is: what is slow of one owner leaves room for that of others. */
  owner?: string
}

export interface C2paOptions {
  /** Certificates (DER) that this deployment trusts; a function is called once, before the first file. */
  anchors?: readonly Uint8Array[] | (() => readonly Uint8Array[])
  threads?: number
  /** For one file. Honest ones take 10 to 300 ms, and 60 MB took 7 s aside while a machine had ten times the work it can do. */
  limitMs?: number
  /** As in `ThreadsOptions`. */
  quickMs?: number
  maxWaiting?: number
  /** The thread's file. Another one only where a test wants a thread that misbehaves. */
  thread?: URL
}

/** What is read of: a larger file is held twice in memory while it is. Long videos are told by their chunk chain instead. */
export const MAX_C2PA_BYTES = 64 * 1024 * 1024

// Reading takes 10 ms, and 4 more for each MB that is hashed.
const QUICK_MS = 1_000
const MAX_QUICK_BYTES = 16 * 1024 * 1024
// A worker runs 16 jobs at once, each of which waits for its file: most of them must be left to others.
const SEATS = { all: 4, each: 2 }

// Of one thread's WebAssembly, in pages of 64 KiB: the largest file twice, and as much again for what is made of it.
const MAX_PAGES = (4 * MAX_C2PA_BYTES) / 65_536

export function createC2paReader({
  anchors: given = [],
  threads = 1,
  limitMs = 16_000,
  quickMs = QUICK_MS,
  maxWaiting = 1_000,
  thread = new URL('./c2pa-thread.ts', import.meta.url),
}: C2paOptions = {}): C2paReader {
  let pool: Promise<Threads<C2paRequest>> | undefined
  let isClosed = false
  let read: readonly Uint8Array[] | undefined
  const ours = () => {
    read ??= typeof given === 'function' ? given() : given
    return read
  }

  async function start(): Promise<Threads<C2paRequest>> {
    const module = await loadModule()
    return createThreads<C2paRequest>({
      thread,
      threads,
      limitMs,
      quickMs,
      maxWaiting,
      workerData: (isAside): C2paThreadData => ({ module, isAside }),
      isSlow: ({ size }) => size > MAX_QUICK_BYTES,
      seats: { ...SEATS, ownerOf: ({ owner }) => owner },
    })
  }

  return {
    async read(path, { scan, manifestReference, anchors, at, owner = '' }) {
      const { state, size } = scan
      if (state === 'absent') return { ok: true, value: { state, manifestReference } }
      if (state === 'unknown_format') return { ok: true, value: { state: 'not_applicable' } }
      if (state === 'too_many_parts') {
        return {
          ok: true,
          value: { state: 'unread', why: state, detail: 'The file has more parts than are looked at.' },
        }
      }
      if (size > MAX_C2PA_BYTES) {
        const detail = `The file has ${size} bytes; manifests are read of files up to ${MAX_C2PA_BYTES}.`
        return { ok: true, value: { state: 'unread', why: 'too_large', detail } }
      }
      if (isClosed) return { ok: false, code: 'closed', detail: 'The reader is shutting down.' }
      const { pem, ...trustList } = trustListOf([...ours(), ...(await anchors())])
      pool ??= start()
      const limits = { maxBytes: MAX_C2PA_BYTES, size, owner }
      return (await pool).submit({ path, ...limits, anchors: pem, trustList, at: at.getTime() })
    },
    async close() {
      isClosed = true
      const started = await pool
      started?.close()
    },
  }
}

// Of the types of the web's platform only this is there in Node's, and TypeScript knows it only together with all of them.
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> }

/** Compiled off this thread; a thread that is started later shares it. */
async function loadModule(): Promise<object> {
  const path = createRequire(import.meta.url).resolve('@contentauth/c2pa-wasm/c2pa.wasm')
  return WebAssembly.compile(limitMemory(await readFile(path), MAX_PAGES))
}
