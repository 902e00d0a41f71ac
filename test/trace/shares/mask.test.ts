import { describe, expect, it } from 'vitest'
import { kindOf, type Manifest, type ManifestLink, type ManifestNode } from '#src/trace/shares/graph.ts'
import { type Mask, maskGraph, POOL, type SharedGraph } from '#src/trace/shares/mask.ts'
import { resolveMask } from '#src/trace/shares/rule.ts'
import { attack, type Seen } from './attack.ts'
import { createRandom, makeGraph, noise, type Random } from './exact-graph.ts'

const SALT = Buffer.alloc(16, 7)
const NONE: ReadonlySet<string> = new Set()
const maskOf = (nodeIds: readonly string[], reveals: Mask['reveals'] = []): Mask => ({
  nodeIds: new Set(nodeIds),
  reveals,
})
const neuronsOf = ({ nodes }: Manifest) =>
  nodes.filter((node) => kindOf(node) === 'neuron').map(({ node_id }) => node_id)
const remaindersOf = ({ nodes }: Manifest) =>
  nodes.filter((node) => kindOf(node) === 'remainder').map(({ node_id }) => node_id)

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Two to four shares of one trace: what each masks for the first time. */
function growing(manifest: Manifest, random: Random): string[][] {
  const neurons = shuffled(neuronsOf(manifest), random)
  const steps = Array.from({ length: 2 + Math.floor(random() * 3) }, () => 1 + Math.floor(random() * 2))
  return steps.map((count) => neurons.splice(0, count))
}

/** What is seen when the first `count` shares exist, by somebody to whom the masks of the first `granted` are disclosed. */
function see(
  manifest: Manifest,
  steps: readonly string[][],
  { count, granted }: { count: number; granted: number },
): Seen {
  const disclosed = new Set(steps.slice(0, granted).flat())
  const graph = maskGraph(manifest, { masks: steps.slice(0, count).map((ids) => maskOf(ids)), disclosed, salt: SALT })
  return seenOf(manifest, graph, new Set(steps.slice(granted, count).flat()))
}

function seenOf(manifest: Manifest, graph: SharedGraph, hidden: ReadonlySet<string>): Seen {
  // The names of logits are hashes; their links tell which is which, so the attacker is told.
  const names = new Map<string, string>()
  const logits = graph.nodes.filter((node) => kindOf(node) === 'logit')
  for (const node of manifest.nodes.filter((one) => kindOf(one) === 'logit')) {
    const row = manifest.links.filter(({ target }) => target === node.node_id)
    const own = logits.find(({ node_id }) =>
      row.some((link) =>
        graph.links.some(
          ({ source, target, weight }) => target === node_id && weight === link.weight && source !== POOL,
        ),
      ),
    )
    if (own !== undefined) names.set(node.node_id, own.node_id)
  }
  const nameOf = (node: ManifestNode) =>
    kindOf(node) === 'embedding' ? `E_${node.ctx_idx}` : (names.get(node.node_id) ?? node.node_id)
  return { ...graph, pool: new Set([...hidden, ...(hidden.size === 0 ? [] : remaindersOf(manifest))]), nameOf }
}

interface Tally {
  links: number
  /** Determined by the equations. */
  determined: number
  /** Estimated within 1 % of the truth. */
  hit: number
  leastOpen: number
}

/** Over the links of nodes that were visible in nothing of what was seen. */
function tallyOf(manifest: Manifest, seen: readonly Seen[], masked: readonly string[]): Tally {
  const { estimate } = attack(manifest, seen)
  const tally: Tally = { links: 0, determined: 0, hit: 0, leastOpen: 1 }
  const hidden = masked.filter((id) => seen.every(({ pool }) => pool.has(id)))
  for (const { source, target, weight } of manifest.links.filter((link) => hidden.includes(link.source))) {
    const found = estimate(source, target)
    if (found === undefined) continue
    tally.links += 1
    if (found.open < 1e-6) tally.determined += 1
    if (Math.abs(found.weight - weight) <= 0.01 * Math.abs(weight)) tally.hit += 1
    tally.leastOpen = Math.min(tally.leastOpen, found.open)
  }
  return tally
}

const sum = (tallies: readonly Tally[]) =>
  tallies.reduce((all, one) => ({
    links: all.links + one.links,
    determined: all.determined + one.determined,
    hit: all.hit + one.hit,
    leastOpen: Math.min(all.leastOpen, one.leastOpen),
  }))

