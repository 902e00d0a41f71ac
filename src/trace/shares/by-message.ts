// What a share shows of a graph unless it says `reveals_prompt`: the last position of the text, and all that is before
// it as one node for each message. What a graph says of an earlier position follows from the text up to there. A person
// who has the file of the model tries one token after the other there until the numbers agree. What is left here
// follows from the whole text.
//
// It is made from the graph with positions as a share publishes that: who has both learns nothing from this one. Pure.

import { CHAT_ROLES } from '../tokenizer/chat.ts'
import { TURN } from '../tokenizer/tokenizer.ts'
import { kindOf, type Manifest, type ManifestLink, type ManifestNode, neuronOf } from './graph.ts'
import { type Masking, maskGraph, POOL, type SharedGraph } from './mask.ts'

// A sum over fewer embeddings can be taken apart by trying them together.
const LEAST_OF_MESSAGE = 8
/** Tokens of content. All numbers follow from the whole text: a shorter one is found by trying all of it. */
export const LEAST_OF_TEXT = 16
// Each row of a layer is an equation over what its neurons read at the last position. When there are as many rows as
// the model is wide, they determine that, and with it every masked neuron of the layer. Each neuron gives two rows, and
// the tiny model has a width of 128. With 32 neurons of a layer, or 20 logits, least squares found words of the text
// somewhat more often than by chance; with these numbers it did not.
const MOST_NEURONS = 16
const MOST_LOGITS = 10
// What embeddings add to it comes by one attention. From their pooled links into it least squares found four times as many words
// of a message as by chance.
const FIRST_LAYER = '0'
const DIGITS = 3
/** All messages: of the rows of neurons. A layer reads a message less mixed than a logit does. */
const WHOLE_TEXT = 'M'

/** Successive messages of a text, behind one node. */
export interface MessageGroup {
  name: string
  /** The position behind its last one. */
  end: number
}

/** undefined: the text is too short to show anything of its graph. */
export function shareGraph(
  manifest: Manifest,
  masking: Masking,
  { revealsPrompt }: { revealsPrompt: boolean },
): SharedGraph | undefined {
  if (revealsPrompt) return maskGraph(manifest, masking)
  const texts = manifest.metadata.prompt_tokens
  const groups = groupMessages(texts)
  return groups.length === 0 ? undefined : poolByMessage(maskGraph(manifest, masking), groups)
}

/** Whether a share shows a graph without `reveals_prompt`. */
export function isPoolable({ metadata }: Pick<Manifest, 'metadata'>): boolean {
  return groupMessages(metadata.prompt_tokens).length > 0
}

/** In the order of the text; a short message is one with the next, or with the one before. None where the text is short. */
export function groupMessages(texts: readonly string[]): MessageGroup[] {
  const starts = [0, ...texts.flatMap((text, at) => (text === TURN.opens && at > 0 ? [at] : []))]
  const groups: MessageGroup[] = []
  let [total, tokens] = [0, 0]
  let names: string[] = []
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? texts.length
    const message = readMessage(texts.slice(start, end))
    total += message.tokens
    tokens += message.tokens
    names.push(message.name)
    if (tokens < LEAST_OF_MESSAGE) continue
    groups.push({ name: names.join(', '), end })
    tokens = 0
    names = []
  }
  const last = groups.at(-1)
  if (last === undefined || total < LEAST_OF_TEXT) return []
  return [...groups.slice(0, -1), { name: [last.name, ...names].join(', '), end: texts.length }]
}

/** Its role, and how many tokens its content has. The tokens of the template are known to everybody. */
function readMessage(texts: readonly string[]): { name: string; tokens: number } {
  if (texts[0] !== TURN.opens) return { name: 'text', tokens: texts.length }
  const line = texts.findIndex((text) => text.includes('\n'))
  if (line === -1) return { name: 'text', tokens: 0 }
  const closes = texts.lastIndexOf(TURN.closes)
  const role = texts.slice(1, line).join('')
  return {
    // Any other word would be one of the text.
    name: CHAT_ROLES.find((known) => known === role) ?? 'text',
    tokens: (closes === -1 ? texts.length : closes) - line - 1,
  }
}

