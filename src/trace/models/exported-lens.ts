// The logit lens of an exported decoder, as `lens.ts` has it for the service's own models.

import { knownWriters } from '../exported/attribute.ts'
import type { ExportedModel } from '../exported/decoder.ts'
import { streamOf, unembed } from '../exported/stream.ts'
import { checkRange, type LensRequest, type LensResult, type LensToken, textsOf, topOf } from './lens.ts'

/** The texts alone need nothing of the model's inside. @throws {ModelError} `capability_missing`, `request_invalid`. */
export async function readExportedLens(
  model: ExportedModel,
  { tokens, from, to, top }: LensRequest,
  { signal }: { signal: AbortSignal },
): Promise<LensResult> {
  checkRange({ tokens, from, to, top })
  const { sha256 } = model
  const texts = textsOf(model, tokens.slice(from, to))
  if (top === 0 || from === to) return { sha256, texts, layers: [] }
  const writers = knownWriters(model)
  // A token comes from the position before it.
  const { written } = await model.pass({ texts: [tokens.slice(0, to - 1)], capture: true })
  if (written === undefined) throw new TypeError('a pass gave nothing')
  const positions = Array.from({ length: to - from }, (_, index) => from - 1 + index)
  const layers: LensToken[][][] = positions.map(() => [])
  const { columns } = writers.unembedding
  for (const stream of streamOf(written)) {
    const logits = await unembed(writers, stream, positions, signal)
    positions.forEach((_, index) => {
      layers[index]?.push(topOf(model, logits.subarray(index * columns, (index + 1) * columns), top))
    })
  }
  return { sha256, texts, layers }
}