describe('a least-squares attack on the graphs of one trace', () => {
  // At least two unknown weights in each sum: a linear estimate explains at most half of the variance of one, and comes within
  // 1 % of it by chance alone, in fewer than 2 of 100 links.
  it('over every view that there ever was, granted ones too, recovers no masked weight', () => {
    const tallies = Array.from({ length: 40 }, (_, seed) => {
      const random = createRandom(seed)
      const manifest = makeGraph(random, { kept: seed % 2 === 0 ? 1 : 0.35 })
      const steps = growing(manifest, random)
      const views = steps.flatMap((_step, index) =>
        [0, ...(random() < 0.5 ? [1] : [])].map((granted) => ({ count: index + 1, granted })),
      )
      const seen = views.map((view) => see(manifest, steps, view))
      return sum([tallyOf(manifest, seen, steps.flat()), tallyOf(manifest, seen.slice(-1), steps.flat())])
    })
    const { links, determined, hit, leastOpen } = sum(tallies)
    expect(links).toBeGreaterThan(700)
    expect(determined).toBe(0)
    expect(leastOpen).toBeGreaterThan(0.49)
    expect(hit / links).toBeLessThan(0.02)
  })

  it.each([
    [
      'masks that differ, each with company',
      (a: string, b: string, c: string) => [
        [a, b],
        [a, c],
      ],
    ],
    ['a pool of one', (a: string) => [[a]]],
  ])('recovers them from %s: so it is an attack', (_what, sharesOf) => {
    const tallies = Array.from({ length: 10 }, (_, seed) => {
      const random = createRandom(1_000 + seed)
      const manifest = makeGraph(random)
      const [a = '', b = '', c = ''] = shuffled(neuronsOf(manifest), random)
      // As a naive mask would: each share by itself, and the remainders left visible.
      const seen = sharesOf(a, b, c).map((ids) => {
        const graph = maskGraph(manifest, { masks: [maskOf(ids)], disclosed: NONE, salt: SALT })
        const share = { ...seenOf(manifest, graph, new Set(ids)), pool: new Set(ids) }
        return {
          ...share,
          links: share.links.map((link) => (link.source === POOL ? naiveLink(manifest, share, link) : link)),
        }
      })
      return tallyOf(manifest, seen, [a])
    })
    const { links, determined, hit } = sum(tallies)
    expect(links).toBeGreaterThan(20)
    // All but links between the nodes that are masked.
    expect(Math.min(determined, hit) / links).toBeGreaterThan(0.9)
  })
})

/** The sum of the masked neurons alone. */
function naiveLink(manifest: Manifest, { pool, nameOf }: Seen, link: ManifestLink): ManifestLink {
  const target = manifest.nodes.find((node) => nameOf(node) === link.target)?.node_id
  const row = manifest.links.filter((one) => one.target === target && pool.has(one.source))
  return { ...link, weight: row.reduce((total, { weight }) => total + weight, 0) }
}

