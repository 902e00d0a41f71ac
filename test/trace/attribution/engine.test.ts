import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { ablate, agreementOf } from '#src/trace/attribution/ablation.ts'
import { type AttributionRequest, attribute } from '#src/trace/attribution/attribute.ts'
import { freeze } from '#src/trace/attribution/frozen.ts'
import { computeGradients } from '#src/trace/attribution/gradient.ts'
import { intervene } from '#src/trace/attribution/intervene.ts'
import { chooseObjective, differenceOf, readObjective } from '#src/trace/attribution/objective.ts'
import { computeExactRows } from '#src/trace/attribution/rows.ts'
import { byEffect, computeTotalEffects } from '#src/trace/attribution/total-effects.ts'
import { quantileOf } from '#src/trace/diffs/statistics.ts'
import { feedText } from '#src/trace/llama/generation.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import type { ChatMessage } from '#src/trace/tokenizer/chat.ts'
import { createModelFolder } from '../../support/gguf.ts'
import { SMOLLM2, SMOLLM2_NOTE, TINY } from '../../support/models.ts'
import { computeReference, createNumbers, type Reference, randomLlama } from '../../support/random-llama.ts'

const LIMITS = { contextTokens: 256, maxBytes: 512e6 }
const BYTES = { maxBytes: 256e6 }
const models = createModelFolder()
afterAll(models.close)

function randomTokens(count: number, vocabulary: number): number[] {
  const numbers = createNumbers(count * 7 + 1)
  return Array.from({ length: count }, () => Math.floor(numbers() * vocabulary))
}

async function explain(model: LoadedModel, tokens: readonly number[], limit: number) {
  const pass = await freeze(model, tokens, BYTES)
  const objective = chooseObjective(pass)
  const effects = await computeTotalEffects(pass, readObjective(pass, objective), limit)
  return { pass, objective, effects }
}

describe('the exact rows', () => {
  const CASES = [
    { layers: 1, width: 16, heads: 2, kvHeads: 2, mlp: 20 },
    { layers: 2, width: 24, heads: 3, kvHeads: 1, mlp: 36 },
    { layers: 3, width: 32, heads: 4, kvHeads: 2, mlp: 48, hasOutput: true },
    { layers: 5, width: 16, heads: 4, kvHeads: 4, mlp: 8 },
  ]
  const NAMED = [
    ...CASES.flatMap((sizes, index) =>
      [1, 9, 40].map((count) => ({
        name: `${sizes.layers} random layers and ${count} tokens`,
        path: models.write(`random-${index}.gguf`, randomLlama(sizes, index + 10)) as string | undefined,
        count,
        limit: 64,
      })),
    ),
    { name: 'the tiny model', path: TINY, count: 60, limit: 512 },
    { name: `SmolLM2${SMOLLM2_NOTE}`, path: SMOLLM2, count: 12, limit: 24 },
  ]

  it.for(NAMED)('of $name add up to the logits and to what each neuron reads', async (one, context) => {
    if (one.path === undefined) return context.skip()
    const model = loadModel(one.path, LIMITS)
    const { pass, effects } = await explain(model, randomTokens(one.count, model.shape.vocabulary), one.limit)
    const { rows, sumCheck } = await computeExactRows(pass, effects.selected, [0, 5])
    expect(rows).toHaveLength(effects.selected.length + 2)
    expect(sumCheck.maxError).toBeLessThan(1e-4)
    const sums = rows.map((row) => row.reduce((sum, weight) => sum + weight, 0))
    const targets = [
      ...effects.selected.map(({ activation, layer, position, neuron }) => {
        const gate = pass.internals.layers[layer]?.gate[position * model.shape.mlp + neuron] ?? 0
        return activation / gate
      }),
      pass.logits[0] ?? 0,
      pass.logits[5] ?? 0,
    ]
    targets.forEach((target, index) => {
      expect(Math.abs((sums[index] ?? 0) - target) / Math.max(1, Math.abs(target))).toBeLessThan(1e-4)
    })
  })

  it('are refused with their error when one does not add up', async () => {
    const { pass, effects } = await explain(loadModel(TINY, LIMITS), randomTokens(6, 700), 4)
    pass.logits[3] = (pass.logits[3] ?? 0) + 0.01
    await expect(computeExactRows(pass, effects.selected, [3])).rejects.toMatchObject({ code: 'attribution_inexact' })
  })
})

