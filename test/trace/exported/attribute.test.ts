// Attribution of exported decoders, against the service's own engine over the same weights.

import { describe, expect, it } from 'vitest'
import type { AttributionRequest, GraphNode } from '#src/trace/attribution/attribute.ts'
import { dot, freeze, layerOf, mlpOutputOf, readVectorOf } from '#src/trace/attribution/frozen.ts'
import { attributeExported } from '#src/trace/exported/attribute.ts'
import { loadExported } from '#src/trace/exported/decoder.ts'
import { computeDirect } from '#src/trace/exported/direct.ts'
import { interveneExported } from '#src/trace/exported/intervene.ts'
import { loadModel } from '#src/trace/llama/model.ts'
import { TINY } from '../../support/models.ts'
import { createDecoderFolder, EXPORTED } from '../../support/onnx.ts'

const LIMITS = { contextTokens: 512, maxBytes: 1e9 }
const tiny = loadModel(TINY, LIMITS)
const decoder = await loadExported(EXPORTED.dynamo, LIMITS)
const MESSAGES = [
  { role: 'system' as const, content: 'You are an agent. Tools: search, read, pay, send.' },
  { role: 'user' as const, content: 'What do lamps cost at Cobalt Tools?' },
]
const tokens = tiny.chat?.render(MESSAGES).tokens ?? []
const request: AttributionRequest = {
  tokens,
  method: 'ablation',
  maxFeatureNodes: 48,
  maxLogits: 5,
  desiredLogitProbability: 0.95,
  thresholds: { node: 1, edge: 1 },
}
const neuronsOf = (nodes: readonly GraphNode[]) => nodes.filter((node) => node.kind === 'neuron')

describe('direct attribution', () => {
  it('adds up to each logit, by parts that the forward pass has too', async () => {
    const pass = await freeze(tiny, tokens, { maxBytes: 1e9 })
    const { logits, written } = await decoder.pass({ texts: [tokens], capture: true })
    if (decoder.writers === undefined || written === undefined) throw new Error('the inside is not known')
    const asked = [0, 5, 400, 1_026].map((token) => ({ token, logit: logits[0]?.[token] ?? Number.NaN }))
    const { rows, neurons, sumCheck } = computeDirect(decoder.writers, written, asked)
    expect(sumCheck).toMatchObject({ rows: 4 })
    expect(sumCheck.maxError).toBeLessThan(1e-4)
    const { width, mlp } = tiny.shape
    const place = { otherFrom: (tokens.length - 1) * width, count: width }
    rows.forEach(({ token, logit, embedding, attention, mlp: parts }, index) => {
      const read = readVectorOf(pass, token)
      expect([embedding, ...attention, ...parts].reduce((sum, part) => sum + part, 0)).toBeCloseTo(logit, 3)
      expect(embedding).toBeCloseTo(dot(read, layerOf(pass, 0).residual, place), 3)
      for (let layer = 0; layer < 3; layer += 1) {
        const { middle, residual } = layerOf(pass, layer)
        const added = middle.map((value, at) => value - (residual[at] ?? 0))
        expect(attention[layer]).toBeCloseTo(dot(read, added, place), 3)
        expect(parts[layer]).toBeCloseTo(dot(read, mlpOutputOf(pass, layer), place), 3)
        expect(neurons[layer]?.[index]?.length).toBe(mlp)
      }
    })
  })

  it('fails where the parts do not add up', async () => {
    const { logits, written } = await decoder.pass({ texts: [tokens], capture: true })
    if (decoder.writers === undefined || written === undefined) throw new Error('the inside is not known')
    const { layers, ...rest } = written
    const lost = layers.map((layer, index) =>
      index === 1 ? { ...layer, attention: layer.attention.map(() => 0) } : layer,
    )
    const asked = [{ token: 5, logit: logits[0]?.[5] ?? Number.NaN }]
    expect(() => computeDirect(decoder.writers as never, { ...rest, layers: lost }, asked)).toThrow(/direct parts/)
  })
})

