// An exported decoder, ready to run in this process. A pass reads tokens behind those of its cache, and gives the logits
// behind the last of them; with `capture` also what the layers wrote.

import type { Tensor } from 'onnxruntime-node'
import { modelError } from '../gguf/model-error.ts'
import { loadOnnxRuntime, type OnnxSession } from '../onnx/runtime.ts'
import { type ExportedFacts, exportedFactsOf } from './facts.ts'
import { readExported } from './files.ts'
import { instrument } from './instrument.ts'
import type { ResidualWriters } from './writers.ts'

export interface ExportedModel extends ExportedFacts {
  maxTokens: number
  pass(request: PassRequest): Promise<Pass>
}

/** Multiplies the activation of a neuron at a position; without a neuron, of all of the layer. */
export interface ActivationEdit {
  layer: number
  position: number
  neuron: number | undefined
  factor: number
}

export interface PassRequest {
  /** Texts of one length. More than one only where the decoder takes several. */
  texts: readonly (readonly number[])[]
  cache?: DecoderCache | undefined
  /** Edits of the text with the same index. */
  edits?: readonly (readonly ActivationEdit[])[]
  /** Only of a pass over one text, where the writers are known. */
  capture?: boolean
}

export interface Pass {
  /** Logits behind the last token of each text. */
  logits: Float32Array[]
  cache: DecoderCache | undefined
  written: Written | undefined
}

export interface DecoderCache {
  tokens: number
  tensors: Readonly<Record<string, Tensor>>
}

/** What was written to the residual stream: tokens x width each, and the neurons tokens x neurons. */
export interface Written {
  embedding: Float32Array
  layers: { attention: Float32Array; mlp: Float32Array; activations: Float32Array }[]
  final: Float32Array
  normed: Float32Array
}

export interface ExportedLimits {
  contextTokens: number
  maxBytes: number
}

const MAX_PASS_TOKENS = 1_000_000

/** @throws {ModelError} saying why the files are not a decoder that can be run here. */
export function inspectExported(path: string, { maxBytes }: Pick<ExportedLimits, 'maxBytes'>): ExportedFacts {
  return exportedFactsOf(readExported(path, maxBytes))
}

