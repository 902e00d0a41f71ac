// What the process of an exported decoder can do: of the operations of a model, those that need no more than it shows.

import type { AttributionRequest } from '../attribution/attribute.ts'
import type { InterventionRequest } from '../attribution/intervene.ts'
import { attributeExported, knownWriters } from '../exported/attribute.ts'
import type { ExportedModel } from '../exported/decoder.ts'
import { generateExported } from '../exported/generate.ts'
import { interveneExported } from '../exported/intervene.ts'
import { streamOf, unembed } from '../exported/stream.ts'
import { modelError } from '../gguf/model-error.ts'
import type { GeneratedToken } from '../llama/generation.ts'
import { renderInput } from './inference.ts'
import { checkRange, type LensRequest, type LensResult, type LensToken, textsOf, topOf } from './lens.ts'
import type { RenderedInput } from './operations.ts'
import type { InferenceRequest, InferenceResult, ModelInput, OperationProgress } from './protocol.ts'

export interface ExportedContext {
  signal: AbortSignal
  onProgress(progress: OperationProgress): void
}

type ExportedOperation = (model: ExportedModel, request: unknown, context: ExportedContext) => Promise<unknown>

export async function inferExported(
  model: ExportedModel,
  { input, maxTokens, sampling, internals, canary }: InferenceRequest,
  { signal, onToken }: { signal: AbortSignal; onToken: (token: GeneratedToken) => void },
): Promise<InferenceResult> {
  if (internals !== undefined) throw modelError('capability_missing', 'Exported models give no internals.')
  // Readings are of the service's own arithmetic, in which every sum has one order.
  if (canary !== undefined) throw modelError('probes_missing', 'Exported models have no canary probes.')
  const { tokens: prompt, spans } = renderInput(model, input)
  const made = await generateExported(
    model,
    { prompt, maxTokens, sampling },
    {
      signal,
      onToken(token) {
        onToken(token)
        return 'continue'
      },
    },
  )
  const tokenTexts = textsOf(model, made.tokens)
  return { sha256: model.sha256, prompt, spans, completionTokens: made.tokens.length, tokenTexts, ...made }
}

// Requests match by `OperationRequest`, which every caller goes through.
const OPERATIONS: Readonly<Record<string, ExportedOperation>> = {
  render: async (model, request): Promise<RenderedInput> => {
    const { tokens, spans } = renderInput(model, (request as { input: ModelInput }).input)
    return { sha256: model.sha256, tokens, spans, texts: textsOf(model, tokens) }
  },
  attribute: (model, request, { signal, onProgress }) =>
    attributeExported(model, request as AttributionRequest, {
      signal,
      onProgress: (done, total) => onProgress({ done, total }),
    }),
  lens: (model, request, context) => readExportedLens(model, request as LensRequest, context),
  intervene: (model, request, context) => interveneExported(model, request as InterventionRequest, context),
}

export function findExportedOperation(name: string): ExportedOperation | undefined {
  return Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined
}

/** The logit lens, as `lens.ts` has it for the service's own models. The texts alone need nothing of the model's inside. @throws {ModelError} `capability_missing`, `request_invalid`. */
async function readExportedLens(
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