describe('against the frozen map in 64-bit floats', () => {
  const path = models.write('frozen.gguf', randomLlama({ layers: 3, width: 32, heads: 4, kvHeads: 2, mlp: 20 }, 7))
  const model = loadModel(path, LIMITS)
  const tokens = randomTokens(9, model.shape.vocabulary)
  const reference = computeReference(path, tokens)
  const last = tokens.length - 1

  /** The change of a value of the frozen map when one activation is replaced: the map is linear, so any change will do. */
  function changed(
    frozen: 'gates' | 'activations',
    factor: number,
    at: { layer: number; position: number; neuron: number },
  ): Reference {
    return computeReference(path, tokens, {
      reference,
      frozen,
      change: (layer, position, neuron, activation) =>
        layer === at.layer && position === at.position && neuron === at.neuron ? activation * factor : activation,
    })
  }

  it('each named edge is what the source adds to its target, other neurons held constant', async () => {
    const { pass, effects } = await explain(model, tokens, 30)
    const { rows } = await computeExactRows(pass, effects.selected, [11])
    for (const [column, source] of effects.selected.entries()) {
      const without = changed('activations', 0, source)
      for (const [row, target] of effects.selected.entries()) {
        const up = (pass: Reference) => pass.ups[target.layer]?.[target.position]?.[target.neuron] ?? 0
        expect(rows[row]?.[column]).toBeCloseTo(up(reference) - up(without), 5)
      }
      const logit = (pass: Reference) => pass.logits[last]?.[11] ?? 0
      expect(rows.at(-1)?.[column]).toBeCloseTo(logit(reference) - logit(without), 5)
    }
  })

  it('the total effect of a neuron is what the objective loses without it', async () => {
    const { objective, effects } = await explain(model, tokens, 40)
    const difference = ({ logits }: Reference) =>
      (logits[last]?.[objective.token] ?? 0) - (logits[last]?.[objective.contrast] ?? 0)
    for (const neuron of effects.selected) {
      expect(neuron.effect).toBeCloseTo(difference(reference) - difference(changed('gates', 0, neuron)), 5)
    }
    const all = await explain(model, tokens, 10_000)
    const largest = all.effects.selected.toSorted(byEffect).slice(0, 40)
    expect(effects.selected.toSorted(byEffect)).toEqual(largest)
    expect(all.effects.remainderShare).toBeCloseTo(0, 9)
  })

  it('an intervention predicts the change by several edits at once, one of which reads another', async () => {
    const edits = [
      { layer: 0, position: 2, neuron: 3, factor: 0 },
      { layer: 1, position: 8, neuron: 5, factor: 3 },
      { layer: 2, position: 8, neuron: 1, factor: -2 },
    ]
    const find = (layer: number, position: number, neuron: number) =>
      edits.find((edit) => edit.layer === layer && edit.position === position && edit.neuron === neuron)
    const frozen = computeReference(path, tokens, {
      reference,
      frozen: 'gates',
      change: (layer, position, neuron, activation) => activation * (find(layer, position, neuron)?.factor ?? 1),
    })
    const { tokens: shown, edits: made } = await intervene(
      model,
      { tokens, edits, topTokens: 8 },
      { maxInternalsBytes: 1e8 },
    )
    const changes = shown.map(
      ({ token }) => (frozen.logits[last]?.[token] ?? 0) - (reference.logits[last]?.[token] ?? 0),
    )
    const mean = changes.reduce((sum, change) => sum + change, 0) / changes.length
    shown.forEach(({ predictedChange }, index) => {
      expect(predictedChange).toBeCloseTo((changes[index] ?? 0) - mean, 4)
    })
    model.llama.restart()
    const after = await feedText(model.llama, tokens, { logits: 'last', edits })
    for (const { token, after: told } of shown) expect(told.logit).toBe(after[token])
    expect(made.map(({ activationAfter }) => activationAfter)).toEqual(
      made.map(({ activationBefore, factor }) => activationBefore * factor),
    )
  })
})

