// Which nodes of a graph a new share masks: those that it names, and those that its rule matches. Pure.

import { invalidField } from '#src/failure.ts'
import { compilePattern, type Pattern } from '#src/platform/patterns.ts'
import { kindOf, type Manifest, type ManifestNode } from './graph.ts'

/** A node is masked that any of these selects. */
export interface MaskRule {
  layers?: readonly number[] | undefined
  /** RE2, found anywhere in the label. */
  label_pattern?: string | undefined
  /** So many of the most influential ones. */
  top_influence?: number | undefined
}

export interface WantedMask {
  nodeIds: readonly string[]
  rule: MaskRule | undefined
}

/**
 * The ids of the nodes, in the order of the graph.
 * @throws {Failure} `invalid_request` at the id that is no neuron of the graph, at the pattern, and where the rule matches
 * nothing: a typing error must not publish what was to be hidden.
 */
export function resolveMask({ nodes }: Pick<Manifest, 'nodes'>, { nodeIds, rule }: WantedMask): string[] {
  const neurons = nodes.filter((node) => kindOf(node) === 'neuron')
  const known = new Set(neurons.map(({ node_id }) => node_id))
  const unknown = nodeIds.findIndex((id) => !known.has(id))
  if (unknown !== -1) {
    throw invalidField(`/masked_node_ids/${unknown}`, 'unknown_node', 'is no neuron of the graph of this job')
  }
  const wanted = new Set([...nodeIds, ...(rule === undefined ? [] : matchRule(neurons, rule))])
  return neurons.map(({ node_id }) => node_id).filter((id) => wanted.has(id))
}

function matchRule(neurons: readonly ManifestNode[], rule: MaskRule): string[] {
  const layers = new Set(rule.layers?.map(String))
  const pattern = rule.label_pattern === undefined ? undefined : patternOf(rule.label_pattern)
  const top = new Set(mostInfluential(neurons, rule.top_influence ?? 0))
  const matched = neurons.filter(
    (node) => layers.has(node.layer) || pattern?.test(node.clerp) === true || top.has(node.node_id),
  )
  if (matched.length === 0) throw invalidField('/mask_rule', 'matches_nothing', 'matches no neuron of the graph')
  return matched.map(({ node_id }) => node_id)
}

function patternOf(source: string): Pattern {
  try {
    return compilePattern(source)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'is no regular expression'
    throw invalidField('/mask_rule/label_pattern', 'invalid_pattern', why)
  }
}

function mostInfluential(neurons: readonly ManifestNode[], count: number): string[] {
  return neurons
    .filter(({ influence }) => typeof influence === 'number')
    .toSorted((a, b) => (b.influence ?? 0) - (a.influence ?? 0) || (a.node_id < b.node_id ? -1 : 1))
    .slice(0, count)
    .map(({ node_id }) => node_id)
}
