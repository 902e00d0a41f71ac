// Reads C2PA manifests behind an interface that does not depend on the library. Files without a manifest cost nothing
// here: after the scan, neither thread nor WebAssembly is loaded for them.

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
   * What the manifest of a file says. A refusal concerns the file (`timeout`, `crashed`) or the moment (`busy`,
   * `closed`, `missing`). Reads nothing of a file in which the scan found no manifest.
   */
  read(path: string, options: C2paReadOptions): Promise<Inspection<C2paFacts>>
  close(): Promise<void>
}

export interface C2paReadOptions {
  scan: C2paScan
  /** The place of a manifest according to XMP, if any. */
  manifestReference: string | null
  /**
   * Certificates (DER) that are trusted in addition to the deployment's, for signers and time stamps. Called only when there
   * is a manifest.
   */
  anchors(): Promise<readonly Uint8Array[]>
  /** The time at which certificates must be valid; the same time gives the same facts. */
  at: Date
  /** The owner of the file: files of several owners are read in turn, and slow ones leave seats to other owners'. */
  owner?: string
}

type Certificates = readonly Uint8Array[] | (() => readonly Uint8Array[])

export interface C2paOptions {
  /**
   * Certificates (DER) of signers that this deployment trusts; time stamps under them are trusted too. A function is called
   * once, before the first file.
   */
  anchors?: Certificates
  /** Certificates (DER) of the time-stamp authorities that this deployment trusts. A signer under them is unknown. */
  authorities?: Certificates
  threads?: number
  /**
   * Per file. Valid files take 10 to 300 ms; 60 MB took 7 s at low priority on a machine with ten times its CPU load. Few files
   * are read twice (see `readManifest`).
   */
  limitMs?: number
  /** Same as in `ThreadsOptions`. */
  quickMs?: number
  maxWaiting?: number
  /** The thread's file. Tests pass one that misbehaves. */
  thread?: URL
}

/**
 * The largest file that is read: it is held twice in memory meanwhile. Long videos are verified by their chunk chain
 * instead.
 */
export const MAX_C2PA_BYTES = 64 * 1024 * 1024

// Reading takes 10 ms, and 4 ms more per MB hashed.
const QUICK_MS = 1_000
const MAX_QUICK_BYTES = 16 * 1024 * 1024
// Each slow file holds one of a worker's jobs for seconds; most of them must stay free for other owners.
const SEATS = { all: 4, each: 2 }

// Memory of one thread's WebAssembly, in pages of 64 KiB: the largest file twice, and the same again for its parsed
// form.
const MAX_PAGES = (4 * MAX_C2PA_BYTES) / 65_536

export function createC2paReader({
  anchors = [],
  authorities = [],
  threads = 1,
  limitMs = 16_000,
  quickMs = QUICK_MS,
  maxWaiting = 1_000,
  thread = new URL('./c2pa-thread.ts', import.meta.url),
}: C2paOptions = {}): C2paReader {
  let pool: Promise<Threads<C2paRequest>> | undefined
  let isClosed = false
  const ourSigners = readOnce(anchors)
  const ourAuthorities = readOnce(authorities)

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
      ownerOf: ({ owner }) => owner,
      seats: SEATS,
    })
  }

  return {
    async read(path, { scan, manifestReference, anchors, at, owner = '' }) {
      const { state, size } = scan
      if (state === 'absent') return { ok: true, value: { state, manifestReference } }
      if (state === 'unknown_format') return { ok: true, value: { state: 'not_applicable' } }
      if (state === 'too_many_parts') {
        const detail = 'The file has more parts than are examined. None of those that were is a manifest.'
        return { ok: true, value: { state: 'unread', why: state, detail } }
      }
      if (size > MAX_C2PA_BYTES) {
        const detail = `The file has ${size} bytes; manifests are read of files up to ${MAX_C2PA_BYTES}.`
        return { ok: true, value: { state: 'unread', why: 'too_large', detail } }
      }
      if (isClosed) return { ok: false, code: 'closed', detail: 'The reader is shutting down.' }
      const signers = trustListOf([...ourSigners(), ...(await anchors())])
      const authorities = trustListOf(ourAuthorities())
      pool ??= start()
      const limits = { maxBytes: MAX_C2PA_BYTES, size, owner }
      return (await pool).submit({ path, ...limits, signers, authorities, at: at.getTime() })
    },
    async close() {
      isClosed = true
      const started = await pool
      started?.close()
    },
  }
}

function readOnce(given: Certificates): () => readonly Uint8Array[] {
  let read: readonly Uint8Array[] | undefined
  return () => {
    read ??= typeof given === 'function' ? given() : given
    return read
  }
}

// Node's types declare only this one of the web platform's types, and TypeScript has it only together with all others.
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> }

/** Compiled off this thread; threads started later share it. */
async function loadModule(): Promise<object> {
  const path = createRequire(import.meta.url).resolve('@contentauth/c2pa-wasm/c2pa.wasm')
  return WebAssembly.compile(limitMemory(await readFile(path), MAX_PAGES))
}