describe('an attribution by ablation', () => {
  it('measures what the forward pass does without each neuron, and says what it writes directly', async () => {
    const reports: number[] = []
    const graph = await attributeExported(decoder, request, { onProgress: (done, total) => reports.push(done / total) })
    const neurons = neuronsOf(graph.nodes)
    expect(neurons.length).toBeGreaterThan(20)
    expect(new Set(neurons.map(({ position }) => position)).size).toBeGreaterThan(3)
    expect([graph.method, graph.sumCheck, graph.direct?.sumCheck.rows]).toEqual([
      'ablation',
      null,
      graph.direct?.rows.length,
    ])
    expect(reports.at(-1)).toBe(1)
    expect(reports).toEqual(reports.toSorted((one, other) => one - other))
    const { token, contrast } = graph.objective
    for (const { layer, position, neuron, effect, direct } of neurons) {
      tiny.llama.restart()
      const edits = [{ layer, position, neuron, factor: 0 }]
      const chunks = [tokens.slice(0, 32), tokens.slice(32)].filter(({ length }) => length > 0)
      const logits =
        chunks.map((chunk) => tiny.llama.feed(chunk, { logits: 'last', edits })).at(-1) ?? new Float32Array()
      const change = (logits[token] ?? 0) - (logits[contrast] ?? 0) - graph.objective.difference
      expect(Math.abs(effect + change)).toBeLessThan(1e-4)
      if (position < tokens.length - 1) expect(direct).toBe(0)
    }
    // In the last layer nothing comes after a neuron but the norm.
    for (const { layer, predicted, measured } of graph.verified) {
      if (layer === 2 && Math.abs(measured) > 0.05) expect(Math.sign(predicted)).toBe(Math.sign(measured))
    }
    expect(graph.verified.length).toBeGreaterThan(2)
    expect(graph.remainderShare).toBeGreaterThan(0)
    expect(graph.remainderShare).toBeLessThan(1)
    const logit = graph.nodes.findIndex((node) => node.kind === 'logit' && node.isTarget)
    expect(new Set(graph.links.targets)).toEqual(new Set([logit]))
  })

  it('is refused by other methods, for wrong sizes, and when it is aborted', async () => {
    for (const method of ['exact', 'grad_x_act'] as const) {
      await expect(attributeExported(decoder, { ...request, method })).rejects.toMatchObject({
        code: 'capability_missing',
      })
    }
    await expect(attributeExported(decoder, { ...request, maxFeatureNodes: 0 })).rejects.toMatchObject({
      code: 'request_invalid',
    })
    await expect(attributeExported(decoder, { ...request, target: 9_999 })).rejects.toMatchObject({
      code: 'request_invalid',
    })
    const signal = AbortSignal.abort()
    await expect(attributeExported(decoder, request, { signal })).rejects.toMatchObject({ code: 'aborted' })
  })
})

it('an intervention measures all edits at once, and predicts those of the last position', async () => {
  const last = tokens.length - 1
  const edits = [
    { layer: 2, position: last, neuron: 11, factor: 3 },
    { layer: 0, position: 4, neuron: 9, factor: 0 },
  ]
  const made = await interveneExported(decoder, { tokens, edits, topTokens: 3 })
  tiny.llama.restart()
  const chunks = [tokens.slice(0, 32), tokens.slice(32)].filter(({ length }) => length > 0)
  const after = chunks.map((chunk) => tiny.llama.feed(chunk, { logits: 'last', edits })).at(-1)
  for (const { token, after: changed } of made.tokens)
    expect(changed.logit).toBeCloseTo(after?.[token] ?? Number.NaN, 3)
  expect(made.edits[0]?.activationAfter).toBeCloseTo((made.edits[0]?.activationBefore ?? 0) * 3, 6)
  const only = await interveneExported(decoder, { tokens, edits: edits.slice(1), topTokens: 3 })
  expect(only.tokens.map(({ predictedChange }) => predictedChange)).toEqual(only.tokens.map(() => 0))
  const wrong = { tokens, edits: [{ layer: 3, position: 0, neuron: 0, factor: 0 }], topTokens: 3 }
  await expect(interveneExported(decoder, wrong)).rejects.toMatchObject({ code: 'request_invalid' })
})

it('a decoder whose form is not known completes texts, and says why it shows nothing', async () => {
  const folder = createDecoderFolder()
  try {
    const bias = {
      name: 'bias',
      element: 1,
      dims: [1],
      data: { kind: 'raw' as const, bytes: Buffer.from(Float32Array.of(1).buffer) },
    }
    const path = folder.change((graph) => ({
      ...graph,
      initializers: [...graph.initializers, bias],
      nodes: [
        ...graph.nodes.map((node) => ({
          ...node,
          outputs: node.outputs.map((one) => (one === 'logits' ? 'plain' : one)),
        })),
        { name: 'last', operator: 'Add', domain: '', inputs: ['plain', 'bias'], outputs: ['logits'], attributes: [] },
      ],
    }))
    const hidden = await loadExported(path, LIMITS)
    expect([hidden.writers, hidden.reason]).toEqual([undefined, expect.stringContaining('the logits are no product')])
    const [own, shown] = await Promise.all([hidden, decoder].map((one) => one.pass({ texts: [tokens] })))
    expect(own?.logits[0]?.[7]).toBeCloseTo((shown?.logits[0]?.[7] ?? 0) + 1, 4)
    await expect(attributeExported(hidden, request)).rejects.toMatchObject({ code: 'capability_missing' })
  } finally {
    folder.close()
  }
})
