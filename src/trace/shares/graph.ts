// The graph of an attribution job as its manifest has it (the schema of circuit-tracer and Neuronpedia): what a share reads
// of it, and what it shows. Pure.

export interface ManifestNode {
  node_id: string
  feature: number | null
  /** `E`, or a whole number; that of logits is one above the last. */
  layer: string
  ctx_idx: number
  feature_type: string
  jsNodeId: string
  /** The label. That of a logit has `(p=0.512)`. */
  clerp: string
  influence?: number | null
  activation?: number | null
  /** Absent where it is not known or not shown. */
  token_prob?: number
  is_target_logit?: boolean
}

export interface ManifestLink {
  source: string
  target: string
  /** What the source adds to the target's value: the links into a target sum up to it. */
  weight: number
}

export interface Manifest {
  metadata: { slug: string; scan: string; prompt_tokens: readonly string[]; [name: string]: unknown }
  nodes: readonly ManifestNode[]
  links: readonly ManifestLink[]
}

/** What a node stands for. A `neuron` can be masked; a `remainder` is all neurons of a layer and position without a node. */
export type NodeKind = 'embedding' | 'bias' | 'remainder' | 'logit' | 'neuron'

const KINDS: Record<string, NodeKind> = {
  embedding: 'embedding',
  bias: 'bias',
  'mlp reconstruction error': 'remainder',
  logit: 'logit',
}

export function kindOf({ feature_type }: Pick<ManifestNode, 'feature_type'>): NodeKind {
  return KINDS[feature_type] ?? 'neuron'
}

/** The neuron of a node, whatever its position: `1_77` of `1_77_12`. */
export function neuronOf(nodeId: string): string {
  return nodeId.slice(0, nodeId.lastIndexOf('_'))
}

/**
 * The nodes of a graph that a mask hides.
 * @param masked Node ids, or neurons, which are hidden at every position.
 */
export function maskedNodes({ nodes }: Pick<Manifest, 'nodes'>, masked: ReadonlySet<string>): string[] {
  return nodes
    .filter((node) => kindOf(node) === 'neuron' && (masked.has(node.node_id) || masked.has(neuronOf(node.node_id))))
    .map(({ node_id }) => node_id)
}
