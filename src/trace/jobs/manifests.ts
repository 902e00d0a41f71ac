// Manifests at rest: RFC 8785 bytes, compressed and sealed. Their SHA-256 is `manifest_hash`.

import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { findManifest } from './rows.ts'

/** The largest graph that is asked for with both thresholds at 1 has about 25 MB. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024
/** Same time as for the texts of a trace: a manifest has the prompt in it. It is deleted earlier with its trace. */
export const MANIFEST_DAYS = 30

const useOf = (id = '') => `trace manifest ${id}`
const inputUseOf = (id = '') => `trace job input ${id}`

export const SEALED_MANIFESTS: SealedColumn = {
  table: 'trace_manifests',
  column: 'sealed_manifest',
  of: 'environment',
  id: 'id',
  use: ({ id }) => useOf(id),
}

export const SEALED_INPUTS: SealedColumn = {
  table: 'trace_jobs',
  column: 'sealed_input',
  of: 'environment',
  id: 'id',
  use: ({ id }) => inputUseOf(id),
}

const canonicalBytes = (manifest: Json): Buffer => Buffer.from(canonicalize(manifest))

export interface SealedManifest {
  sealed: Buffer
  /** Before it was compressed. */
  bytes: number
  hash: string
}

export function sealManifest(sealer: Sealer, jobId: string, manifest: Json): SealedManifest {
  const bytes = canonicalBytes(manifest)
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { sealed: sealer.seal(gzipSync(bytes), useOf(jobId)), bytes: bytes.length, hash }
}

/**
 * Returns the bytes whose hash is `manifest_hash`. Undefined where there is no manifest, or it is not kept any more.
 */
export async function loadManifest(tx: Tx, sealer: Sealer, jobId: string): Promise<Buffer | undefined> {
  const sealed = await findManifest(tx, jobId)
  if (sealed === undefined) return undefined
  return gunzipSync(sealer.open(sealed, useOf(jobId)), { maxOutputLength: MAX_MANIFEST_BYTES })
}

export function sealInput(sealer: Sealer, jobId: string, input: unknown): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(input)), inputUseOf(jobId))
}

export function openInput(sealer: Sealer, jobId: string, sealed: Buffer): unknown {
  return JSON.parse(sealer.open(sealed, inputUseOf(jobId)).toString('utf8'))
}
