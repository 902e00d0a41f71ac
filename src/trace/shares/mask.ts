// Masks neurons of a graph so that arithmetic does not give them back: what is published is a function of the visible
// neurons and of sums in which a masked weight never stands alone. All shares of a trace publish the same graph at any time,
// and masks only grow, so each graph follows from every one before it: comparing two tells nothing that the older did not.
//
// Pooled for each target: the masked neurons and all remainders. The remainders are in it because they say otherwise in
// which layer and position a masked neuron is. Dropped: links into masked neurons, whose sum is their value; influence,
// scores, remainder share, sum checks and verified nodes, which are all sums over the very weights.

import { createHmac } from 'node:crypto'
import { kindOf, type Manifest, type ManifestLink, type ManifestNode } from './graph.ts'

/** What an account lets see of where a masked neuron is. */
export const REVEALABLE = ['layer', 'position'] as const
export type Revealed = (typeof REVEALABLE)[number]

/** The nodes that one share masks, by their ids. */
export interface Mask {
  nodeIds: ReadonlySet<string>
  reveals: readonly Revealed[]
}

export interface Masking {
  /** Masks of every share of the trace, in the order of their creation. */
  masks: readonly Mask[]
  /** Masked nodes that a granted person sees. */
  disclosed: ReadonlySet<string>
  /** Random, of the share: the order of the published names follows from it. */
  salt: Uint8Array
}

/** A masked neuron as it is published. */
export interface MaskedNode {
  id: string
  layer: string | null
  position: number | null
}

/** What a shared graph says of itself beside the facts of its job. */
export interface SharedFacts {
  masked: MaskedNode[]
  /** Ids of nodes. */
  disclosed: string[]
  open_rows: string[]
  [fact: string]: unknown
}

export interface SharedGraph {
  metadata: { svc: SharedFacts; [name: string]: unknown }
  qParams: Record<string, unknown>
  nodes: ManifestNode[]
  links: ManifestLink[]
}

/** The node that pooled links come from. */
export const POOL = 'masked'

// A float's last bits tell about the smaller ones of its summands.
const POOL_DIGITS = 6

// Texts of prompt and completion are in no share: with them and the model's file everything can be computed again.
const SHOWN_METADATA = ['slug', 'scan', 'transcoder_list', 'schema_version', 'node_threshold'] as const
const SHOWN_FACTS = ['job_id', 'trace_id', 'model_sha256', 'backend', 'runtime', 'method', 'frozen', 'canary'] as const
/** Sums that are shown only of a graph in which nothing is masked. */
const SHOWN_SUMS = ['sum_check', 'remainder_share', 'replacement_score', 'completeness_score', 'links'] as const

export function maskGraph(manifest: Manifest, { masks, disclosed, salt }: Masking): SharedGraph {
  const hidden = hiddenNodes(manifest, masks, disclosed)
  const names = publishedNames(manifest, hidden, salt)
  const { links, open, isPooled } = hidden.size === 0 ? openLinks(manifest, names) : poolLinks(manifest, hidden, names)
  const isWhole = hidden.size === 0
  // A probability is a logit up to a common summand. Without the sum of one row, the others would give it.
  const showsProbabilities = !manifest.nodes.some((node) => kindOf(node) === 'logit' && open.has(node.node_id))
  const nodes = manifest.nodes.flatMap((node) => {
    const name = names.get(node.node_id)
    return name === undefined
      ? []
      : [publishNode(node, { name, isWhole, isOpen: open.has(node.node_id), showsProbabilities })]
  })
  const order = new Map([...nodes.map(({ node_id }) => node_id).toSorted(), POOL].map((name, index) => [name, index]))
  const at = (name: string) => order.get(name) ?? -1
  return {
    metadata: publishMetadata(manifest, {
      hidden,
      masks,
      salt,
      disclosed,
      open: [...open].flatMap((id) => names.get(id) ?? []),
    }),
    qParams: { pinnedIds: [], supernodes: [], linkType: 'both', clickedId: '', sg_pos: '' },
    nodes: [...nodes.toSorted((a, b) => at(a.node_id) - at(b.node_id)), ...(isPooled ? [POOL_NODE] : [])],
    // Sorted by the published names: the order in the manifest tells which logit is the likeliest.
    links: links
      .map((link) => ({ link, place: at(link.target) * order.size + at(link.source) }))
      .sort((a, b) => a.place - b.place)
      .map(({ link }) => link),
  }
}

// It is drawn as what a graph leaves unexplained.
const POOL_NODE: ManifestNode = {
  node_id: POOL,
  feature: 0,
  layer: '0',
  ctx_idx: 0,
  feature_type: 'mlp reconstruction error',
  jsNodeId: POOL,
  clerp: 'masked and other neurons',
  influence: null,
  activation: null,
}

/** Each masked node with the number of the share that masked it first. */
function hiddenNodes(
  { nodes }: Pick<Manifest, 'nodes'>,
  masks: readonly Mask[],
  disclosed: ReadonlySet<string>,
): Map<string, number> {
  const hidden = new Map<string, number>()
  for (const { node_id } of nodes) {
    const first = masks.findIndex(({ nodeIds }) => nodeIds.has(node_id))
    if (first !== -1 && !disclosed.has(node_id)) hidden.set(node_id, first)
  }
  return hidden
}

