// What a share tells somebody who has the file of its model.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { attribute } from '#src/trace/attribution/attribute.ts'
import { buildManifest } from '#src/trace/attribution/manifest.ts'
import { createInternals } from '#src/trace/llama/internals.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { groupMessages, shareGraph } from '#src/trace/shares/by-message.ts'
import { kindOf, type Manifest } from '#src/trace/shares/graph.ts'
import type { SharedGraph } from '#src/trace/shares/mask.ts'
import type { ChatMessage } from '#src/trace/tokenizer/chat.ts'
import { createModelFolder } from '../../support/gguf.ts'
import { SMOLLM2, SMOLLM2_NOTE, TINY } from '../../support/models.ts'
import { createNumbers, randomLlama } from '../../support/random-llama.ts'
import {
  createVocabulary,
  embeddings,
  estimateUp,
  findTokens,
  type Row,
  readerOfLogit,
  readerOfNeuron,
  rowsOf,
  searchToken,
  wordsBehind,
} from './prompt-attack.ts'

const MESSAGES: ChatMessage[] = [
  { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
  {
    role: 'user',
    content: 'Where is the invoice of Zanzibar that I paid last week? Send it to the office in Lisbon by mail.',
  },
]
const SECRET: ChatMessage[] = [
  { role: 'system', content: 'You help.' },
  {
    role: 'user',
    content: 'My password is 83517. Repeat my password after me, then say it is short and weak.',
  },
]
const PROMPTS: { messages: ChatMessage[] }[] = readFileSync(
  resolve(import.meta.dirname, '../../../src/trace/diffs/default-eval-set.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const tiny = loadModel(TINY, { contextTokens: 256, maxBytes: 1e8 })
const models = createModelFolder()
afterAll(models.close)
const words = createVocabulary(tiny, embeddings(tiny))

interface Explained {
  model: LoadedModel
  tokens: number[]
  /** Of content, with their first positions. */
  spans: { start: number; end: number }[]
  manifest: Manifest
  /** As it is published. */
  publish(revealsPrompt: boolean): SharedGraph
}

interface Wanted {
  neurons?: number
  masked?: readonly string[]
}

const explain = (model: LoadedModel, messages: readonly ChatMessage[], wanted: Wanted = {}) =>
  explainText(model, model.chat?.render(messages) ?? { tokens: [], spans: [] }, wanted)

/** A graph of which nothing is pruned. */
async function explainText(
  model: LoadedModel,
  { tokens, spans }: Pick<Explained, 'tokens' | 'spans'>,
  { neurons = 512, masked = [] }: Wanted,
): Promise<Explained> {
  const settings = {
    maxFeatureNodes: neurons,
    maxLogits: 20,
    desiredLogitProbability: 0.99999,
    thresholds: { node: 1, edge: 1 },
  }
  const graph = await attribute(model, { tokens, method: 'exact', ...settings }, { maxInternalsBytes: 512e6 })
  const manifest = buildManifest(graph, {
    jobId: 'job_test_01m7x7k7d2e6ts0a9n3v8wq5hc',
    traceId: 'trc_test_01m7x7k7d2e6ts0a9n3v8wq5hc',
    createdAt: new Date('2026-11-20T10:00:00Z'),
    settings,
    model: { versionId: 'countersign-tiny@0123456789abcdef', sha256: model.sha256, backend: 'embedded' },
    canary: null,
    generator: { version: '1.0.0', url: 'https://api.example' },
    findLabel: () => undefined,
  }) as unknown as Manifest
  const masks = [{ nodeIds: new Set(masked), reveals: [] }]
  const publish = (revealsPrompt: boolean) => {
    const made = shareGraph(manifest, { masks, disclosed: new Set(), salt: Buffer.alloc(16, 7) }, { revealsPrompt })
    if (made === undefined) throw new Error('the text is too short')
    return made
  }
  return { model, tokens, spans, manifest, publish }
}

const activationOf = ({ nodes }: Manifest, id: string) => nodes.find(({ node_id }) => node_id === id)?.activation ?? 0

describe('least squares over the links of embeddings', () => {
  it('read every token in a graph with positions, and then give every masked neuron', async () => {
    const masked = MASKED
    const { model, tokens, manifest, publish } = await explain(tiny, MESSAGES, { masked })
    for (const id of masked) expect(manifest.nodes.some(({ node_id }) => node_id === id)).toBe(true)
    const found = findTokens(words, publish(true))
    expect(found).toEqual(tokens)

    const internals = createInternals(model.shape, found.length, { neurons: true }, 1e9)
    model.llama.restart()
    for (let from = 0; from < found.length; from += 32) {
      const piece = found.slice(from, from + 32).map((token) => token ?? 0)
      model.llama.feed(piece, { internals, logits: 'none' })
    }
    for (const id of masked) {
      const [layer = 0, neuron = 0, position = 0] = id.split('_').map(Number)
      const place = position * model.shape.mlp + neuron
      const { gate, up } = internals.layers[layer] ?? { gate: [], up: [] }
      expect((gate[place] ?? 0) * (up[place] ?? 0)).toBeCloseTo(activationOf(manifest, id), 4)
    }
    // Without positions there is no node of an embedding, nor of a neuron of the first layer.
    expect(findTokens(words, publish(false)).filter((token) => token !== undefined)).toEqual([])
  })
})

const MASKED = ['2_249_72', '1_30_72']

describe('least squares over pooled links', () => {
  it('find no more words of a message than the links of another prompt do', { timeout: 120_000 }, async () => {
    const known = tiny.chat?.render([{ role: 'user', content: '' }]).tokens.slice(0, 4) ?? []
    const vocabularies = { embedding: words, context: createVocabulary(tiny, wordsBehind(tiny, known)) }
    const tallies = new Map<string, { own: number; other: number; chance: number }>()
    const before = new Map<string, Source>()
    for (let index = 0; index < PROMPTS.length; index += 70) {
      const explained = await explain(tiny, PROMPTS[index]?.messages ?? [])
      for (const source of sourcesOf(explained)) {
        const { kind, content, group } = source
        const other = before.get(`${kind} ${group}`)
        before.set(`${kind} ${group}`, source)
        if (other === undefined) continue
        for (const [name, { rank }] of Object.entries(vocabularies)) {
          const tally = tallies.get(`${kind}, ${name}`) ?? { own: 0, other: 0, chance: 0 }
          tallies.set(`${kind}, ${name}`, tally)
          // As many as the message has.
          const hits = ({ rows }: Source) =>
            rank(rows)
              .slice(0, content.size)
              .filter((token) => content.has(token)).length
          tally.own += hits(source)
          tally.other += hits(other)
          tally.chance += content.size ** 2 / tiny.shape.vocabulary
        }
      }
    }
    expect(tallies.size).toBe(6)
    for (const [name, { own, other, chance }] of tallies) {
      if (name === 'first layer, embedding') expect([name, own > 3 * chance]).toEqual([name, true])
      else if (!name.startsWith('first layer'))
        expect([name, own <= other + 3 * Math.sqrt(other)]).toEqual([name, true])
    }
  })
})

/** Links of one source to readers of one layer. */
interface Source {
  kind: string
  group: number
  rows: Row[]
  /** The tokens of its messages that are not of the template. */
  content: Set<number>
}

function sourcesOf({ model, tokens, spans, manifest, publish }: Explained): Source[] {
  const graph = publish(false)
  const groups = groupMessages(manifest.metadata.prompt_tokens)
  const contentOf = (group: number | undefined) => {
    const from = group === undefined ? 0 : (groups[group - 1]?.end ?? 0)
    const to = group === undefined ? tokens.length : (groups[group]?.end ?? 0)
    const isContent = (at: number) => at >= from && at < to && spans.some(({ start, end }) => at >= start && at < end)
    return new Set(tokens.filter((_, at) => isContent(at)))
  }
  const layers = new Map(graph.nodes.map(({ node_id, layer }) => [node_id, layer]))
  const fromText = graph.links.filter(({ source }) => source === 'M')
  const ofNeurons = [...Map.groupBy(fromText, ({ target }) => layers.get(target)).values()].map((links, group) => ({
    kind: 'neurons',
    group,
    rows: links.map(({ target, weight }) => ({ reader: readerOfNeuron(model, target), weight })),
    content: contentOf(undefined),
  }))
  // The attacker is told which token each logit is: those are found from links of the last layer.
  const logits = manifest.nodes.filter((node) => kindOf(node) === 'logit')
  const tokenOf = (id: string) => {
    const shown = graph.nodes.find(({ node_id }) => node_id === id)
    return logits.find(({ token_prob }) => Number(token_prob?.toPrecision(3)) === shown?.token_prob)?.feature
  }
  const ofLogits = groups.map((_, group) => ({
    kind: 'logits',
    group,
    rows: graph.links
      .filter(({ source }) => source === `M_${group}`)
      .flatMap(({ target, weight }) => {
        const token = tokenOf(target)
        return typeof token === 'number' ? [{ reader: readerOfLogit(model, token), weight }] : []
      }),
    content: contentOf(group),
  }))
  // What pooling alone would publish of the first layer.
  const naive = groups.map(({ end }, group) => {
    const pooled = new Map<string, number>()
    for (const { source, target, weight } of publish(true).links) {
      const [at, [layer, , position]] = [Number(source.split('_')[1]), target.split('_')]
      const isOwn = source.startsWith('E_') && at < end && at >= (groups[group - 1]?.end ?? 0)
      if (!isOwn || layer !== '0' || Number(position) !== tokens.length - 1) continue
      pooled.set(target, (pooled.get(target) ?? 0) + weight)
    }
    const rows = [...pooled].map(([target, weight]) => ({ reader: readerOfNeuron(model, target), weight }))
    return { kind: 'first layer', group, rows: rows.slice(0, 32), content: contentOf(group) }
  })
  return [...ofNeurons, ...ofLogits, ...naive]
}

describe('rows of a layer', () => {
  // As many equations as the layer reads numbers.
  it('give a masked neuron of it in a graph with positions, and not by message', async () => {
    const path = models.write('rows.gguf', randomLlama({ layers: 3, width: 64, heads: 4, kvHeads: 2, mlp: 160 }, 3))
    const model = loadModel(path, { contextTokens: 64, maxBytes: 1e8 })
    const numbers = createNumbers(4)
    const text = { tokens: Array.from({ length: 20 }, () => Math.floor(numbers() * 256)), spans: [] }
    const whole = await explainText(model, text, { neurons: 640 })
    const [id = ''] = whole.manifest.nodes.flatMap((node) =>
      kindOf(node) === 'neuron' && node.layer === '1' && node.ctx_idx === 19 ? [node.node_id] : [],
    )
    const truth = whole.manifest.links.reduce((sum, { target, weight }) => (target === id ? sum + weight : sum), 0)
    const { publish } = await explainText(model, text, { neurons: 640, masked: [id] })
    const [open, pooled] = [true, false].map((revealsPrompt) => {
      const rows = rowsOf(model, publish(revealsPrompt), 1, revealsPrompt ? 19 : 0)
      return { rows: rows.length, ...estimateUp(model, rows, id) }
    })
    expect(open?.open).toBeLessThan(1e-6)
    expect(open?.up).toBeCloseTo(truth, 3)
    expect(pooled?.rows).toBe(16)
    // Of its variance.
    expect(pooled?.open).toBeGreaterThan(0.5)
    expect(Math.abs((pooled?.up ?? 0) / truth - 1)).toBeGreaterThan(0.1)
  })
})

describe('a search from the left', () => {
  it('on the tiny model reads a message in a graph with positions, and no more than by chance by message', async () => {
    const { tokens, spans, publish } = await explain(tiny, MESSAGES)
    const { start = 0, end = 0 } = spans.at(-1) ?? {}
    const numbers = createNumbers(7)
    const first = tokens.slice(start, start + 24)
    // It knows the template, the message before, and tokens at which a graph shows no neuron: least squares find those. What
    // it takes for a token is what the next guess follows.
    const read = (graph: SharedGraph) => {
      const prefix = tokens.slice(0, start)
      const guesses = first.map((token) => {
        const others = Array.from({ length: 99 }, () => Math.floor(numbers() * tiny.shape.vocabulary))
        const guess = { prefix, tail: tokens.slice(end), candidates: [...others, token] }
        const [best] = searchToken(tiny, [graph], guess)
        prefix.push(best ?? token)
        return best === undefined ? 'shown nothing' : best === token ? 'right' : 'wrong'
      })
      return (what: string) => guesses.filter((one) => one === what).length
    }
    const [open, pooled] = [read(publish(true)), read(publish(false))]
    expect([open('wrong'), pooled('shown nothing')]).toEqual([0, 0])
    expect(open('right')).toBeGreaterThan(8)
    expect(pooled('right')).toBeLessThanOrEqual(1)
  })

  it.skipIf(SMOLLM2 === undefined)(
    `on SmolLM2 finds tokens where a graph has positions, and none by message${SMOLLM2_NOTE}`,
    { timeout: 180_000 },
    async () => {
      const model = loadModel(SMOLLM2 ?? '', { contextTokens: 64, maxBytes: 1e9 })
      const { tokens, spans, publish } = await explain(model, SECRET, { neurons: 48 })
      const graphs = [publish(true), publish(false)]
      const { start = 0, end = 0 } = spans.at(-1) ?? {}
      const named = graphs[0]?.nodes.filter((node) => kindOf(node) === 'neuron').map(({ ctx_idx }) => ctx_idx)
      const places = [...new Set(named)].filter((at) => at >= start && at < end)
      expect(places.length).toBeGreaterThan(1)
      const numbers = createNumbers(7)
      // All before it is known.
      const found = places.slice(0, 3).map((at) => {
        const token = tokens[at] ?? 0
        const others = Array.from({ length: 99 }, () => Math.floor(numbers() * model.shape.vocabulary))
        const guess = { prefix: tokens.slice(0, at), tail: tokens.slice(end), candidates: [...others, token] }
        return searchToken(model, graphs, guess).map((best) => best === token)
      })
      expect(found).toEqual(found.map(() => [true, false]))
    },
  )
})
