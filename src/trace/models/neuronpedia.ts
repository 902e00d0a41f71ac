// The backend of attribution graphs that Neuronpedia makes. They are of a replacement model, with its own features: they
// are passed on as they came and as what they are, and never as one of our attributions. The prompt is stored by
// Neuronpedia, where others can see it.

import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import { type CallOptions, type ExternalGraph, queueFull, type TraceBackend } from './backend.ts'
import { type Capabilities, capabilityMissing } from './capabilities.ts'
import type { RemoteModel } from './config.ts'
import { OPERATIONS } from './operations.ts'
import { createRemoteCalls, type RemoteDeps, remoteCount, remoteVersion } from './remote.ts'

const CAPABILITIES: Capabilities = {
  generate: false,
  activations: false,
  attribution: 'none',
  canary: 'none',
  intervene: false,
  deterministic: false,
}

const MAX_ANSWER_BYTES = 64_000
// Graphs of the service itself have 5,000 features, and some megabytes with their links.
const MAX_GRAPH_BYTES = 32_000_000
// A graph of 10,000 features stays below these numbers.
const MAX_NODES = 50_000
const MAX_LINKS = 2_000_000
// The largest graph takes 150 MB of this process while it is read, and each of an account one of Neuronpedia's turns. One that
// waits takes nothing but its connection.
const GRAPHS = { slots: 4, slotsEach: 1, maxWaiting: 16, maxWaitingEach: 1 }

const generated = z.object({ s3url: z.url().max(2_000), numNodes: remoteCount, numLinks: remoteCount })

const name = z.string().max(1_000)
// What graph-schema.json requires. Further members are kept as they came.
const graph = z.looseObject({
  metadata: z.looseObject({ slug: name, scan: name, prompt: z.string(), prompt_tokens: z.array(z.string()) }),
  qParams: z.looseObject({}),
  nodes: z
    .array(
      z.looseObject({
        node_id: name,
        feature: z.number().nullish(),
        layer: z.union([z.string(), z.number()]),
        ctx_idx: z.number(),
        feature_type: name,
      }),
    )
    .max(MAX_NODES),
  links: z.array(z.looseObject({ source: name, target: name, weight: z.number() })).max(MAX_LINKS),
})

export function createNeuronpediaBackend(id: string, remote: RemoteModel, deps: RemoteDeps): TraceBackend {
  const calls = createRemoteCalls(id, deps)
  const version = remoteVersion(id, remote, false)
  const authorization: Record<string, string> = deps.key === undefined ? {} : { 'x-api-key': deps.key }
  const withSlot = createFairSemaphore({ ...GRAPHS, refusal: queueFull(id) })

  async function draw({ prompt }: { prompt: string }, options: CallOptions): Promise<ExternalGraph> {
    const { s3url } = await calls.call(
      generated,
      {
        url: `${remote.address}/api/graph/generate`,
        body: { modelId: remote.model, prompt, slug: `countersign-${randomUUID()}` },
        maxBytes: MAX_ANSWER_BYTES,
      },
      { ...options, authorization },
    )
    // The address is Neuronpedia's choice: it gets no key, and an address that is not public is refused.
    const made = await calls.call(graph, { url: s3url, maxBytes: MAX_GRAPH_BYTES }, options)
    const known = new Set(made.nodes.map(({ node_id }) => node_id))
    if (made.links.some(({ source, target }) => !known.has(source) || !known.has(target))) {
      throw new Failure('service_unavailable', {
        detail: `The server of the model ${id} gave no usable answer.`,
        headers: { 'Retry-After': '30' },
      })
    }
    return { source: 'neuronpedia', address: remote.address, model: remote.model, exact: false, graph: made }
  }

  return {
    name: 'neuronpedia',
    model: id,
    capabilities: async () => CAPABILITIES,
    modelVersion: async () => version,
    probeSet: async () => undefined,
    generate: async () => {
      throw capabilityMissing(id, 'generate')
    },
    call: async (operation) => {
      throw capabilityMissing(id, OPERATIONS[operation].needs)
    },

    graph: (request, options = {}) => withSlot(options.lane ?? '', () => draw(request, options)),
  }
}