describe('a published graph', () => {
  it('is the same whatever the masked neurons are, and whatever their weights are with the same sums', () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const random = createRandom(2_000 + seed)
      const manifest = makeGraph(random, { kept: seed % 2 === 0 ? 1 : 0.5 })
      const steps = growing(manifest, random)
      const masks = steps.map((ids) => maskOf(ids))
      const other = disguise(manifest, steps, random)
      const views = [manifest, other.manifest].map((one, index) =>
        maskGraph(one, {
          masks: index === 0 ? masks : other.steps.map((ids) => maskOf(ids)),
          disclosed: NONE,
          salt: SALT,
        }),
      )
      expect(views[1]).toEqual(views[0])
    }
  })

  it('has no text of prompt and completion, no sum, no score, and nothing of a masked neuron', () => {
    const manifest = makeGraph(createRandom(5))
    const [first = '', second = '', third = ''] = neuronsOf(manifest)
    const masked = manifest.nodes.filter(({ node_id }) => [first, second].includes(node_id))
    const named: Manifest = {
      ...manifest,
      metadata: {
        ...manifest.metadata,
        later: 'an unknown member',
        svc: { ...(manifest.metadata.svc as object), more: third },
      },
      nodes: manifest.nodes.map((node) => (node.node_id === first ? { ...node, clerp: 'a telling label' } : node)),
    }
    const graph = maskGraph(named, { masks: [maskOf([first, second])], disclosed: NONE, salt: SALT })
    const text = JSON.stringify(graph)
    const telling = [
      ...masked.flatMap(({ node_id, activation }) => [node_id, String(activation)]),
      ...[
        'a telling label',
        'secret to the attacker',
        'word0',
        'token ',
        ' t',
        'prompt_hash',
        'unknown member',
        'more',
      ],
      ...['sum_check', 'remainder_share', 'replacement_score', 'completeness_score', 'found', 'verified_nodes', 'R_'],
    ]
    expect(
      telling.filter((one) => text.includes(`"${one}`) || text.includes(`${one}"`) || text.includes(`:${one},`)),
    ).toEqual([])
    expect(graph.nodes.every(({ influence }) => influence === null)).toBe(true)
    expect(graph.links.some(({ target }) => target === first)).toBe(false)
    expect(graph.metadata).toMatchObject({
      prompt: '',
      prompt_tokens: ['', ''],
      svc: {
        masked: [
          { id: 'masked_1', layer: null, position: null },
          { id: 'masked_2', layer: null, position: null },
        ],
        disclosed: [],
        open_rows: [],
      },
    })
  })

  it('closes its rows by the pool, and leaves them open where a masked neuron would stand alone', () => {
    const manifest = makeGraph(createRandom(9))
    const [masked = ''] = neuronsOf(manifest)
    const view = (one: Manifest) => maskGraph(one, { masks: [maskOf([masked])], disclosed: NONE, salt: SALT })
    const closed = view(manifest)
    const logits = manifest.nodes.filter((node) => kindOf(node) === 'logit')
    const sums = closed.nodes
      .filter((node) => kindOf(node) === 'logit')
      .map(({ node_id, token_prob }) => ({
        total: closed.links.filter(({ target }) => target === node_id).reduce((total, { weight }) => total + weight, 0),
        token_prob,
      }))
    for (const { node_id, token_prob } of logits) {
      const total = manifest.links
        .filter(({ target }) => target === node_id)
        .reduce((all, { weight }) => all + weight, 0)
      const own = sums.find((one) => one.token_prob === token_prob)
      expect(own?.total).toBeCloseTo(total, 4)
    }
    // Pruning took the links of the remainders: the masked neuron is alone, in the rows that it reaches.
    const pruned = { ...manifest, links: manifest.links.filter(({ source }) => !source.startsWith('R_')) }
    const open = view(pruned)
    const reached = pruned.links.filter(({ source }) => source === masked).map(({ target }) => target)
    expect(open.metadata.svc).toMatchObject({ open_rows: { length: reached.length } })
    expect(open.links.some(({ source }) => source === POOL)).toBe(false)
    const targets = open.nodes.filter((node) => reached.includes(node.node_id) || kindOf(node) === 'logit')
    expect(targets.map(({ activation, token_prob }) => activation ?? token_prob ?? null)).toEqual(
      targets.map(() => null),
    )
    expect(open.nodes.filter((node) => kindOf(node) === 'logit').map(({ clerp }) => clerp)).toEqual(
      logits.map(() => 'Output (p=?)'),
    )
    // The loader of circuit-tracer fails at a null.
    expect(open.nodes.filter((node) => 'token_prob' in node)).toEqual([])
  })

  it('shows layer and position of a masked neuron only where every share that masks it allows it', () => {
    const manifest = makeGraph(createRandom(11))
    const [a = '', b = ''] = neuronsOf(manifest)
    const of = (masks: Mask[]) => {
      const { svc } = maskGraph(manifest, { masks, disclosed: NONE, salt: SALT }).metadata
      return (svc as { masked: { layer: string | null; position: number | null }[] }).masked.map(
        ({ layer, position }) => [layer, position],
      )
    }
    expect(of([maskOf([a], ['layer', 'position'])])).toEqual([['0', 0]])
    expect(of([maskOf([a], ['layer', 'position']), maskOf([a, b], ['layer'])])).toEqual([
      ['0', null],
      ['0', null],
    ])
  })

  it('of a disclosed mask is whole again, and of a part of the masks shows that part', () => {
    const manifest = makeGraph(createRandom(13))
    const [a = '', b = ''] = neuronsOf(manifest)
    const masks = [maskOf([a]), maskOf([b])]
    const all = maskGraph(manifest, { masks, disclosed: new Set([a, b]), salt: SALT })
    expect(all.links).toHaveLength(manifest.links.length)
    expect(all.metadata.svc).toMatchObject({ masked: [], disclosed: [a, b], sum_check: { rows: 512 } })
    const part = maskGraph(manifest, { masks, disclosed: new Set([a]), salt: SALT })
    const truth = manifest.nodes.find(({ node_id }) => node_id === a)
    expect(part.nodes.find(({ node_id }) => node_id === a)).toMatchObject({
      clerp: truth?.clerp,
      activation: truth?.activation,
    })
    expect(part.nodes.some(({ node_id }) => node_id === b)).toBe(false)
    expect(part.metadata.svc).toMatchObject({ masked: [{ id: 'masked_1' }], disclosed: [a] })
  })
})

