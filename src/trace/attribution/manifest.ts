// A graph as a file that other tools open: the attribution graph schema of Neuronpedia and circuit-tracer, whose additional
// members we keep under `metadata.svc`. The same graph and context give the same bytes.
// https://github.com/hijohnnylin/neuronpedia apps/webapp/app/api/graph/graph-schema.json

import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { AttributionGraph, AttributionRequest, GraphNode } from './attribute.ts'
import { MAX_EDGES } from './influence.ts'

export interface ManifestContext {
  jobId: string
  traceId: string
  createdAt: Date
  settings: Pick<AttributionRequest, 'maxFeatureNodes' | 'maxLogits' | 'desiredLogitProbability' | 'thresholds'>
  model: { versionId: string; sha256: string; backend: string }
  canary: { set: string; hash: string } | null
  generator: { version: string; url: string }
  /** What a neuron reacts to; undefined where it is unknown. */
  findLabel(layer: number, neuron: number): string | undefined
}

/** What the front end of circuit-tracer calls its features, and what its scores count. */
const FEATURE_TYPES = { own: 'mlp neuron', compat: 'cross layer transcoder' } as const
// More digits than 32-bit floats have.
const DIGITS = 7

export function buildManifest(graph: AttributionGraph, context: ManifestContext): Json {
  const { thresholds, maxLogits, desiredLogitProbability, maxFeatureNodes } = context.settings
  const ids = graph.nodes.map((node) => idOf(node, graph.layers))
  let logits = 0
  const nodes = graph.nodes.map((node, index) => {
    const text = node.kind === 'logit' ? (graph.logitTexts[logits++] ?? '') : ''
    return { node_id: ids[index] ?? '', ...membersOf(node, graph.layers, text, context.findLabel) }
  })
  const links = Array.from(graph.links.weights, (weight, index) => ({
    source: ids[graph.links.sources[index] ?? 0] ?? '',
    target: ids[graph.links.targets[index] ?? 0] ?? '',
    weight: rounded(weight),
  }))
  return {
    metadata: {
      // Neuronpedia takes letters, digits and hyphens.
      slug: context.jobId.replaceAll('_', '-'),
      scan: context.model.versionId.split('@')[0] ?? '',
      prompt: graph.text,
      prompt_tokens: graph.tokenTexts,
      transcoder_list: [],
      node_threshold: thresholds.node,
      schema_version: 1,
      info: {
        generator: { name: 'countersign', ...context.generator },
        create_time_ms: context.createdAt.getTime(),
      },
      generation_settings: {
        max_n_logits: maxLogits,
        desired_logit_prob: desiredLogitProbability,
        max_feature_nodes: maxFeatureNodes,
      },
      pruning_settings: { node_threshold: thresholds.node, edge_threshold: thresholds.edge },
      svc: serviceMembers(graph, context),
    },
    qParams: { pinnedIds: [], supernodes: [], linkType: 'both', clickedId: '', sg_pos: '' },
    nodes,
    links,
  }
}

/**
 * For tools that know no other features than transcoders: neurons carry their word, so that their scores count them. The
 * hash of the job is that of the manifest without this change.
 */
export function toCircuitTracer(manifest: Json): Json {
  const { metadata, nodes, ...rest } = manifest as { metadata: { svc: object }; nodes: { feature_type: string }[] }
  return {
    ...rest,
    metadata: { ...metadata, svc: { ...metadata.svc, compat: true } },
    nodes: nodes.map((node) =>
      node.feature_type === FEATURE_TYPES.own ? { ...node, feature_type: FEATURE_TYPES.compat } : node,
    ),
  } as Json
}

/** The same of a manifest's RFC 8785 text. Nearly all of its megabytes are links, which stay as they are and are not parsed. */
export function toCircuitTracerBytes(manifest: Buffer): Buffer {
  // Links come first, and the texts in them are our own: this sequence can't occur in one.
  const end = manifest.indexOf('],"metadata":')
  if (end === -1) throw new Error('a manifest has no links')
  const [links, rest] = [manifest.subarray(0, end + 2), manifest.toString('utf8', end + 2)]
  const translated = canonicalize(toCircuitTracer(JSON.parse(`{${rest}`) as Json))
  return Buffer.concat([links, Buffer.from(translated.slice(1))])
}

/** Two indices as one, as circuit-tracer numbers its features where `schema_version` is 1. */
export function pairCantor(layer: number, neuron: number): number {
  return ((layer + neuron) * (layer + neuron + 1)) / 2 + neuron
}

export function neuronId(layer: number, neuron: number, position: number): string {
  return `${layer}_${neuron}_${position}`
}

