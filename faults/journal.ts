// What clients, receivers and the fault injector recorded while it happened: one JSON value per line. The checker
// reads these files and Postgres, and nothing else.

import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Environment } from '#src/platform/ids.ts'

/** A client's request; written before the first try. */
export interface Asked {
  kind: 'asked'
  n: number
  at: number
  accountId: string
  environment: Environment
  op: 'attest' | 'batch' | 'cancel' | 'sessions' | 'upload' | 'screen' | 'read' | 'foreign'
  /** The captures that it submits, or cancels: `<prefix><first>` to `<prefix><first + count - 1>`. Each names itself in its
   * claim's line. */
  prefix: string
  first: number
  count: number
  /** Each capture carries its name as external_id too. */
  isNamed: boolean
  key: string | null
  /** Seconds, of `Prefer`. */
  wait: number | null
  /** Hex, of an upload, and of the photo of a screening. */
  sha256: string | null
}

/** The answer to one try. */
export interface Answered {
  kind: 'answered'
  n: number
  at: number
  ms: number
  status: number
  /** Its Retry-After. */
  retryAfter: string | null
  code: string | null
  isReplayed: boolean
  attestationId: string | null
  batchId: string | null
  mediaId: string | null
  screeningId: string | null
  accepted: number | null
  /** Every id in the answer's body. */
  ids: string[]
}

/** A try without an answer. */
export interface Unanswered {
  kind: 'unanswered'
  n: number
  at: number
  ms: number
  error: string
}

/** A webhook endpoint, with the secret of its creation. */
export interface Endpoint {
  kind: 'endpoint'
  at: number
  accountId: string
  environment: Environment
  endpointId: string
  receiver: string
  secret: string
  eventTypes: string[]
}

/** A delivery as it came in. */
export interface Received {
  kind: 'received'
  n: number
  at: number
  receiver: string
  headers: Record<string, string>
  body: string
}

/** The answer to a delivery; written after it was sent. */
export interface Acknowledged {
  kind: 'acknowledged'
  n: number
  at: number
  status: number
}

/** A picture that the detector received. */
export interface Looked {
  kind: 'looked'
  at: number
  /** Hex. */
  sha256: string
  /** It returned a score. */
  isAnswered: boolean
}

/** A mail that the mail server took. */
export interface Mailed {
  kind: 'mailed'
  at: number
  mailId: string
}

/** A person who asked for a link, uploaded an exclusion list, and asked for an export of their account. */
export interface Visited {
  kind: 'visited'
  at: number
  email: string
  isSignedIn: boolean
  /** Id in the answer. */
  exportId: string | null
  /** Id in the answer to the upload of an exclusion list. */
  importId: string | null
  /** Hex, of the archive that was downloaded. */
  sha256: string | null
}

/** A fault, when it began; `until` when it had ended. */
export interface Injected {
  kind: 'fault'
  at: number
  until: number
  name: string
  detail: string
  figures: Record<string, number>
}

/** One observation of a running system. */
export interface Sampled {
  kind: 'sample'
  at: number
  /** Seconds that the oldest due job has waited: of any, and of single submissions. */
  oldestDue: number
  oldestDueInteractive: number
  open: number
}

/** The memory of a process, in bytes, right after a garbage collection. */
export interface Weighed {
  kind: 'weighed'
  at: number
  /** Its name and pid. */
  process: string
  /** Its main thread's heap, and the memory outside that the heap refers to. */
  live: number
  /** Resident: with its threads, its code, and memory that allocators keep. */
  rss: number
}

export type Entry =
  | Asked
  | Answered
  | Unanswered
  | Endpoint
  | Received
  | Acknowledged
  | Looked
  | Mailed
  | Visited
  | Injected
  | Sampled
  | Weighed

export interface Journal {
  write(entry: Entry): void
  close(): Promise<void>
}

export function openJournal(file: string): Journal {
  const stream = createWriteStream(file, { flags: 'a' })
  return {
    write: (entry) => void stream.write(`${JSON.stringify(entry)}\n`),
    close: () => new Promise((done) => stream.end(done)),
  }
}

/** Milliseconds of Unix time with a fraction: the same clock as Postgres's, on one machine. */
export function clock(): number {
  return performance.timeOrigin + performance.now()
}

export async function readJournal(file: string): Promise<Entry[]> {
  if (!existsSync(file)) return []
  const entries: Entry[] = []
  for await (const line of createInterface({ input: createReadStream(file) })) entries.push(JSON.parse(line))
  return entries
}

const ID = /\b(?:[a-z]{3}_(?:test|live)|acc)_[0-9a-hjkmnp-tv-z]{26}\b/g

export function idsIn(text: string): string[] {
  return [...new Set(text.match(ID) ?? [])]
}