describe('the rule of a mask', () => {
  const manifest = makeGraph(createRandom(17))
  const resolve = (nodeIds: string[], rule?: Parameters<typeof resolveMask>[1]['rule']) =>
    resolveMask(manifest, { nodeIds, rule })
  const code = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      return (error as { errors: { pointer: string; code: string }[] }).errors.map(
        (one) => `${one.pointer} ${one.code}`,
      )
    }
    return []
  }

  it('selects by id, layer, label and influence, and all of what any of them selects', () => {
    const [first = ''] = neuronsOf(manifest)
    expect(resolve([first])).toEqual([first])
    expect(resolve([], { layers: [1] })).toEqual(neuronsOf(manifest).filter((id) => id.startsWith('1_')))
    const labelled = manifest.nodes.filter(({ clerp }) => /^amount/.test(clerp)).map(({ node_id }) => node_id)
    expect(resolve([], { label_pattern: '^amount' })).toEqual(labelled)
    const top = resolve([], { top_influence: 2 })
    const influence = (id: string) => manifest.nodes.find(({ node_id }) => node_id === id)?.influence ?? 0
    const rest = neuronsOf(manifest).filter((id) => !top.includes(id))
    expect(top).toHaveLength(2)
    expect(Math.min(...top.map(influence))).toBeGreaterThan(Math.max(...rest.map(influence)))
    expect(resolve([first], { layers: [2], top_influence: 2 })).toEqual(
      neuronsOf(manifest).filter((id) => id === first || id.startsWith('2_') || top.includes(id)),
    )
  })

  it('refuses what is no neuron, no pattern, or matches nothing', () => {
    expect(code(() => resolve(['0_1_1_1']))).toEqual(['/masked_node_ids/0 unknown_node'])
    expect(code(() => resolve([remaindersOf(manifest)[0] ?? '']))).toEqual(['/masked_node_ids/0 unknown_node'])
    expect(code(() => resolve([], { label_pattern: '(' }))).toEqual(['/mask_rule/label_pattern invalid_pattern'])
    expect(code(() => resolve([], { label_pattern: 'no such label' }))).toEqual(['/mask_rule matches_nothing'])
    expect(code(() => resolve([], { layers: [99] }))).toEqual(['/mask_rule matches_nothing'])
  })
})

/** The same graph for everybody who sees it: other masked neurons, other weights in each pool, other values of theirs. */
function disguise(manifest: Manifest, steps: readonly string[][], random: Random) {
  const masked = new Set(steps.flat())
  const renamed = (id: string) =>
    masked.has(id) ? `${id.split('_')[0] === '0' ? 2 : 0}_${9_000 + [...masked].indexOf(id)}_1` : id
  const pool = new Set([...masked, ...remaindersOf(manifest)])
  const links = manifest.links.map((link) => ({ ...link }))
  for (const row of Map.groupBy(links, ({ target }) => target).values()) {
    const members = row.filter(({ source }) => pool.has(source))
    // Of a row that stays open any weight may be anything.
    const [first, ...others] = members
    for (const other of first === undefined ? [] : others) {
      const moved = noise(random) / 8
      if (first !== undefined) first.weight += moved
      other.weight -= moved
    }
  }
  const nodes = manifest.nodes.map((node) => ({
    ...node,
    influence: random(),
    ...(masked.has(node.node_id) && {
      node_id: renamed(node.node_id),
      layer: renamed(node.node_id).split('_')[0] ?? '',
      ctx_idx: 1,
      feature: 1,
      clerp: 'x',
      activation: noise(random),
    }),
  }))
  const named = links.map((link) => ({
    source: renamed(link.source),
    target: renamed(link.target),
    weight: masked.has(link.target) ? noise(random) : link.weight,
  }))
  const svc = {
    ...(manifest.metadata.svc as object),
    remainder_share: random(),
    replacement_score: random(),
    verified_nodes: [],
  }
  return {
    manifest: { metadata: { ...manifest.metadata, svc }, nodes, links: named },
    steps: steps.map((ids) => ids.map(renamed)),
  }
}
