// The inside of the C2PA reader: a worker thread that reads one manifest store at a time. Only src/attest/media/c2pa-*.ts know
// which library reads it.

import { readFileSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { initSync, WasmReader } from '@contentauth/c2pa-wasm'
import { type C2paFacts, type C2paManifest, readStore } from './c2pa-facts.ts'
import type { Inspection, ThreadAnswer } from './threads.ts'

export interface C2paRequest {
  path: string
  maxBytes: number
  /** Of the file, in bytes. */
  size: number
  owner: string
  /** What the signer is looked for in, as PEM; empty when there is none. */
  anchors: string
  trustList: C2paManifest['trustList']
  /** Milliseconds since 1970: the time for which certificates are judged. */
  at: number
}

export type C2paAnswer = ThreadAnswer<C2paFacts>

/** What the thread is started with. */
export interface C2paThreadData {
  /** A compiled WebAssembly.Module. */
  module: object
  /** For what is slow: it gives way to all else on the machine. */
  isAside: boolean
}

// What a large file took is not given back to the system by WebAssembly: the next file gets a new thread.
const MAX_KEPT_BYTES = 64 * 1024 * 1024
const MAX_REQUESTS = 500
// A third of what others get of a processor that is asked for by both. Less, and an honest file of 60 MB would run out of time.
const ASIDE_PRIORITY = 5

// The settings forbid it already. This holds also if a later version should forget them: the library has no other way out.
globalThis.fetch = () => Promise.reject(new Error('there is no network here'))

// The library asks the clock whether certificates have lapsed: the same file must be judged the same next year.
const RealDate = Date
let now = 0
globalThis.Date = class extends RealDate {
  // biome-ignore lint/suspicious/noExplicitAny: the constructor of Date has six signatures, all of which are passed on
  constructor(...parts: any[]) {
    super(...((parts.length === 0 ? [now] : parts) as [number]))
  }
  static override now(): number {
    return now
  }
} as DateConstructor

const { module, isAside }: C2paThreadData = workerData
if (isAside) giveWay()
const { memory } = initSync({ module })
let requests = 0

parentPort?.on('message', async (request: C2paRequest) => {
  now = request.at
  requests += 1
  const { inspection, isBroken } = await read(request)
  const isSpent = isBroken || requests >= MAX_REQUESTS || memory.buffer.byteLength > MAX_KEPT_BYTES
  answer({ op: 'done', inspection, isSpent })
})
answer({ op: 'ready' })

async function read(request: C2paRequest): Promise<{ inspection: Inspection<C2paFacts>; isBroken: boolean }> {
  const bytes = readBytes(request)
  if (bytes === undefined) {
    const detail = 'The file is not there, or can not be opened.'
    return { inspection: { ok: false, code: 'missing', detail }, isBroken: false }
  }
  try {
    return { inspection: { ok: true, value: await readManifest(bytes, request) }, isBroken: false }
  } catch (error) {
    // A trap: what it leaves in its memory can't be trusted with another file.
    const detail = error instanceof RangeError ? 'The reader ran out of memory.' : 'The reader crashed.'
    return { inspection: { ok: false, code: 'crashed', detail }, isBroken: true }
  }
}

function readBytes({ path, maxBytes }: C2paRequest): Uint8Array | undefined {
  try {
    // Whoever asks has looked; a file that grew since would be a defect of the store.
    return statSync(path).size > maxBytes ? undefined : readFileSync(path)
  } catch {
    return undefined
  }
}

async function readManifest(bytes: Uint8Array, { anchors, trustList }: C2paRequest): Promise<C2paFacts> {
  let json: string
  try {
    // The type is not looked at: the library goes by the bytes.
    const reader = await WasmReader.fromBytes('application/octet-stream', bytes, settingsOf(anchors))
    json = reader.json()
    reader.free()
  } catch (error) {
    const code = typeof error === 'string' ? /^C2pa\((\w+)/.exec(error)?.[1] : undefined
    if (code === undefined || code === 'BadParam') throw error
    return { state: 'malformed', code }
  }
  const manifest = readStore(JSON.parse(json), trustList)
  return manifest === undefined ? { state: 'malformed', code: 'NoState' } : { state: 'read', manifest }
}

// Unknown names are ignored without a word: these are checked by tests, each by what it does.
function settingsOf(anchors: string): string {
  return JSON.stringify({
    trust: anchors === '' ? {} : { trust_anchors: anchors },
    verify: { verify_trust: true, remote_manifest_fetch: false, ocsp_fetch: false },
    core: { allowed_network_hosts: [], decode_identity_assertions: false },
  })
}

// On Linux a priority is one thread's, elsewhere the whole process's.
function giveWay(): void {
  if (process.platform === 'linux') setPriority(ASIDE_PRIORITY)
}

function answer(message: C2paAnswer): void {
  parentPort?.postMessage(message)
}
