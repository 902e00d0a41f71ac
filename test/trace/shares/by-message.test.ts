import { describe, expect, it } from 'vitest'
import { groupMessages, shareGraph } from '#src/trace/shares/by-message.ts'
import { kindOf, type Manifest, type ManifestLink, neuronOf } from '#src/trace/shares/graph.ts'
import { type Masking, maskGraph, POOL, type SharedGraph } from '#src/trace/shares/mask.ts'
import { createRandom, makeGraph } from './exact-graph.ts'

const SALT = Buffer.alloc(16, 7)
const WORDS = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`)
const turn = (role: string, words: number) => ['<|im_start|>', role, '\n', ...WORDS(words), '<|im_end|>', '\n']
const ANSWER = ['<|im_start|>', 'assist', 'ant', '\n']

/** A conversation of as many messages, 12 words each. */
function makeConversation(seed: number, roles = ['system', 'user'], kept = 1): Manifest {
  const texts = [...roles.flatMap((role) => turn(role, 12)), ...ANSWER]
  const graph = makeGraph(createRandom(seed), { positions: texts.length, layers: 3, neurons: 2, kept })
  return { ...graph, metadata: { ...graph.metadata, prompt_tokens: texts } }
}
const maskingOf = (hidden: readonly string[] = [], disclosed: readonly string[] = []): Masking => ({
  masks: hidden.length === 0 ? [] : [{ nodeIds: new Set(hidden), reveals: ['position'] }],
  disclosed: new Set(disclosed),
  salt: SALT,
})
function publish(manifest: Manifest, masking = maskingOf()): SharedGraph {
  const graph = shareGraph(manifest, masking, { revealsPrompt: false })
  if (graph === undefined) throw new Error('the text is too short')
  return graph
}
const neuronsAt = ({ nodes }: Manifest, position: number) =>
  nodes.filter((node) => kindOf(node) === 'neuron' && node.ctx_idx === position).map(({ node_id }) => node_id)
const lastOf = ({ metadata }: Manifest) => metadata.prompt_tokens.length - 1
function sumsOf(links: readonly ManifestLink[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { target, weight } of links) sums.set(target, (sums.get(target) ?? 0) + weight)
  return sums
}

it('a graph by message leaves out a probability that is not shown, and has no null in its place', () => {
  const manifest = makeConversation(3)
  const pruned = { ...manifest, links: manifest.links.filter(({ source }) => !source.startsWith('R_')) }
  const [masked = ''] = neuronsAt(pruned, lastOf(pruned))
  const probabilities = (graph: SharedGraph) =>
    graph.nodes
      .filter((node) => kindOf(node) === 'logit')
      .map((node) => ('token_prob' in node ? typeof node.token_prob : '-'))
  expect(new Set(probabilities(publish(manifest)))).toEqual(new Set(['number']))
  expect(new Set(probabilities(publish(pruned, maskingOf([masked]))))).toEqual(new Set(['-']))
})

describe('the messages of a text', () => {
  it('are told by the turns of the template, and a short one is one with its neighbour', () => {
    const texts = [...turn('system', 9), ...turn('user', 2), ...turn('tool', 8), ...ANSWER, 'word']
    expect(groupMessages(texts)).toEqual([
      { name: 'system', end: 14 },
      { name: 'user, tool, assistant', end: texts.length },
    ])
    expect(
      groupMessages(['<|im_start|>', 'us', 'er', '\n', ...WORDS(16), '<|im_end|>']).map(({ name }) => name),
    ).toEqual(['user'])
  })

  it('are one where there is no template, and none where the text can be tried as a whole', () => {
    expect(groupMessages(WORDS(16))).toEqual([{ name: 'text', end: 16 }])
    expect(groupMessages(WORDS(15))).toEqual([])
    // The tokens of the template are known to everybody.
    expect(groupMessages([...turn('system', 10), ...turn('user', 5), ...ANSWER])).toEqual([])
    expect(groupMessages([...turn('system', 10), ...turn('user', 6), ...ANSWER])).toHaveLength(1)
    expect(groupMessages([])).toEqual([])
  })

  it('have the name of a role that is known, and no other word of the text', () => {
    const [group] = groupMessages(turn('a secret', 20))
    expect(group?.name).toBe('text')
  })
})

describe('a graph by message', () => {
  it('has no number, name or count of a position before the last', () => {
    const manifest = makeConversation(1, ['system', 'user', 'tool'])
    const graph = publish(manifest)
    expect(graph.metadata.prompt_tokens).toEqual(['system', 'user', 'tool, assistant'])
    expect(graph.nodes.every(({ ctx_idx }) => ctx_idx < 3)).toBe(true)
    const ids = new Set(graph.nodes.map(({ node_id }) => node_id))
    expect(ids.size).toBe(graph.nodes.length)
    for (const { source, target } of graph.links) expect([ids.has(source), ids.has(target)]).toEqual([true, true])
    const neurons = graph.nodes.filter((node) => kindOf(node) === 'neuron').map(({ node_id }) => node_id)
    const own = neuronsAt(manifest, lastOf(manifest)).filter((id) => !id.startsWith('0_'))
    expect(neurons.toSorted()).toEqual(own.map((id) => `${neuronOf(id)}_2`).toSorted())
    // Each activation, weight and probability has three digits.
    for (const value of [
      ...graph.links.map(({ weight }) => weight),
      ...graph.nodes.map(({ activation }) => activation),
    ]) {
      expect(value ?? 0).toBe(Number((value ?? 0).toPrecision(3)))
    }
    // Of a message there is what it adds to logits: what it adds to a neuron is in the sum of all.
    const logits = new Set(graph.nodes.filter((node) => kindOf(node) === 'logit').map(({ node_id }) => node_id))
    for (const { source, target } of graph.links) {
      if (source === 'M') expect(logits.has(target)).toBe(false)
      if (source.startsWith('M_')) expect(logits.has(target)).toBe(true)
    }
    expect(graph.metadata.svc).not.toHaveProperty('links')
  })

  it.each([0, 2, 5])('closes each of its rows, %i neurons masked', (count) => {
    const manifest = makeConversation(2)
    const last = lastOf(manifest)
    const hidden = neuronsAt(manifest, last).slice(0, count)
    const graph = publish(manifest, maskingOf(hidden))
    const [before, after] = [sumsOf(manifest.links), sumsOf(graph.links)]
    const rows = graph.nodes.filter((node) => kindOf(node) === 'neuron')
    expect(rows).toHaveLength(
      neuronsAt(manifest, last).filter((id) => !id.startsWith('0_') && !hidden.includes(id)).length,
    )
    for (const { node_id: id } of rows) {
      expect(after.get(id)).toBeCloseTo(before.get(`${neuronOf(id)}_${last}`) ?? Number.NaN, 1)
    }
    expect(graph.links.some(({ source }) => source === POOL)).toBe(count > 0)
  })

  it('follows from the graph with positions: what that hides, this does not know', () => {
    const manifest = makeConversation(3, ['system', 'user'], 0.5)
    const hidden = [...neuronsAt(manifest, lastOf(manifest)).slice(0, 2), ...neuronsAt(manifest, 5).slice(0, 1)]
    const masking = maskingOf(hidden)
    const { nodes, links, metadata } = maskGraph(manifest, masking)
    // As if the published graph were the whole truth.
    const again = publish({
      nodes: nodes.filter(({ node_id }) => node_id !== POOL),
      links: links.filter(({ source }) => source !== POOL),
      metadata: { ...manifest.metadata, svc: metadata.svc },
    })
    const graph = publish(manifest, masking)
    const visible = (one: SharedGraph) =>
      one.links
        .filter(({ source }) => source !== POOL && !source.startsWith('M'))
        .map(({ weight }) => weight)
        .toSorted()
    expect(visible(again)).toEqual(visible(graph))
    expect(JSON.stringify(graph)).not.toMatch(/R_|E_/)
    expect(graph.metadata.svc.masked.map(({ position }) => position).toSorted()).toEqual([0, 1, 1])
  })

  it('shows 16 neurons of a layer and 10 logits, the strongest, and what a grant unmasks before them', () => {
    const base = makeConversation(4)
    const last = lastOf(base)
    const many = makeGraph(createRandom(4), {
      positions: base.metadata.prompt_tokens.length,
      layers: 2,
      neurons: 20,
      logits: 12,
      kept: 0.3,
    })
    const manifest = { ...many, metadata: { ...many.metadata, prompt_tokens: base.metadata.prompt_tokens } }
    const whole = publish(manifest)
    const named = (graph: SharedGraph) =>
      graph.nodes.filter((node) => kindOf(node) === 'neuron').map(({ node_id }) => neuronOf(node_id))
    expect(named(whole)).toHaveLength(16)
    expect(whole.nodes.filter((node) => kindOf(node) === 'logit')).toHaveLength(10)
    const left = neuronsAt(manifest, last).filter((id) => id.startsWith('1_') && !named(whole).includes(neuronOf(id)))
    const granted = publish(manifest, maskingOf(left, left))
    expect(named(granted)).toEqual(expect.arrayContaining(left.map(neuronOf)))
    expect(granted.metadata.svc.disclosed).toHaveLength(left.length)
    expect(named(publish(manifest, maskingOf(left)))).toEqual(named(whole))
  })

  it('is not there for a short text, unless the share reveals the prompt', () => {
    const short = makeGraph(createRandom(6))
    expect(shareGraph(short, maskingOf(), { revealsPrompt: false })).toBeUndefined()
    expect(shareGraph(short, maskingOf(), { revealsPrompt: true })).toEqual(maskGraph(short, maskingOf()))
  })
})
