// Exact attribution in the process: a graph of 512 neurons, and how far ablations of its top 20 agree with it over ten
// prompts. On the tiny model, and on SmolLM2 where it was fetched; the graph also in ONNX Runtime where that is installed.

import { readDeploymentSettings } from '#src/config.ts'
import { ablate, agreementOf } from '#src/trace/attribution/ablation.ts'
import { type AttributionGraph, attribute } from '#src/trace/attribution/attribute.ts'
import { freeze } from '#src/trace/attribution/frozen.ts'
import { chooseObjective, readObjective } from '#src/trace/attribution/objective.ts'
import { computeTotalEffects } from '#src/trace/attribution/total-effects.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { DEFAULT_MODEL, findModelFile } from '#src/trace/models/model-files.ts'
import { accelerateForBench } from './accelerated.ts'
import { describe, judged, judgeLimit, median, note, type Options, print, type Verdict } from './harness.ts'

// floor: one forward pass of the same text, for the record.
// Seconds of a graph of 512 neurons, with one thread.
const MAX_SECONDS = { tiny: 2, smollm2: 120 }
const MAX_ACCELERATED_SECONDS = { tiny: 2, smollm2: 60 }
const MIN_AGREEMENT = { sign: 0.9, correlation: 0.8 }
const MAX_BYTES = { maxBytes: 256e6 }
const PROMPTS = [
  'What do lamps cost at Cobalt Tools?',
  'Pay invoice INV-417 from Harbor Supplies.',
  'Send the contract to hana@example.net.',
  'Who wrote the delivery note?',
  'The capital of the state containing Dallas is',
  'Read the file notes.txt and tell me the total.',
  'Translate "good morning" into French.',
  'When does Orchard Logistics deliver?',
  'List the open tickets of this week.',
  'What is two plus two?',
]

export async function runAttribution({ isQuick, rounds }: Options): Promise<Verdict[]> {
  const verdicts = await measure('tiny', DEFAULT_MODEL.path, { isQuick, rounds })
  const smollm2 = findModelFile(readDeploymentSettings().modelDirectory, 'smollm2-135m-instruct')
  if (isQuick) return verdicts
  if (smollm2 !== undefined) return [...verdicts, ...(await measure('smollm2', smollm2.path, { isQuick, rounds: 1 }))]
  print('SmolLM2 is not in the folder of models: on the tiny model alone')
  return verdicts
}

async function measure(
  name: keyof typeof MAX_SECONDS,
  path: string,
  { isQuick, rounds }: Pick<Options, 'isQuick' | 'rounds'>,
): Promise<Verdict[]> {
  const model = loadModel(path, { contextTokens: 512, maxBytes: 2e9 })
  const [first = []] = promptsOf(model, 1)
  const { seconds, graph } = await time(model, first, isQuick ? 1 : rounds)
  const floorStarted = performance.now()
  await freeze(model, first, MAX_BYTES)
  const floor = describe([performance.now() - floorStarted], 'ms')
  const pruned = `${describeGraph(graph, first.length)}; floor ${floor}`
  const agreements = await agreementsOf(model, promptsOf(model, isQuick ? 2 : PROMPTS.length))
  const sign = agreements.reduce((sum, one) => sum + one.sign, 0) / agreements.length
  const correlations = agreements.map((one) => one.correlation ?? 0)
  const isAgreed = sign >= MIN_AGREEMENT.sign && median(correlations) >= MIN_AGREEMENT.correlation
  const agreed = `${(sign * 100).toFixed(1)} % of signs, correlation ${describe(correlations, 'median')}`
  const label = `${name}, 512 neurons`
  return [
    isQuick
      ? note(`attribution, ${name}`, `${label} ${describe(seconds, 's')}; ${pruned}; bar skipped`)
      : judgeLimit({
          name: `attribution, ${name}`,
          label,
          unit: 's',
          values: seconds,
          max: MAX_SECONDS[name],
          beside: `${pruned}; remainder ${graph.remainderShare.toFixed(2)}`,
        }),
    await measureAccelerated(name, model, first, { isQuick, rounds }),
    isQuick
      ? note(`attribution, ${name}, ablations`, `${agreed}; bar skipped`)
      : judged(
          `attribution, ${name}, ablations`,
          `${agreed}, of ${agreements.length} prompts with 20 neurons each (bar >= 90 % and >= 0.8)`,
          isAgreed,
        ),
  ]
}

async function measureAccelerated(
  name: keyof typeof MAX_SECONDS,
  model: LoadedModel,
  tokens: readonly number[],
  { isQuick, rounds }: Pick<Options, 'isQuick' | 'rounds'>,
): Promise<Verdict> {
  const title = `attribution, ${name}, ort`
  const accelerated = await accelerateForBench(model)
  if (typeof accelerated === 'string') return note(title, `not measured: ${accelerated}`)
  // A process makes floats of the weights once.
  await freeze(accelerated, tokens.slice(0, 1), MAX_BYTES)
  const { seconds, graph } = await time(accelerated, tokens, isQuick ? 1 : rounds)
  const label = `${name}, 512 neurons in ONNX Runtime`
  const about = `${describeGraph(graph, tokens.length)}; ${graph.runtime}`
  if (isQuick) return note(title, `${label} ${describe(seconds, 's')}; ${about}; bar skipped`)
  const max = MAX_ACCELERATED_SECONDS[name]
  return judgeLimit({ name: title, label, unit: 's', values: seconds, max, beside: about })
}

async function time(model: LoadedModel, tokens: readonly number[], rounds: number) {
  const seconds: number[] = []
  let graph: AttributionGraph
  do {
    const started = performance.now()
    graph = await graphOf(model, tokens)
    seconds.push((performance.now() - started) / 1_000)
  } while (seconds.length < rounds)
  return { seconds, graph }
}

function describeGraph({ nodes, links, sumCheck }: AttributionGraph, tokens: number): string {
  const kept = `${nodes.length} nodes and ${links.weights.length} links kept`
  return `${tokens} tokens, ${kept}; sum check ${sumCheck?.maxError.toExponential(1)}`
}

function graphOf(model: LoadedModel, tokens: readonly number[]): Promise<AttributionGraph> {
  return attribute(
    model,
    {
      tokens,
      method: 'exact',
      maxFeatureNodes: 512,
      maxLogits: 10,
      desiredLogitProbability: 0.95,
      thresholds: { node: 0.8, edge: 0.98 },
    },
    { maxInternalsBytes: MAX_BYTES.maxBytes },
  )
}

async function agreementsOf(model: LoadedModel, prompts: readonly number[][]) {
  const made: ReturnType<typeof agreementOf>[] = []
  for (const tokens of prompts) {
    const pass = await freeze(model, tokens, MAX_BYTES)
    const objective = chooseObjective(pass)
    const { selected } = await computeTotalEffects(pass, readObjective(pass, objective), 20)
    made.push(agreementOf(await ablate(pass, objective, selected)))
  }
  return made
}

function promptsOf({ chat, tokenizer }: LoadedModel, count: number): number[][] {
  return PROMPTS.slice(0, count).map(
    (content) => chat?.render([{ role: 'user', content }]).tokens ?? tokenizer.encode(content, { begins: true }),
  )
}
