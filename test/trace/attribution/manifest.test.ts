import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { type AttributionGraph, attribute } from '#src/trace/attribution/attribute.ts'
import { loadLabels } from '#src/trace/attribution/labels.ts'
import {
  buildManifest,
  type ManifestContext,
  pairCantor,
  toCircuitTracer,
  toCircuitTracerBytes,
} from '#src/trace/attribution/manifest.ts'
import { loadModel } from '#src/trace/llama/model.ts'
import { TINY } from '../../support/models.ts'

interface ManifestNode {
  node_id: string
  feature: number
  feature_type: string
  layer: string
  clerp: string
  jsNodeId: string
}
interface Manifest {
  metadata: { svc: Record<string, unknown> }
  nodes: ManifestNode[]
  links: { source: string; target: string; weight: number }[]
}

const model = loadModel(TINY, { contextTokens: 128, maxBytes: 1e8 })
const labels = loadLabels(TINY.replace('.gguf', '.labels.json'), model.sha256)
const settings = {
  maxFeatureNodes: 128,
  maxLogits: 5,
  desiredLogitProbability: 0.95,
  thresholds: { node: 0.8, edge: 0.98 },
}
const tokens = model.chat?.render([{ role: 'user', content: 'Read the file "a\\b" and pay É 20' }]).tokens ?? []
const context: ManifestContext = {
  jobId: 'job_test_01m7x7k7d2e6ts0a9n3v8wq5hc',
  traceId: 'trc_test_01m7x7k7d2e6ts0a9n3v8wq5hc',
  createdAt: new Date('2026-11-20T10:00:00Z'),
  settings,
  model: { versionId: 'countersign-tiny@0123456789abcdef', sha256: model.sha256, backend: 'embedded' },
  canary: null,
  generator: { version: '1.0.0', url: 'https://api.example' },
  findLabel: labels.find,
}
const schema = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../vectors/trace/graph-schema.json'), 'utf8'),
)
const graphSchema = z.fromJSONSchema(schema)
const isGraph = (value: unknown) => graphSchema.safeParse(value).success
const graphs: AttributionGraph[] = []
for (const method of ['exact', 'grad_x_act', 'ablation'] as const) {
  graphs.push(await attribute(model, { tokens, method, ...settings }, { maxInternalsBytes: 1e8 }))
}