function serviceMembers(graph: AttributionGraph, { jobId, traceId, model, canary }: ManifestContext): Json {
  const { objective, scores, sumCheck, agreement } = graph
  return {
    job_id: jobId,
    trace_id: traceId,
    model_version_id: model.versionId,
    model_sha256: model.sha256,
    backend: model.backend,
    // Manifests of two runtimes have two hashes. A manifest of the kernel alone names no runtime.
    ...(graph.runtime !== undefined && { runtime: graph.runtime }),
    method: graph.method,
    is_approximate: graph.method !== 'exact',
    frozen:
      graph.direct !== undefined
        ? ['final norm']
        : graph.method === 'grad_x_act'
          ? []
          : ['attention', 'norms', 'gates'],
    // A link to a neuron is a part of this value of it; its gate is frozen.
    link_target: 'up',
    objective: {
      token: objective.token,
      contrast_token: objective.contrast,
      logit_difference: rounded(objective.difference),
    },
    sum_check: sumCheck && { max_abs_error: rounded(sumCheck.maxError), rows: sumCheck.rows },
    remainder_share: rounded(graph.remainderShare),
    replacement_score: scores && rounded(scores.replacementScore),
    completeness_score: scores && rounded(scores.completenessScore),
    // Where more were found than the limit, the thresholds of `pruning_settings` ask for more than the graph has.
    links: { found: graph.linksFound, kept: graph.links.weights.length, limit: MAX_EDGES },
    verified_nodes: graph.verified.map(({ layer, neuron, position, predicted, measured }) => ({
      node_id: neuronId(layer, neuron, position),
      predicted_delta: rounded(predicted),
      measured_delta: rounded(measured),
    })),
    agreement: {
      nodes: graph.verified.length,
      same_sign: rounded(agreement.sign),
      correlation: agreement.correlation === null ? null : rounded(agreement.correlation),
    },
    ...(graph.direct && { direct: directMembers(graph.direct) }),
    canary,
    masked: [],
  }
}

function directMembers({ rows, sumCheck }: NonNullable<AttributionGraph['direct']>): Json {
  return {
    sum_check: { max_abs_error: rounded(sumCheck.maxError), rows: sumCheck.rows },
    rows: rows.map(({ token, logit, embedding, attention, mlp, constant }) => ({
      token,
      logit: rounded(logit),
      embedding: rounded(embedding),
      attention: attention.map(rounded),
      mlp: mlp.map(rounded),
      constant: rounded(constant),
    })),
  }
}

function idOf(node: GraphNode, layers: number): string {
  switch (node.kind) {
    case 'neuron':
      return neuronId(node.layer, node.neuron, node.position)
    // circuit-tracer's `0_{layer}_{position}` is also the id of a neuron of layer 0.
    case 'remainder':
      return `R_${node.layer}_${node.position}`
    case 'embedding':
      return `E_${node.token}_${node.position}`
    case 'logit':
      return `${layers + 1}_${node.token}_${node.position}`
  }
}

function membersOf(
  node: GraphNode,
  layers: number,
  text: string,
  findLabel: ManifestContext['findLabel'],
): { [key: string]: Json } {
  const { position } = node
  switch (node.kind) {
    case 'neuron':
      return {
        feature: pairCantor(node.layer, node.neuron),
        layer: String(node.layer),
        ctx_idx: position,
        feature_type: FEATURE_TYPES.own,
        jsNodeId: `${node.layer}_${node.neuron}-0`,
        clerp: findLabel(node.layer, node.neuron) ?? `layer ${node.layer}, neuron ${node.neuron}`,
        influence: rounded(node.influence),
        activation: rounded(node.activation),
        effect: rounded(node.effect),
        ...(node.direct !== undefined && { direct_effect: rounded(node.direct) }),
      }
    case 'remainder':
      return {
        feature: -1,
        layer: String(node.layer),
        ctx_idx: position,
        // Drawn apart from features, and counted as unexplained.
        feature_type: 'mlp reconstruction error',
        jsNodeId: `R_${node.layer}-${position}`,
        clerp: `other neurons of layer ${node.layer}`,
        influence: rounded(node.influence),
        activation: null,
      }
    case 'embedding':
      return {
        feature: position,
        layer: 'E',
        ctx_idx: position,
        feature_type: 'embedding',
        jsNodeId: `E_${node.token}-${position}`,
        clerp: '',
        influence: rounded(node.influence),
        activation: null,
      }
    case 'logit':
      return {
        feature: node.token,
        layer: String(layers + 1),
        ctx_idx: position,
        feature_type: 'logit',
        jsNodeId: `L_${node.token}-${position}`,
        // The front end reads the probability behind the first "(p=", which a token may be.
        clerp: `Output "${text.replaceAll('(p=', '( p=')}" (p=${node.probability.toFixed(3)})`,
        token_prob: rounded(node.probability),
        is_target_logit: node.isTarget,
        influence: null,
        activation: null,
      }
  }
}

const rounded = (value: number): number => Number(value.toPrecision(DIGITS))