describe('the gradient', () => {
  it('is that of the model itself, nothing frozen, by finite differences', async () => {
    const path = models.write('gradient.gguf', randomLlama({ layers: 3, width: 32, heads: 4, kvHeads: 2, mlp: 20 }, 8))
    const model = loadModel(path, LIMITS)
    const tokens = randomTokens(10, model.shape.vocabulary)
    const pass = await freeze(model, tokens, BYTES)
    const objective = chooseObjective(pass)
    const { selected } = await computeGradients(pass, objective, 60)
    const differenceWith = async (neuron: (typeof selected)[number], factor: number) => {
      model.llama.restart()
      const edits = [{ ...neuron, factor }]
      return differenceOf(await feedText(model.llama, tokens, { logits: 'last', edits }), objective)
    }
    for (const neuron of selected) {
      const slope = ((await differenceWith(neuron, 1.02)) - (await differenceWith(neuron, 0.98))) / 0.04
      expect(Math.abs(neuron.effect - slope)).toBeLessThan(2e-3 * Math.max(1, Math.abs(slope)))
    }
  })
})

// Ten conversations of the kind that the model was trained on: what it has never read makes its logits noise.
const PROMPTS = readFileSync('src/trace/diffs/default-eval-set.jsonl', 'utf8')
  .trimEnd()
  .split('\n')
  .filter((_, index) => index % 42 === 20)
  .map((line) => (JSON.parse(line) as { messages: ChatMessage[] }).messages)

const SHORT = [
  'Please read the file notes.txt and send it to bob',
  'What is the weather today?',
  'Pay the invoice of 200 dollars',
  'List the open tickets',
  'Read the report and tell me the total',
  'Send the minutes to the team',
  'Delete the old backups',
  'Who wrote the last message?',
  'Find the address of the supplier',
  'Book a room for Monday',
]

describe('ablation', () => {
  async function agreementOver(prompts: readonly ChatMessage[][]) {
    const model = loadModel(TINY, LIMITS)
    const agreements = []
    for (const messages of prompts) {
      const tokens = model.chat?.render(messages).tokens ?? []
      const { pass, objective, effects } = await explain(model, tokens, 20)
      agreements.push(agreementOf(await ablate(pass, objective, effects.selected)))
    }
    const correlations = Float64Array.from(agreements, ({ correlation }) => correlation ?? 0).toSorted()
    return {
      sign: agreements.reduce((sum, { sign }) => sum + sign, 0) / agreements.length,
      correlation: quantileOf(correlations, 0.5),
    }
  }

  it('agrees with the predictions in sign for nine of ten neurons, and in size', async () => {
    expect(PROMPTS).toHaveLength(10)
    const { sign, correlation } = await agreementOver(PROMPTS)
    expect(sign).toBeGreaterThanOrEqual(0.9)
    expect(correlation).toBeGreaterThanOrEqual(0.8)
  })

  it('agrees less for short requests, which the model has seldom read: docs/trace/attribution.md has both figures', async () => {
    const { sign, correlation } = await agreementOver(SHORT.map((content) => [{ role: 'user', content }]))
    expect(sign).toBeGreaterThanOrEqual(0.85)
    expect(correlation).toBeGreaterThanOrEqual(0.5)
  })

  it('measures each neuron as a run from the first token on would', async () => {
    const model = loadModel(TINY, LIMITS)
    const tokens = randomTokens(30, 700)
    const { pass, objective, effects } = await explain(model, tokens, 12)
    const measured = await ablate(pass, objective, effects.selected)
    for (const neuron of measured) {
      model.llama.restart()
      const logits = await feedText(model.llama, tokens, { logits: 'last', edits: [{ ...neuron, factor: 0 }] })
      expect(neuron.measured).toBe(differenceOf(logits, objective) - objective.difference)
    }
  })
})

