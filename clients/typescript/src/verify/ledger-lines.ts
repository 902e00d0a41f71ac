// The lines of an export of the decision ledger, which are untrusted until they have their form.

import { decodeBase64url } from './bytes.ts'
import { isObject } from './records.ts'
import type { Json } from './strict-json.ts'

type Bytes = Uint8Array<ArrayBuffer>

export interface HeadLine {
  type: 'head'
  account_id: string
  environment: string
  from: number
  size: number
  frontier: Bytes[]
}

export interface EntryLine {
  type: 'entry'
  position: number
  leaf_hash: Bytes
  entry_hash: Bytes
  entry: { decision_id: string; kind: string; environment: string }
  /** The entry as it came, which is hashed. */
  raw: Json
}

export interface LeafLine {
  type: 'leaf'
  position: number
  leaf_hash: Bytes
  decision_id: string
}

export interface CheckpointLine {
  type: 'checkpoint'
  size: number
  root: Bytes
  at: string
  jws: string
}

export type LedgerExportLine = HeadLine | EntryLine | LeafLine | CheckpointLine | { type: 'end'; size: number }

const MAX_FRONTIER = 64

/** undefined for what is no line of an export. Members that later versions add are ignored. */
export function readLine(value: Json): LedgerExportLine | undefined {
  if (!isObject(value)) return undefined
  const readers: Record<string, (value: Record<string, unknown>) => LedgerExportLine | undefined> = {
    head: readHead,
    entry: readEntry,
    leaf: readLeaf,
    checkpoint: readCheckpoint,
    end: ({ size }) => (isCount(size) ? { type: 'end', size } : undefined),
  }
  const { type } = value
  return typeof type === 'string' && Object.hasOwn(readers, type) ? readers[type]?.(value) : undefined
}

function readHead({ version, account_id, environment, from, size, frontier }: Record<string, unknown>) {
  if (version !== 1 || !isText(account_id) || !(environment === 'sandbox' || environment === 'live')) return undefined
  if (!isCount(from) || !isCount(size) || !Array.isArray(frontier) || frontier.length > MAX_FRONTIER) return undefined
  const hashes = frontier.map(readHash)
  if (!hashes.every((hash) => hash !== undefined)) return undefined
  return { type: 'head', account_id, environment, from, size, frontier: hashes } as const
}

function readEntry({ position, entry, ...hashes }: Record<string, unknown>): EntryLine | undefined {
  const [leaf, hash] = [readHash(hashes.leaf_hash), readHash(hashes.entry_hash)]
  if (!isCount(position) || leaf === undefined || hash === undefined || !isObject(entry)) return undefined
  const { decision_id, kind, environment } = entry
  if (!isText(decision_id) || !isText(kind) || !isText(environment)) return undefined
  const known = { decision_id, kind, environment }
  return { type: 'entry', position, leaf_hash: leaf, entry_hash: hash, entry: known, raw: entry as Json }
}

function readLeaf({ position, leaf_hash, decision_id }: Record<string, unknown>): LeafLine | undefined {
  const leaf = readHash(leaf_hash)
  if (!isCount(position) || leaf === undefined || !isText(decision_id)) return undefined
  return { type: 'leaf', position, leaf_hash: leaf, decision_id }
}

function readCheckpoint({ size, root, at, jws }: Record<string, unknown>): CheckpointLine | undefined {
  const hash = readHash(root)
  if (!isCount(size) || hash === undefined || !isText(at) || !isText(jws)) return undefined
  return { type: 'checkpoint', size, root: hash, at, jws }
}

/** SHA-256 in base64url without padding. */
export function readHash(value: unknown): Bytes | undefined {
  return typeof value === 'string' && value.length === 43 ? decodeBase64url(value) : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
