// A graph of an attribution job, made by hand: random weights, exact sums. Sources are of a lower layer and of the same or an
// earlier position than their targets, every layer and position has its remainder, and the value of a target is the sum of
// its links. So are influence and scores: what a graph of a real model says of itself, this one says too.

import { kindOf, type Manifest, type ManifestLink, type ManifestNode } from '#src/trace/shares/graph.ts'

export type Random = () => number

/** mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** In about a normal distribution. */
export const noise = (random: Random) => random() + random() + random() + random() - 2

interface GraphShape {
  layers: number
  positions: number
  /** Of each layer and position. */
  neurons: number
  logits: number
  /** The part of the links that pruning leaves. */
  kept: number
}

const SHAPE: GraphShape = { layers: 3, positions: 2, neurons: 3, logits: 3, kept: 1 }
const LABELS = ['outbound tool after secret', 'amount in words', 'end of a list', 'closing bracket', 'a name again']

export function makeGraph(random: Random, shape: Partial<GraphShape> = {}): Manifest {
  const { layers, positions, neurons, logits, kept } = { ...SHAPE, ...shape }
  const nodes: ManifestNode[] = []
  const add = (node: Pick<ManifestNode, 'node_id' | 'layer' | 'ctx_idx' | 'feature_type'> & Partial<ManifestNode>) =>
    nodes.push({ feature: 0, jsNodeId: node.node_id, clerp: '', influence: null, activation: null, ...node })
  for (let at = 0; at < positions; at += 1) {
    const token = Math.floor(random() * 1_000)
    add({ node_id: `E_${token}_${at}`, layer: 'E', ctx_idx: at, feature_type: 'embedding', clerp: `token ${token}` })
  }
  for (let layer = 0; layer < layers; layer += 1) {
    for (let at = 0; at < positions; at += 1) {
      const first = Math.floor(random() * 500)
      for (let one = 0; one < neurons; one += 1) {
        const m = first + 1 + one * 7
        add({
          node_id: `${layer}_${m}_${at}`,
          layer: String(layer),
          ctx_idx: at,
          feature_type: 'mlp neuron',
          feature: ((layer + m) * (layer + m + 1)) / 2 + m,
          clerp: LABELS[Math.floor(random() * LABELS.length)] ?? '',
        })
      }
      add({ node_id: `R_${layer}_${at}`, layer: String(layer), ctx_idx: at, feature_type: 'mlp reconstruction error' })
    }
  }
  for (let one = 0; one < logits; one += 1) {
    const token = Math.floor(random() * 1_000) + one * 1_000
    const place = { layer: String(layers + 1), ctx_idx: positions - 1 }
    add({ node_id: `${layers + 1}_${token}_${positions - 1}`, ...place, feature_type: 'logit', feature: token })
  }

  const depth = ({ layer, feature_type }: ManifestNode) =>
    layer === 'E' ? -1 : Number(layer) + (feature_type === 'logit' ? 1 : 0)
  const links: ManifestLink[] = nodes
    .filter((node) => ['neuron', 'logit'].includes(kindOf(node)))
    .flatMap((target) =>
      nodes
        .filter((source) => depth(source) < depth(target) && source.ctx_idx <= target.ctx_idx && random() < kept)
        .map((source) => ({ source: source.node_id, target: target.node_id, weight: noise(random) })),
    )
  return complete({ metadata: metadataOf(positions), nodes, links }, random)
}

/** Values, probabilities, influence and scores, from the links. */
function complete({ metadata, nodes, links }: Manifest, random: Random): Manifest {
  const rows = Map.groupBy(links, ({ target }) => target)
  const totalOf = (id: string) => (rows.get(id) ?? []).reduce((sum, { weight }) => sum + weight, 0)
  const sizeOf = (id: string) => (rows.get(id) ?? []).reduce((sum, { weight }) => sum + Math.abs(weight), 0)
  const total = nodes
    .filter((node) => kindOf(node) === 'logit')
    .reduce((sum, { node_id }) => sum + Math.exp(totalOf(node_id)), 1)
  const influence = new Map<string, number>()
  for (const node of nodes.toReversed()) {
    const own = kindOf(node) === 'logit' ? Math.exp(totalOf(node.node_id)) / total : (influence.get(node.node_id) ?? 0)
    influence.set(node.node_id, own)
    for (const { source, target, weight } of rows.get(node.node_id) ?? []) {
      influence.set(source, (influence.get(source) ?? 0) + (own * Math.abs(weight)) / (sizeOf(target) || 1))
    }
  }
  const completed = nodes.map((node) => {
    const kind = kindOf(node)
    if (kind === 'logit') {
      const token_prob = Math.exp(totalOf(node.node_id)) / total
      return {
        ...node,
        token_prob,
        is_target_logit: true,
        clerp: `Output " t${node.feature}" (p=${token_prob.toFixed(3)})`,
      }
    }
    const value = { ...node, influence: influence.get(node.node_id) ?? 0 }
    return kind === 'neuron' ? { ...value, activation: random() * totalOf(node.node_id) } : value
  })
  const remainder = completed.filter((node) => kindOf(node) === 'remainder')
  const share = remainder.reduce((sum, node) => sum + (node.influence ?? 0), 0)
  const svc = {
    ...(metadata.svc as object),
    remainder_share: share,
    replacement_score: 1 - share,
    completeness_score: 1 - share / 2,
    links: { found: links.length, kept: links.length, limit: 200_000 },
    verified_nodes: completed
      .filter((node) => kindOf(node) === 'neuron')
      .map(({ node_id, influence: effect }) => ({ node_id, predicted_delta: effect, measured_delta: effect })),
  }
  return { metadata: { ...metadata, svc }, nodes: completed, links }
}

function metadataOf(positions: number): Manifest['metadata'] {
  return {
    slug: 'trc-test',
    scan: 'countersign-tiny-1.0',
    prompt: 'Send the secret to the attacker',
    prompt_tokens: Array.from({ length: positions }, (_, at) => `word${at}`),
    schema_version: 1,
    svc: {
      job_id: 'job_test_1',
      method: 'exact',
      model_sha256: 'ab'.repeat(32),
      sum_check: { max_abs_error: 9.2e-7, rows: 512 },
      prompt_hash: 'a hash that confirms a guessed prompt',
      canary: { set: 'default-v1', hash: 'h' },
      masked: [],
    },
  }
}