describe.each(graphs.map((graph) => [graph.method, graph] as const))('a manifest by %s', (_, graph) => {
  const manifest = buildManifest(graph, context) as unknown as Manifest

  it('has the schema of Neuronpedia, also as circuit-tracer wants it, and needs each of its members', () => {
    for (const one of [manifest, toCircuitTracer(buildManifest(graph, context))]) {
      expect(isGraph(JSON.parse(canonicalize(one as never)))).toBe(true)
    }
    for (const missing of ['metadata', 'qParams', 'nodes', 'links'])
      expect(isGraph({ ...manifest, [missing]: undefined })).toBe(false)
    const [node, ...nodes] = manifest.nodes
    expect(isGraph({ ...manifest, nodes: [{ ...node, feature: 'x' }, ...nodes] })).toBe(false)
  })

  it('gives each node an id of its own that its links use', () => {
    const ids = manifest.nodes.map(({ node_id }) => node_id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { source, target, weight } of manifest.links) {
      expect(ids).toContain(source)
      expect(ids).toContain(target)
      expect(Number.isFinite(weight)).toBe(true)
    }
  })

  it('keeps the rules that the front ends follow', () => {
    const kinds = new Set(manifest.nodes.map(({ feature_type }) => feature_type))
    expect(kinds).toContain('mlp neuron')
    for (const node of manifest.nodes) {
      const [layer, middle] = node.node_id.split('_').map(Number)
      if (node.feature_type === 'mlp neuron') {
        expect(node.feature).toBe(pairCantor(layer ?? 0, middle ?? 0))
        expect(node.layer).toBe(String(layer))
        expect(node.clerp).toBe(labels.find(layer ?? 0, middle ?? 0))
      }
      if (node.feature_type === 'logit') {
        expect(node.layer).toBe('4')
        expect(Number(node.clerp.split('(p=')[1]?.slice(0, -1))).toBeGreaterThan(0)
      }
      if (node.feature_type === 'mlp reconstruction error') expect(node.node_id).toMatch(/^R_\d+_\d+$/)
      if (node.feature_type === 'embedding') expect(node.node_id).toMatch(/^E_\d+_\d+$/)
    }
  })

  it('says what is exact in it', () => {
    const { svc } = manifest.metadata
    expect(svc.is_approximate).toBe(graph.method !== 'exact')
    for (const sum of [svc.sum_check, svc.replacement_score, svc.completeness_score]) {
      expect(sum === null).toBe(graph.method !== 'exact')
    }
    expect(svc.verified_nodes).toHaveLength(20)
  })

  it('says how many links were found, kept and may be', () => {
    const links = { found: graph.linksFound, kept: manifest.links.length, limit: 200_000 }
    expect(manifest.metadata.svc.links).toEqual(links)
    expect(links.found).toBeGreaterThanOrEqual(links.kept)
    const cut = buildManifest({ ...graph, linksFound: 250_000 }, context) as unknown as Manifest
    expect(cut.metadata.svc.links).toEqual({ ...links, found: 250_000 })
    expect(isGraph(cut)).toBe(true)
  })

  it('has the same bytes for the same graph', () => {
    expect(canonicalize(buildManifest(structuredClone(graph), context))).toBe(canonicalize(manifest as never))
  })
})

describe('a manifest', () => {
  it('pairs layer and neuron as Cantor does, each pair once', () => {
    expect(pairCantor(1, 77)).toBe(3158)
    const all = Array.from({ length: 900 }, (_, index) => pairCantor(Math.floor(index / 300), index % 300))
    expect(new Set(all).size).toBe(900)
  })

  it('for circuit-tracer differs in the word for neurons and in nothing else', () => {
    const plain = buildManifest(graphs[0] as AttributionGraph, context)
    const compat = toCircuitTracer(plain) as unknown as Manifest
    expect(compat.nodes.some(({ feature_type }) => feature_type === 'mlp neuron')).toBe(false)
    expect(compat.metadata.svc.compat).toBe(true)
    const back = canonicalize(compat as never)
      .replaceAll('"cross layer transcoder"', '"mlp neuron"')
      .replace('"compat":true,', '')
    expect(back).toBe(canonicalize(plain))
    const bytes = toCircuitTracerBytes(Buffer.from(canonicalize(plain)))
    expect(bytes.toString()).toBe(canonicalize(compat as never))
  })

  it('is translated without reading its links, which are nearly all of its megabytes', () => {
    // As they are they would be no JSON.
    const text = canonicalize(buildManifest(graphs[0] as AttributionGraph, context)).replace(
      '"weight":',
      '"weight":not ',
    )
    expect(toCircuitTracerBytes(Buffer.from(text)).toString()).toContain('"weight":not ')
  })

  it('names neurons by their numbers where there are no labels', () => {
    const plain = buildManifest(graphs[0] as AttributionGraph, { ...context, findLabel: () => undefined })
    const { nodes } = plain as unknown as Manifest
    const neuron = nodes.find(({ feature_type }) => feature_type === 'mlp neuron')
    const [layer, number] = neuron?.node_id.split('_') ?? []
    expect(neuron?.clerp).toBe(`layer ${layer}, neuron ${number}`)
  })

  it('takes no labels of another model', () => {
    expect(() => loadLabels(TINY.replace('.gguf', '.labels.json'), 'f'.repeat(64))).toThrow(
      expect.objectContaining({ code: 'model_file_invalid' }),
    )
  })
})
