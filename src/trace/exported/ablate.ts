// What an exported decoder does without some of its neurons: measured, by running the text again. Several changes run at
// once where the decoder takes several texts.

import { differenceOf, type Objective } from '../attribution/objective.ts'
import { turn } from '../llama/generation.ts'
import type { ActivationEdit, ExportedModel } from './decoder.ts'

// More texts at once take memory for their neurons, and save little.
const TEXTS_AT_ONCE = 8

/** The change of the objective for each list of edits. @throws {ModelError} `aborted`. */
export async function measureEdits(
  model: ExportedModel,
  tokens: readonly number[],
  objective: Objective,
  edits: readonly (readonly ActivationEdit[])[],
  { signal, onDone = () => {} }: { signal?: AbortSignal | undefined; onDone?: (count: number) => void } = {},
): Promise<number[]> {
  const atOnce = model.decoder.hasBatch ? TEXTS_AT_ONCE : 1
  const changes: number[] = []
  for (let from = 0; from < edits.length; from += atOnce) {
    const batch = edits.slice(from, from + atOnce)
    const { logits } = await model.pass({ texts: batch.map(() => tokens), edits: batch })
    for (const own of logits) changes.push(differenceOf(own, objective) - objective.difference)
    onDone(batch.length)
    await turn(signal)
  }
  return changes
}
