// ONNX Runtime against the kernel: the same model, the same text, and the numbers that differ in their last bits.

import { afterAll, describe, expect, it } from 'vitest'
import { accelerate, openAccelerator } from '#src/trace/accelerator/accelerator.ts'
import { floatBytes } from '#src/trace/accelerator/floats.ts'
import { type AttributionRequest, attribute } from '#src/trace/attribution/attribute.ts'
import { intervene } from '#src/trace/attribution/intervene.ts'
import { feedText } from '#src/trace/llama/generation.ts'
import { createInternals, type Internals } from '#src/trace/llama/internals.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { createModelFolder } from '../../support/gguf.ts'
import { SMOLLM2, SMOLLM2_NOTE, TINY } from '../../support/models.ts'
import { HAS_ONNXRUNTIME, missingPackage, ONNXRUNTIME_NOTE } from '../../support/onnxruntime.ts'
import { createNumbers, randomLlama } from '../../support/random-llama.ts'

const LIMITS = { contextTokens: 512, maxBytes: 2e9 }
const ALL = { residuals: true, attention: true, neurons: true }
const BYTES = { maxInternalsBytes: 256e6 }
const models = createModelFolder()
afterAll(models.close)

const NAMED = [
  {
    name: 'random weights in groups of heads',
    path: models.write('grouped.gguf', randomLlama({ layers: 2, width: 24, heads: 6, kvHeads: 2, mlp: 36 }, 3)) as
      | string
      | undefined,
    count: 30,
  },
  {
    name: 'an output matrix of its own',
    path: models.write(
      'output.gguf',
      randomLlama({ layers: 3, width: 32, heads: 4, kvHeads: 4, mlp: 20, hasOutput: true }, 4),
    ),
    count: 12,
  },
  { name: 'the tiny model', path: TINY, count: 70 },
  { name: `SmolLM2${SMOLLM2_NOTE}`, path: SMOLLM2, count: 20 },
]

function randomTokens(count: number, vocabulary: number): number[] {
  const numbers = createNumbers(count * 5 + 2)
  return Array.from({ length: count }, () => Math.floor(numbers() * vocabulary))
}

async function acceleratedOf(model: LoadedModel) {
  return { ...model, accelerator: await openAccelerator(model, LIMITS) }
}

/** The largest distance, as a part of the largest number. */
function distance(one: ArrayLike<number>, other: ArrayLike<number>): number {
  expect(one.length).toBe(other.length)
  let [most, size] = [0, 0]
  for (let index = 0; index < one.length; index += 1) {
    const apart = Math.abs((one[index] ?? Number.NaN) - (other[index] ?? Number.NaN))
    most = Number.isNaN(apart) ? Number.NaN : Math.max(most, apart)
    size = Math.max(size, Math.abs(one[index] ?? 0))
  }
  return most / Math.max(1, size)
}

function expectClose(own: Internals, kernel: Internals): void {
  expect(own.filled).toBe(kernel.filled)
  own.layers.forEach((layer, number) => {
    for (const [name, values] of Object.entries(layer)) {
      const others = kernel.layers[number]?.[name as keyof typeof layer]
      expect(distance(values, others ?? []), `${name} of layer ${number}`).toBeLessThan(1e-4)
    }
  })
  for (const name of ['final', 'finalScale', 'normed'] as const) {
    expect(distance(own[name], kernel[name]), name).toBeLessThan(1e-4)
  }
}

const request: Omit<AttributionRequest, 'tokens'> = {
  method: 'exact',
  maxFeatureNodes: 48,
  maxLogits: 5,
  desiredLogitProbability: 0.95,
  thresholds: { node: 0.8, edge: 0.98 },
}