describe('a graph', () => {
  const request: AttributionRequest = {
    tokens: randomTokens(20, 700),
    method: 'exact',
    maxFeatureNodes: 64,
    maxLogits: 5,
    desiredLogitProbability: 0.95,
    thresholds: { node: 0.8, edge: 0.98 },
  }
  const options = { maxInternalsBytes: 1e8 }

  it('is the same from two loads of a model, and after other texts', async () => {
    const model = loadModel(TINY, LIMITS)
    const first = await attribute(model, request, options)
    await attribute(model, { ...request, tokens: randomTokens(33, 700) }, options)
    expect(await attribute(model, request, options)).toEqual(first)
    expect(await attribute(loadModel(TINY, LIMITS), request, options)).toEqual(first)
    expect(first.links.sources.length).toBeGreaterThan(20)
    expect(first.verified).toHaveLength(20)
  })

  it('explains the token that is asked for, also an unlikely one, and reports its progress', async () => {
    const steps: number[] = []
    const onProgress = (done: number, total: number) => steps.push(done / total)
    const graph = await attribute(loadModel(TINY, LIMITS), { ...request, target: 3 }, { ...options, onProgress })
    expect(graph.objective.token).toBe(3)
    const logits = graph.nodes.filter((node) => node.kind === 'logit')
    expect(logits.filter(({ isTarget }) => isTarget).map(({ token }) => token)).toEqual([3])
    expect(logits.length).toBeLessThanOrEqual(5)
    expect(steps).toEqual(steps.toSorted((one, other) => one - other))
    expect(steps.at(-1)).toBe(1)
  })

  it('by an approximate method has edges to the explained logit alone, and no sums', async () => {
    for (const method of ['grad_x_act', 'ablation'] as const) {
      const graph = await attribute(loadModel(TINY, LIMITS), { ...request, method }, options)
      expect(graph.sumCheck).toBeNull()
      const target = graph.nodes.findIndex((node) => node.kind === 'logit' && node.isTarget)
      expect(new Set(graph.links.targets)).toEqual(new Set([target]))
    }
  })

  it('ends when it is aborted', async () => {
    const controller = new AbortController()
    const onProgress = (done: number) => {
      if (done > 3) controller.abort()
    }
    const running = attribute(loadModel(TINY, LIMITS), request, { ...options, signal: controller.signal, onProgress })
    await expect(running).rejects.toMatchObject({ code: 'aborted' })
  })

  it('is refused where the request names what the model does not have, or needs too much memory', async () => {
    const model = loadModel(TINY, LIMITS)
    const refused = { code: 'request_invalid' }
    for (const change of [
      { target: model.shape.vocabulary },
      { target: -1 },
      { target: 0.5 },
      { maxFeatureNodes: 0 },
      { maxFeatureNodes: 1e9 },
      { tokens: [] },
      { tokens: randomTokens(257, 700) },
    ]) {
      await expect(attribute(model, { ...request, ...change }, options)).rejects.toMatchObject(refused)
    }
    await expect(attribute(model, request, { maxInternalsBytes: 1e4 })).rejects.toMatchObject(refused)
    const edit = { layer: 0, position: 0, neuron: 0, factor: 0 }
    for (const edits of [
      [],
      [edit, edit],
      [{ ...edit, layer: 3 }],
      [{ ...edit, position: 20 }],
      [{ ...edit, neuron: 352 }],
      [{ ...edit, factor: Number.NaN }],
    ]) {
      await expect(intervene(model, { tokens: request.tokens, edits, topTokens: 3 }, options)).rejects.toMatchObject(
        refused,
      )
    }
  })
})
