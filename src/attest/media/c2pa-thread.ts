// The worker thread of the C2PA reader; it reads one manifest store at a time. Only src/attest/media/c2pa-*.ts depend
// on the library.

import { readFileSync, statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { initSync, WasmReader } from '@contentauth/c2pa-wasm'
import { lowerThreadPriority } from '#src/platform/priority.ts'
import { type C2paFacts, isOpenByStamp, readStore, stampOf } from './c2pa-facts.ts'
import type { TrustList } from './c2pa-trust.ts'
import type { Inspection, ThreadAnswer } from './threads.ts'

export interface C2paRequest {
  path: string
  maxBytes: number
  /** Size of the file in bytes. */
  size: number
  owner: string
  signers: TrustList
  authorities: TrustList
  /** Milliseconds since 1970: the time at which certificates must be valid. */
  at: number
}

export type C2paAnswer = ThreadAnswer<C2paFacts>

/** The `workerData` of the thread. */
export interface C2paThreadData {
  /** A compiled WebAssembly.Module. */
  module: object
  /** For slow files: runs at low CPU priority. */
  isAside: boolean
}

// WebAssembly never returns memory to the system, so after a large file the next one gets a new thread.
const MAX_KEPT_BYTES = 64 * 1024 * 1024
const MAX_REQUESTS = 500

// The settings already forbid network access. This also holds if a later version ignores them: the library has no other
// way to reach the network.
globalThis.fetch = () => Promise.reject(new Error('there is no network here'))

// The library checks certificate expiry against the clock, but the same file must give the same result next year.
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
if (isAside) lowerThreadPriority()
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
    // A WebAssembly trap: the memory after it can't be trusted with another file.
    const detail = error instanceof RangeError ? 'The reader ran out of memory.' : 'The reader crashed.'
    return { inspection: { ok: false, code: 'crashed', detail }, isBroken: true }
  }
}

function readBytes({ path, maxBytes }: C2paRequest): Uint8Array | undefined {
  try {
    // The caller has checked the size; a file that has grown since would be a defect of the store.
    return statSync(path).size > maxBytes ? undefined : readFileSync(path)
  } catch {
    return undefined
  }
}

// One reading with both lists is enough for most files. The library does not tell the lists apart, and ignores time stamps of
// an unknown authority, so two kinds of files are read once more, with the signers' list alone and by any authority's stamps:
// those with a signer under the authorities' list, and those whose certificate had ended unless an unknown authority is right.
async function readManifest(bytes: Uint8Array, { signers, authorities }: C2paRequest): Promise<C2paFacts> {
  const text = await readJson(bytes, trustOf({ [SIGNERS]: signers, [AUTHORITIES]: authorities }))
  if (typeof text !== 'string') return text
  const first = JSON.parse(text)
  const isOpen = isOpenByStamp(first)
  const isUnderAuthority = text.includes(`[${AUTHORITIES}]`)
  const again =
    isOpen || isUnderAuthority
      ? await readJson(bytes, trustOf({ [SIGNERS]: signers }), { verify_timestamp_trust: false })
      : text
  if (typeof again !== 'string') return again
  const manifest = readStore(JSON.parse(again), shown(signers))
  if (manifest === undefined) return { state: 'malformed', code: 'NoState' }
  // The holder of a key whose certificate has ended could also be the authority that stamps it.
  const isTrustedByStampAlone = isOpen && manifest.validationState === 'Trusted'
  const validationState = isTrustedByStampAlone ? 'Valid' : manifest.validationState
  return {
    state: 'read',
    manifest: { ...manifest, validationState, timeStamp: stampOf(first), authorityList: shown(authorities) },
  }
}

/** Returns the reader's own JSON, or why it has none. */
async function readJson(bytes: Uint8Array, trust: object, verify = {}): Promise<string | C2paFacts> {
  try {
    // The library ignores the type and detects the format from the bytes.
    const reader = await WasmReader.fromBytes('application/octet-stream', bytes, settingsOf(trust, verify))
    const json = reader.json()
    reader.free()
    return json
  } catch (error) {
    const code = typeof error === 'string' ? /^C2pa\((\w+)/.exec(error)?.[1] : undefined
    if (code === undefined || code === 'BadParam') throw error
    // The library knows fewer forms of a format than the scan, for example no box before ftyp: that says nothing of the manifest.
    if (code === 'UnsupportedType') return { state: 'unread', why: 'unreadable', detail: UNKNOWN_FORM }
    return { state: 'malformed', code }
  }
}

const UNKNOWN_FORM = 'The reader of manifests does not know this form of file.'

const shown = ({ certificates, sha256 }: TrustList) => ({ certificates, sha256 })

// The names that the library quotes where it says in which list it found a certificate.
const SIGNERS = 'signers'
const AUTHORITIES = 'authorities'

function trustOf(lists: Record<string, TrustList>): object {
  const anchors = Object.entries(lists).flatMap(([name, { pem }]) =>
    pem === '' ? [] : [{ trust_anchors: pem, trust_uri: name, trust_kind: name === SIGNERS ? 'manifest' : 'tsa' }],
  )
  return anchors.length === 0 ? {} : { anchors }
}

// The library ignores unknown names silently, so tests check the effect of each setting.
function settingsOf(trust: object, verify: object): string {
  return JSON.stringify({
    trust,
    verify: { verify_trust: true, remote_manifest_fetch: false, ocsp_fetch: false, ...verify },
    core: { allowed_network_hosts: [], decode_identity_assertions: false },
  })
}

function answer(message: C2paAnswer): void {
  parentPort?.postMessage(message)
}
