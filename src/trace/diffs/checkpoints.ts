// What a running diff has measured so far. A checkpoint belongs to the exact models and prompts that it was measured with:
// others begin anew.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Measures, Pairing } from './compare.ts'
import type { EvalPrompts } from './eval-prompts.ts'

interface StoredMeasures extends Omit<Measures, 'neurons' | 'done'> {
  origin: string
  neurons: { neurons: number; count: number }
}

/** What the figures depend on. */
export function originOf({ base, target, families }: Pairing, { sha256 }: Pick<EvalPrompts, 'sha256'>): string {
  const sides = [base, target].map(({ version, probes }) => [version.sha256, probes.set, probes.version])
  return JSON.stringify([...sides, families, sha256])
}

export interface CheckpointKey {
  diffId: string
  /** See `originOf`. */
  origin: string
}

/** undefined when there is none, or it is of other models or prompts. */
export async function findCheckpoint(tx: Tx, { diffId, origin }: CheckpointKey): Promise<Measures | undefined> {
  const [row] = await tx.query<{ done: number; measures: StoredMeasures; neurons: Buffer }>(
    'SELECT done, measures, neurons FROM diff_checkpoints WHERE diff_id = $1',
    [diffId],
  )
  if (row === undefined || row.measures.origin !== origin) return undefined
  const { origin: _, neurons, ...measures } = row.measures
  return { ...measures, done: row.done, neurons: { ...neurons, values: toFloats(row.neurons) } }
}

/** false when the diff has ended meanwhile: the work is to stop. */
export async function storeCheckpoint(
  tx: Tx,
  { accountId, environment }: Scope,
  { diffId, origin }: CheckpointKey,
  { done, neurons, ...measures }: Measures,
): Promise<boolean> {
  const running = await tx.query(
    `UPDATE model_diffs SET prompts_done = greatest(prompts_done, $2) WHERE id = $1 AND state = 'running' RETURNING 1`,
    [diffId, done],
  )
  if (running.length === 0) return false
  const { neurons: size, count, values } = neurons
  const stored: StoredMeasures = { ...measures, origin, neurons: { neurons: size, count } }
  // A worker that lost its job may still be writing what the next one has passed.
  await tx.query(
    `INSERT INTO diff_checkpoints (account_id, environment, diff_id, done, measures, neurons) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (account_id, environment, diff_id)
     DO UPDATE SET done = excluded.done, measures = excluded.measures, neurons = excluded.neurons
     WHERE diff_checkpoints.done < excluded.done OR diff_checkpoints.measures ->> 'origin' <> $7`,
    [
      accountId,
      environment,
      diffId,
      done,
      JSON.stringify(stored),
      Buffer.from(values.buffer, values.byteOffset, values.byteLength),
      origin,
    ],
  )
  return true
}

export async function deleteCheckpoint(tx: Tx, diffId: string): Promise<void> {
  await tx.query('DELETE FROM diff_checkpoints WHERE diff_id = $1', [diffId])
}

function toFloats(bytes: Buffer): Float64Array {
  // In a buffer of its own: that of the row may begin anywhere.
  const values = new Float64Array(Math.floor(bytes.length / Float64Array.BYTES_PER_ELEMENT))
  new Uint8Array(values.buffer).set(bytes.subarray(0, values.byteLength))
  return values
}
