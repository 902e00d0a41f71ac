// The process of a model of a GGUF file.

import { accelerate } from '../accelerator/accelerator.ts'
import { modelError } from '../gguf/model-error.ts'
import { inspectModel, loadModel } from '../llama/model.ts'
import type { LlamaShape } from '../llama/shape.ts'
import { loadProbeSet, type ProbeSet } from '../probes/probe-set.ts'
import { type ServedModel, serveModel } from './child-server.ts'
import { runInference } from './inference.ts'
import { findOperation } from './operations.ts'
import type { ModelProcessArguments, ModelReport, ProbeSetFacts } from './protocol.ts'

await serveModel({ inspect, load })

async function load(settings: ModelProcessArguments): Promise<ServedModel> {
  const { path, contextTokens, isAccelerated, maxModelBytes: maxBytes, maxInternalsBytes } = settings
  const loaded = loadModel(path, { contextTokens, maxBytes })
  const probes = findProbes(settings, loaded)
  const accelerated = isAccelerated && (await accelerate(loaded, { maxBytes }))
  const { model, acceleration } = accelerated || { model: loaded }
  const { name, shape, sha256, chat, llama } = model
  return {
    report: reportOf({ name, shape, sha256, hasChat: chat !== undefined, probes }, llama.maxTokens),
    acceleration,
    infer: (request, options) => runInference(model, request, { probes, maxInternalsBytes, ...options }),
    operate(name, request, options) {
      const operation = findOperation(name)
      if (operation === undefined) throw modelError('request_invalid', `There is no operation ${name}.`)
      return operation.run(model, request, { probes, maxInternalsBytes, ...options })
    },
  }
}

/** Reports what the loaded model would. */
function inspect(settings: ModelProcessArguments): ModelReport {
  const facts = inspectModel(settings.path)
  const probes = findProbes(settings, facts)
  return reportOf({ ...facts, probes }, Math.min(settings.contextTokens, facts.shape.context))
}

function findProbes({ probesPath }: ModelProcessArguments, model: { sha256: string; shape: LlamaShape }) {
  return probesPath === null ? undefined : loadProbeSet(probesPath, model)
}

function reportOf(
  { probes, ...model }: Pick<ModelReport, 'name' | 'shape' | 'sha256' | 'hasChat'> & { probes: ProbeSet | undefined },
  maxTokens: number,
): ModelReport {
  const { name, shape, sha256, hasChat } = model
  return {
    name,
    shape,
    sha256,
    hasChat,
    maxTokens,
    architecture: 'llama',
    probes: probes ? factsOf(probes) : null,
    hidden: null,
  }
}

function factsOf({ set, version, probes }: ProbeSet): ProbeSetFacts {
  return {
    set,
    version,
    families: probes.map(
      ({ family, kind, layer, threshold, card: { status, held_out, generated, known_failures } }) => {
        const { auc, trip_rate: tripRate, false_positive_rate: falsePositiveRate } = held_out
        const heldOut = { auc, tripRate, falsePositiveRate }
        const ofModel = generated && {
          runs: generated.runs,
          trips: generated.trips,
          falsePositiveRate: generated.false_positive_rate,
        }
        const card = { status, heldOut, generated: ofModel ?? null, knownFailures: known_failures }
        return { family, kind, layer, threshold, ...card }
      },
    ),
  }
}