function poolByMessage(graph: SharedGraph, groups: readonly MessageGroup[]): SharedGraph {
  const last = groups.length - 1
  const groupAt = (position: number) => groups.findIndex(({ end }) => position < end)
  const logits = chooseLogits(graph)
  const neurons = chooseNeurons(graph, logits, (groups[last]?.end ?? 0) - 1)
  // In its order, which tells nothing.
  const shown = graph.nodes.filter((node) => logits.has(node.node_id) || neurons.has(node.node_id))
  const ownNames = new Map(
    shown.map(({ node_id: id }) => [id, neurons.has(id) ? `${neuronOf(id)}_${last}` : id] as const),
  )
  const messageOf = new Map(graph.nodes.map(({ node_id: id, ctx_idx }) => [id, `M_${groupAt(ctx_idx)}`] as const))
  const ownName = (id: string) => ownNames.get(id) ?? ''
  const links = poolLinks(graph.links, ({ source, target }) => {
    const to = ownNames.get(target)
    if (to === undefined) return undefined
    const from = source === POOL ? POOL : ownNames.get(source)
    return { source: from ?? (logits.has(target) ? (messageOf.get(source) ?? '') : WHOLE_TEXT), target: to }
  })
  const { links: _, ...facts } = graph.metadata.svc
  return {
    qParams: graph.qParams,
    metadata: {
      ...graph.metadata,
      prompt_tokens: groups.map(({ name }) => name),
      svc: {
        ...facts,
        masked: facts.masked.map((node) => ({
          ...node,
          position: node.position === null ? null : groupAt(node.position),
        })),
        disclosed: facts.disclosed.filter((id) => neurons.has(id)).map(ownName),
        open_rows: facts.open_rows.filter((id) => ownNames.has(id)).map(ownName),
      },
    },
    nodes: [
      ...groups.map(({ name }, index) => textNode(`M_${index}`, name, index)),
      ...(links.some(({ source }) => source === WHOLE_TEXT) ? [textNode(WHOLE_TEXT, 'all messages', 0)] : []),
      ...shown.map((node) => lastNode(node, { name: ownName(node.node_id), group: last })),
      ...graph.nodes.filter(({ node_id }) => node_id === POOL),
    ],
    links,
  }
}

function chooseLogits({ nodes }: SharedGraph): Set<string> {
  const rank = ({ is_target_logit, token_prob }: ManifestNode) => (is_target_logit ? 2 : (token_prob ?? 0))
  const logits = nodes.filter((node) => kindOf(node) === 'logit').toSorted((a, b) => rank(b) - rank(a))
  return new Set(logits.slice(0, MOST_LOGITS).map(({ node_id }) => node_id))
}

/**
 * Chooses neurons of the last position: in each layer those that a grant unmasks, then those that add most to the
 * logits.
 */
function chooseNeurons(
  { metadata, nodes, links }: SharedGraph,
  logits: ReadonlySet<string>,
  position: number,
): Set<string> {
  const sizes = new Map<string, number>()
  for (const { source, target, weight } of links) {
    if (logits.has(target)) sizes.set(source, (sizes.get(source) ?? 0) + Math.abs(weight))
  }
  for (const id of metadata.svc.disclosed) sizes.set(id, Number.POSITIVE_INFINITY)
  const sizeOf = ({ node_id }: ManifestNode) => sizes.get(node_id) ?? 0
  const candidates = nodes
    .filter((node) => kindOf(node) === 'neuron' && node.ctx_idx === position && node.layer !== FIRST_LAYER)
    .toSorted((a, b) => Math.sign(sizeOf(b) - sizeOf(a)) || (a.node_id < b.node_id ? -1 : 1))
  const ofLayers = Map.groupBy(candidates, ({ layer }) => layer).values()
  return new Set([...ofLayers].flatMap((own) => own.slice(0, MOST_NEURONS).map(({ node_id }) => node_id)))
}

/** @param placeOf Where a link goes; undefined: it is not shown. */
function poolLinks(
  links: readonly ManifestLink[],
  placeOf: (link: ManifestLink) => Omit<ManifestLink, 'weight'> | undefined,
): ManifestLink[] {
  const pooled = new Map<string, ManifestLink>()
  for (const link of links) {
    const place = placeOf(link)
    if (place === undefined) continue
    const key = `${place.source} ${place.target}`
    pooled.set(key, { ...place, weight: (pooled.get(key)?.weight ?? 0) + link.weight })
  }
  return [...pooled.values()].map((link) => ({ ...link, weight: rounded(link.weight) }))
}

function textNode(id: string, name: string, index: number): ManifestNode {
  return {
    node_id: id,
    feature: 0,
    layer: 'E',
    ctx_idx: index,
    feature_type: 'embedding',
    jsNodeId: id,
    clerp: name,
    influence: null,
    activation: null,
  }
}

function lastNode(node: ManifestNode, { name, group }: { name: string; group: number }): ManifestNode {
  return {
    ...node,
    node_id: name,
    ctx_idx: group,
    influence: roundedOrNull(node.influence),
    activation: roundedOrNull(node.activation),
    ...(node.token_prob !== undefined && { token_prob: rounded(node.token_prob) }),
  }
}

const rounded = (value: number): number => Number(value.toPrecision(DIGITS))
const roundedOrNull = (value: number | null | undefined): number | null =>
  typeof value === 'number' ? rounded(value) : null