/** @throws {ModelError} as `inspectExported`, or where ONNX Runtime is missing or refuses the graph. */
export async function loadExported(path: string, limits: ExportedLimits): Promise<ExportedModel> {
  const files = readExported(path, limits.maxBytes)
  const facts = exportedFactsOf(files)
  const { createSession, Tensor } = await loadOnnxRuntime()
  const { bytes, factors } = instrument(files.model, facts.writers)
  const session = await createSession(bytes)
  const { decoder, writers } = facts
  const maxTokens = Math.min(limits.contextTokens, facts.contextTokens ?? limits.contextTokens)

  async function pass({ texts, cache, edits = [], capture = false }: PassRequest): Promise<Pass> {
    const [length = 0, count] = [texts[0]?.length, texts.length]
    const before = cache?.tokens ?? 0
    check(texts, length, before)
    const feeds = {
      ...inputsOf(texts, length, before),
      ...(cache?.tensors ?? emptyCache(count)),
      ...Object.fromEntries(factors.map((name, layer) => [name, factorsOf(layer, edits, count, length)])),
    }
    const wanted = [
      decoder.logits,
      ...decoder.cache.map(({ output }) => output),
      ...(capture && writers !== undefined ? namesOf(writers) : []),
    ]
    const made = await run(session, feeds, wanted)
    const logits = floatsOf(made, decoder.logits)
    const rows = logits.length / decoder.vocabulary / count
    if (!Number.isInteger(rows) || rows < 1) throw failed('its logits have an unexpected size')
    const { vocabulary } = decoder
    return {
      // Some decoders give the logits of the last token alone.
      logits: texts.map((_, text) =>
        logits.slice(((text + 1) * rows - 1) * vocabulary, (text + 1) * rows * vocabulary),
      ),
      cache:
        decoder.cache.length === 0
          ? undefined
          : {
              tokens: before + length,
              tensors: Object.fromEntries(decoder.cache.map(({ input, output }) => [input, tensorOf(made, output)])),
            },
      written: capture && writers !== undefined ? writtenOf(made, writers, length) : undefined,
    }
  }

  function check(texts: PassRequest['texts'], length: number, before: number): void {
    if (texts.length < 1 || (texts.length > 1 && !decoder.hasBatch)) throw new TypeError('the decoder takes one text')
    if (length < 1) throw modelError('request_invalid', 'The text is empty.')
    if (before + length > maxTokens) {
      throw modelError('request_invalid', `The text has ${before + length} tokens; ${maxTokens} is the limit.`)
    }
    if (texts.length * length > MAX_PASS_TOKENS) throw modelError('request_invalid', 'The texts are too long together.')
    const size = Math.min(decoder.vocabulary, facts.tokenizer.size)
    const wrong = texts.flat().find((token) => !Number.isInteger(token) || token < 0 || token >= size)
    if (wrong !== undefined) throw modelError('request_invalid', `${wrong} is no token of the model.`)
  }

  function inputsOf(texts: PassRequest['texts'], length: number, before: number): Record<string, Tensor> {
    const count = texts.length
    const whole = (values: readonly number[], columns: number) =>
      decoder.index === 'int32'
        ? new Tensor('int32', Int32Array.from(values), [count, columns])
        : new Tensor('int64', BigInt64Array.from(values, BigInt), [count, columns])
    const { ids, mask, positions, usesCache } = decoder
    const all = before + length
    return {
      [ids]: whole(texts.flat(), length),
      ...(mask && { [mask]: whole(new Array(count * all).fill(1), all) }),
      ...(positions && {
        [positions]: whole(
          texts.flatMap((text) => text.map((_, index) => before + index)),
          length,
        ),
      }),
      ...(usesCache && { [usesCache]: new Tensor('bool', [before > 0], [1]) }),
    }
  }

  function emptyCache(count: number): Record<string, Tensor> {
    return Object.fromEntries(
      decoder.cache.map(({ input, heads, size, element }) => {
        const dims = [count, heads, 0, size]
        return [
          input,
          element === 'float32'
            ? new Tensor('float32', new Float32Array(), dims)
            : new Tensor('float16', new Uint16Array(), dims),
        ]
      }),
    )
  }

  function factorsOf(layer: number, edits: NonNullable<PassRequest['edits']>, count: number, length: number): Tensor {
    const neurons = writers?.neurons ?? 0
    const isEdited = edits.some((own) => own.some((edit) => edit.layer === layer))
    if (!isEdited) return new Tensor('float32', Float32Array.of(1), [1, 1, 1])
    const values = new Float32Array(count * length * neurons).fill(1)
    edits.forEach((own, text) => {
      for (const { position, neuron, factor, ...edit } of own) {
        if (edit.layer !== layer) continue
        const from = (text * length + position) * neurons
        if (neuron === undefined) values.fill(factor, from, from + neurons)
        else values[from + neuron] = factor
      }
    })
    return new Tensor('float32', values, [count, length, neurons])
  }

  return { ...facts, maxTokens, pass }
}

async function run(session: OnnxSession, feeds: Record<string, Tensor>, wanted: readonly string[]) {
  try {
    return await session.run(feeds, [...new Set(wanted)])
  } catch (error) {
    throw failed(error instanceof Error ? error.message.slice(0, 300) : 'no reason given', error)
  }
}

function namesOf({ embedding, layers, final, normed }: ResidualWriters): string[] {
  return [
    embedding,
    ...layers.flatMap(({ attention, mlp, activations }) => [attention, mlp, activations]),
    final,
    normed,
  ]
}

function writtenOf(made: Readonly<Record<string, unknown>>, writers: ResidualWriters, length: number): Written {
  const rows = (name: string, width: number) => {
    const values = floatsOf(made, name)
    if (values.length !== length * width) throw failed('what its layers write has an unexpected size')
    return values
  }
  const { width, neurons } = writers
  return {
    embedding: rows(writers.embedding, width),
    layers: writers.layers.map(({ attention, mlp, activations }) => ({
      attention: rows(attention, width),
      mlp: rows(mlp, width),
      activations: rows(activations, neurons),
    })),
    final: rows(writers.final, width),
    normed: rows(writers.normed, width),
  }
}

function tensorOf(made: Readonly<Record<string, unknown>>, name: string): Tensor {
  return made[name] as Tensor
}

function floatsOf(made: Readonly<Record<string, unknown>>, name: string): Float32Array {
  const { data } = tensorOf(made, name)
  if (!(data instanceof Float32Array)) throw failed('an output is no list of floats')
  return data
}

const failed = (reason: string, cause?: unknown) =>
  modelError('model_file_invalid', `The decoder can not run: ${reason}.`, cause)
