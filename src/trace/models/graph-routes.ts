import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { capabilityMissing } from './capabilities.ts'
import type { Models } from './models.ts'

// Longest prompt that Neuronpedia takes.
const MAX_PROMPT_CHARACTERS = 10_000

const graphRequest = z
  .strictObject({ prompt: z.string().min(1).max(MAX_PROMPT_CHARACTERS) })
  .meta({ id: 'MakeExternalGraphRequest' })

const graphView = z
  .object({
    source: z.enum(['neuronpedia']),
    model: z.string().describe('Model name at that service.'),
    exact: z.literal(false).describe('false: the graph is of a replacement model, and no attribution of this service.'),
    graph: z
      .custom<object>((value) => typeof value === 'object' && value !== null)
      .meta({ type: 'object', additionalProperties: true, verbatim: true })
      .describe('Graph as received, in the schema of Neuronpedia’s graphs.'),
  })
  .meta({ id: 'ExternalGraph' })

/** Graphs that another service makes of a model of its own. Nothing of them is stored here. */
export function graphRoutes(models: Models): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/trace/models/:id/graphs',
        operationId: 'makeExternalGraph',
        sdk: 'trace.graphs.create',
        effect: 'write',
        kind: 'call',
        summary: 'Have another service make an attribution graph, and return it unchanged',
        scope: 'intent',
        permission: 'traces.write',
        needsAccountKey: true,
        params: z.object({ id: z.string().max(64) }),
        body: graphRequest,
        view: graphView,
        status: [200],
      },
      (request) => make(models, request),
      // A repeat asks for another graph of the same prompt.
      (request) => make(models, request),
    ),
  ]
}

async function make(
  models: Models,
  request: { params: { id: string }; body: { prompt: string }; caller: { accountId: string }; signal: AbortSignal },
): Promise<z.input<typeof graphView>> {
  const { params, body, caller, signal } = request
  const backend = models.get(params.id)
  if (backend.graph === undefined) throw capabilityMissing(backend.model, 'attribution')
  const { source, model, exact, graph } = await backend.graph(body, { lane: caller.accountId, signal })
  return { source, model, exact, graph }
}