/** What nodes are called in the share; of those that are not in it, nothing. */
function publishedNames({ nodes }: Pick<Manifest, 'nodes'>, hidden: ReadonlyMap<string, number>, salt: Uint8Array) {
  const names = new Map<string, string>()
  for (const node of nodes) {
    const kind = kindOf(node)
    if (hidden.has(node.node_id) || (kind === 'remainder' && hidden.size > 0)) continue
    // The ids of embeddings and logits contain tokens.
    if (kind === 'embedding') names.set(node.node_id, `E_${node.ctx_idx}`)
    else if (kind === 'logit') names.set(node.node_id, `L_${digestOf(salt, node.node_id).slice(0, 16)}`)
    else names.set(node.node_id, node.node_id)
  }
  return names
}

interface Published {
  links: ManifestLink[]
  /** Targets without the sum of their links. */
  open: ReadonlySet<string>
  isPooled: boolean
}

function openLinks({ links }: Pick<Manifest, 'links'>, names: ReadonlyMap<string, string>): Published {
  return { links: links.flatMap((link) => visibleLink(link, names)), open: new Set(), isPooled: false }
}

interface PooledRow {
  sum: number
  remainders: number
  /** Masked neurons, by the share that masked them first. */
  masked: Map<number, number>
}

function poolLinks(
  { links }: Pick<Manifest, 'links'>,
  hidden: ReadonlyMap<string, number>,
  names: ReadonlyMap<string, string>,
): Published {
  const shown: ManifestLink[] = []
  const rows = new Map<string, PooledRow>()
  for (const link of links) {
    if (!names.has(link.target) || link.weight === 0) continue
    if (names.has(link.source)) {
      shown.push(...visibleLink(link, names))
      continue
    }
    const row = rows.get(link.target) ?? { sum: 0, remainders: 0, masked: new Map<number, number>() }
    rows.set(link.target, row)
    row.sum += link.weight
    const share = hidden.get(link.source)
    if (share === undefined) row.remainders += 1
    else row.masked.set(share, (row.masked.get(share) ?? 0) + 1)
  }
  const open = new Set<string>()
  for (const [target, row] of rows) {
    const name = names.get(target)
    if (!isCovered(row)) open.add(target)
    else if (name !== undefined) {
      shown.push({ source: POOL, target: name, weight: Number(row.sum.toPrecision(POOL_DIGITS)) })
    }
  }
  return { links: shown, open, isPooled: rows.size > open.size }
}

// What one share masked was visible in the shares before it, and is disclosed as a whole: so the neurons of each share need
// company among themselves, or in the remainders, which no mask leaves visible.
function isCovered({ masked, remainders }: PooledRow): boolean {
  return [...masked.values()].every((count) => count + remainders >= 2)
}

function visibleLink({ source, target, weight }: ManifestLink, names: ReadonlyMap<string, string>): ManifestLink[] {
  const [from, to] = [names.get(source), names.get(target)]
  return from === undefined || to === undefined ? [] : [{ source: from, target: to, weight }]
}

interface NodeShowing {
  name: string
  isWhole: boolean
  isOpen: boolean
  showsProbabilities: boolean
}

function publishNode(node: ManifestNode, { name, isWhole, isOpen, showsProbabilities }: NodeShowing): ManifestNode {
  const kind = kindOf(node)
  const isText = kind === 'embedding' || kind === 'logit'
  const shown: ManifestNode = {
    node_id: name,
    feature: isText ? 0 : node.feature,
    layer: node.layer,
    ctx_idx: node.ctx_idx,
    feature_type: node.feature_type,
    jsNodeId: isText ? name : node.jsNodeId,
    clerp: isText ? '' : node.clerp,
    influence: isWhole ? (node.influence ?? null) : null,
    activation: isOpen ? null : (node.activation ?? null),
  }
  if (kind !== 'logit') return shown
  const probability = showsProbabilities ? node.token_prob : undefined
  // Viewers of such graphs look for "(p=" in the label of a logit, and circuit-tracer loads no `token_prob` that is null.
  return {
    ...shown,
    clerp: `Output (p=${probability === undefined ? '?' : probability.toFixed(3)})`,
    ...(probability !== undefined && { token_prob: probability }),
    is_target_logit: node.is_target_logit ?? false,
  }
}

function publishMetadata(
  { metadata, nodes }: Manifest,
  { hidden, masks, salt, disclosed, open }: Masking & { hidden: ReadonlyMap<string, number>; open: readonly string[] },
): SharedGraph['metadata'] {
  const facts = recordOf(metadata.svc)
  const masked = nodes
    .filter(({ node_id }) => hidden.has(node_id))
    .toSorted((a, b) => (digestOf(salt, a.node_id) < digestOf(salt, b.node_id) ? -1 : 1))
    .map((node, index): MaskedNode => {
      const reveals = (what: Revealed) =>
        masks.every(({ nodeIds, reveals }) => !nodeIds.has(node.node_id) || reveals.includes(what))
      return {
        id: `masked_${index + 1}`,
        layer: reveals('layer') ? node.layer : null,
        position: reveals('position') ? node.ctx_idx : null,
      }
    })
  return {
    ...pick(metadata, SHOWN_METADATA),
    prompt: '',
    prompt_tokens: metadata.prompt_tokens.map(() => ''),
    svc: {
      ...pick(facts, SHOWN_FACTS),
      ...(hidden.size === 0 && pick(facts, SHOWN_SUMS)),
      masked,
      disclosed: nodes.map(({ node_id }) => node_id).filter((id) => disclosed.has(id)),
      open_rows: open.toSorted(),
    },
  }
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function digestOf(salt: Uint8Array, text: string): string {
  return createHmac('sha256', salt).update(text).digest('hex')
}