describe.skipIf(!HAS_ONNXRUNTIME)(`an accelerated model${ONNXRUNTIME_NOTE}`, () => {
  it.for(NAMED)('with $name has the logits and internals of the kernel to 1e-4', async ({ path, count }, context) => {
    if (path === undefined) return context.skip()
    const model = loadModel(path, LIMITS)
    const { feeder } = (await acceleratedOf(model)).accelerator
    const tokens = randomTokens(count, model.shape.vocabulary)
    const [own, kernel] = [1, 2].map(() => createInternals(model.shape, count, ALL, 1e9)) as [Internals, Internals]
    const logits = (await feedText(model.llama, tokens, { logits: 'last', internals: kernel })).slice()
    expect(distance(await feedText(feeder, tokens, { logits: 'last', internals: own }), logits)).toBeLessThan(1e-4)
    expectClose(own, kernel)
    // The same text in two pieces, the second of which sees the cache of the first.
    const parts = createInternals(model.shape, count, ALL, 1e9)
    feeder.restart()
    await feeder.feed(tokens.slice(0, 5), { internals: parts, logits: 'none' })
    const last = await feeder.feed(tokens.slice(5), { internals: parts })
    expect(distance(last, logits)).toBeLessThan(1e-4)
    expectClose(parts, kernel)
  })

  it.for(NAMED)('with $name has the graph of the kernel, and names its runtime', async ({ path, count }, context) => {
    if (path === undefined) return context.skip()
    const model = loadModel(path, LIMITS)
    const tokens = randomTokens(count, model.shape.vocabulary)
    const kernel = await attribute(model, { ...request, tokens }, BYTES)
    const own = await attribute(await acceleratedOf(model), { ...request, tokens }, BYTES)
    expect(kernel.runtime).toBeUndefined()
    expect(own.runtime).toMatch(/^onnxruntime-node \d+\.\d+\.\d+ \w+-\w+$/)
    expect(own.sumCheck?.rows).toBe(kernel.sumCheck?.rows)
    expect(own.sumCheck?.maxError).toBeLessThan(1e-4)
    const named = (graph: typeof own) =>
      graph.nodes.flatMap((node) => (node.kind === 'neuron' ? [`${node.layer}_${node.neuron}_${node.position}`] : []))
    expect(named(own)).toEqual(named(kernel))
    const effects = (graph: typeof own) => graph.nodes.flatMap((node) => (node.kind === 'neuron' ? [node.effect] : []))
    expect(distance(effects(own), effects(kernel))).toBeLessThan(1e-4)
    expect(
      distance(
        own.verified.map(({ measured }) => measured),
        kernel.verified.map(({ measured }) => measured),
      ),
    ).toBeLessThan(1e-3)
  })

  it('has the same graph each time, also after other texts', async () => {
    const model = await acceleratedOf(loadModel(TINY, LIMITS))
    const tokens = randomTokens(40, 700)
    const first = await attribute(model, { ...request, tokens }, BYTES)
    await attribute(model, { ...request, tokens: randomTokens(13, 700) }, BYTES)
    expect(await attribute(model, { ...request, tokens }, BYTES)).toEqual(first)
  })

  it('predicts and measures interventions as the kernel does', async () => {
    const model = loadModel(TINY, LIMITS)
    const edits = [
      { layer: 0, position: 2, neuron: 3, factor: 0 },
      { layer: 1, position: 8, neuron: 5, factor: 3 },
    ]
    const asked = { tokens: randomTokens(20, 700), edits, topTokens: 8 }
    const kernel = await intervene(model, asked, BYTES)
    const own = await intervene(await acceleratedOf(model), asked, BYTES)
    expect(own.tokens.map(({ token }) => token)).toEqual(kernel.tokens.map(({ token }) => token))
    for (const name of ['predictedChange', 'measuredChange'] as const) {
      expect(
        distance(
          own.tokens.map((one) => one[name]),
          kernel.tokens.map((one) => one[name]),
        ),
      ).toBeLessThan(1e-4)
    }
    expect([kernel.runtime, own.runtime === undefined]).toEqual([undefined, false])
  })

  it('leaves the texts of the kernel as they are', async () => {
    const model = loadModel(TINY, LIMITS)
    const { accelerator } = await acceleratedOf(model)
    const tokens = randomTokens(20, 700)
    model.llama.restart()
    model.llama.feed(tokens.slice(0, 19))
    await feedText(accelerator.feeder, randomTokens(30, 700), { logits: 'last' })
    const after = model.llama.feed(tokens.slice(19)).slice()
    model.llama.restart()
    model.llama.feed(tokens.slice(0, 19))
    expect(model.llama.feed(tokens.slice(19))).toEqual(after)
  })

  it('refuses tokens that it does not have, texts beyond its context and positions that it has not read', async () => {
    const { feeder } = (await acceleratedOf(loadModel(TINY, { ...LIMITS, contextTokens: 64 }))).accelerator
    for (const tokens of [[-1], [0.5], [1e9], randomTokens(65, 700)]) {
      await expect(feedText(feeder, tokens, { logits: 'last' })).rejects.toMatchObject({ code: 'request_invalid' })
      feeder.restart()
    }
    expect(() => feeder.rewind(1)).toThrow(RangeError)
  })
})

describe('a model that can not be accelerated', () => {
  const model = loadModel(TINY, LIMITS)

  it('says that the package is missing, and runs on the kernel', async () => {
    const made = await accelerate(model, { maxBytes: 2e9, load: missingPackage })
    expect(made.acceleration).toEqual({ problem: expect.stringMatching(/onnxruntime-node is not installed/) })
    expect(made.model).toBe(model)
    const tokens = randomTokens(20, 700)
    const graph = await attribute(made.model, { ...request, tokens }, BYTES)
    expect(graph).toEqual(await attribute(loadModel(TINY, LIMITS), { ...request, tokens }, BYTES))
    expect(graph).not.toHaveProperty('runtime')
  })

  it('says when its weights as floats need more memory than it may have', async () => {
    const maxBytes = model.kernel.bytes.length + floatBytes(model.shape) - 1
    const { acceleration } = await accelerate(model, { maxBytes, load: missingPackage })
    expect(acceleration).toEqual({ problem: expect.stringMatching(/^The weights as floats need \d+ MB/) })
  })
})
