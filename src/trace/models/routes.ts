import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf, wholeList } from '#src/platform/http/page.ts'
import { PROBE_KINDS, PROBE_STATUSES } from '../probes/probe-set.ts'
import type { ModelSummary, Models } from './models.ts'
import type { ProbeSetFacts } from './protocol.ts'

export const probeStatusView = z.enum(PROBE_STATUSES).meta({ id: 'ProbeStatus' })
const share = z.number().min(0).max(1)

const capabilitiesView = z
  .object({
    generate: z.boolean(),
    activations: z.boolean().describe('The logit lens and other internals.'),
    attribution: z.enum(['exact', 'grad_x_act', 'ablation', 'none']).meta({ id: 'AttributionCapability' }),
    canary: z
      .enum(['probe', 'classifier', 'none'])
      .meta({ id: 'CanaryCapability' })
      .describe('none: `canary_set` is refused.'),
    intervene: z.boolean(),
    deterministic: z.boolean().describe('The same request gives the same tokens and readings.'),
  })
  .meta({ id: 'ModelCapabilities' })

const versionView = z
  .object({
    model_version_id: z.string(),
    sha256: z.string(),
    architecture: z.string(),
    layers: z.number().int(),
    width: z.number().int(),
    mlp: z.number().int().describe('Neurons of each layer.'),
    vocabulary: z.number().int(),
    context_tokens: z.number().int().describe('The longest text, prompt and completion together.'),
    chat: z.boolean().describe('It takes `messages`; otherwise `prompt` only.'),
  })
  .meta({ id: 'ModelVersion' })

const probeSetView = z
  .object({
    set: z.string(),
    version: z.string(),
    families: z.array(
      z
        .object({
          family: z.string(),
          kind: z.enum(PROBE_KINDS).meta({ id: 'ProbeKind' }),
          layer: z.number().int().nullable(),
          threshold: share,
          status: probeStatusView.describe(
            'experimental: it misses the bar of its family, failed a control, or trips on benign completions of the model itself.',
          ),
          held_out: z
            .object({ auc: share, trip_rate: share, false_positive_rate: share })
            .meta({ id: 'HeldOutFigures' })
            .describe('On completions that a script wrote.'),
          generated: z
            .object({ runs: z.number().int(), trips: z.number().int(), false_positive_rate: share })
            .meta({ id: 'GeneratedRuns' })
            .nullable()
            .describe('On benign completions that the model made itself; null: it was not measured.'),
          known_failures: z.array(z.string()),
        })
        .meta({ id: 'CanaryProbe' }),
    ),
  })
  .meta({ id: 'CanaryProbeSet' })

const modelView = z
  .object({
    model: z.string(),
    default: z.boolean().describe('Requests that name no model use it.'),
    embedded: z.boolean().describe('It comes with the service.'),
    backend: z.enum(['embedded', 'onnx', 'neuronpedia', 'openai_compatible']).meta({ id: 'ModelBackend' }),
    usable: z.boolean().describe('false: its file can not be loaded.'),
    capabilities: capabilitiesView,
    version: versionView.nullable(),
    probe_set: probeSetView.nullable(),
  })
  .meta({ id: 'Model' })

const reading = { scope: 'intent', permission: 'traces.read' } as const

export function modelRoutes(models: Models): Route[] {
  return [
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/models',
        operationId: 'listModels',
        sdk: 'trace.models.list',
        effect: 'read',
        kind: 'list',
        summary: 'The models of this installation',
        view: listOf(modelView),
        status: [200],
      },
      async () => {
        const data = await Promise.all((await models.list()).map((summary) => toModelView(models, summary)))
        return wholeList(data)
      },
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/models/:id',
        operationId: 'getModel',
        sdk: 'trace.models.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One model: what it can do, its version and its canary probes',
        params: z.object({ id: z.string().max(64) }),
        view: modelView,
        status: [200],
      },
      async ({ params }) => {
        const summary = (await models.list()).find(({ id }) => id === params.id)
        if (summary === undefined) throw new Failure('not_found', `There is no model ${params.id}.`)
        return toModelView(models, summary)
      },
    ),
  ]
}

async function toModelView(models: Models, summary: ModelSummary): Promise<z.input<typeof modelView>> {
  const { id, isDefault, isEmbedded, backend: name, capabilities } = summary
  const backend = models.get(id)
  const [version, probes] = await Promise.all([orUnusable(backend.modelVersion()), orUnusable(backend.probeSet())])
  return {
    model: id,
    default: isDefault,
    embedded: isEmbedded,
    backend: name,
    usable: version !== undefined,
    capabilities,
    version:
      version === undefined
        ? null
        : {
            model_version_id: version.id,
            sha256: version.sha256,
            architecture: version.architecture,
            layers: version.layers,
            width: version.width,
            mlp: version.mlp,
            vocabulary: version.vocabulary,
            context_tokens: version.contextTokens,
            chat: version.hasChat,
          },
    probe_set: probes === undefined ? null : toProbeSetView(probes),
  }
}

/** A file that can't be used is shown as such; the log has the reason. */
async function orUnusable<V>(asked: Promise<V>): Promise<V | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

function toProbeSetView({ set, version, families }: ProbeSetFacts): z.input<typeof probeSetView> {
  return {
    set,
    version,
    families: families.map(({ family, kind, layer, threshold, status, heldOut, generated, knownFailures }) => ({
      family,
      kind,
      layer,
      threshold,
      status,
      held_out: { auc: heldOut.auc, trip_rate: heldOut.tripRate, false_positive_rate: heldOut.falsePositiveRate },
      generated: generated && {
        runs: generated.runs,
        trips: generated.trips,
        false_positive_rate: generated.falsePositiveRate,
      },
      known_failures: knownFailures,
    })),
  }
}
