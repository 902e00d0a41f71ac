// A language model in the process: tokens per second of a prompt and of an answer, and the memory it takes. On SmolLM2
// where it was fetched (`npm run model -- fetch smollm2`), else on the tiny model: that says whether it runs, and the bars,
// which are of SmolLM2, are skipped.

import { closeSync, openSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { readDeploymentSettings } from '#src/config.ts'
import { readGguf } from '#src/trace/gguf/gguf.ts'
import { decodeTensor } from '#src/trace/gguf/tensor-types.ts'
import { feedText, generate } from '#src/trace/llama/generation.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { GREEDY } from '#src/trace/llama/sampling.ts'
import { DEFAULT_MODEL, findModelFile } from '#src/trace/models/model-files.ts'
import { measureAcceleratedPrompt } from './accelerated.ts'
import { compare, describe, judgeLimit, note, type Options, print, type Verdict } from './harness.ts'
import { measureInferences } from './trace-inference.ts'

// floors: the products of matrices alone in TypeScript, and llama.cpp where its package is installed beside the project.
const MIN_RATIO = 10
const MAX_PREFILL_MS = 1_000 / 80
const MAX_DECODE_MS = 83
const MAX_MEGABYTES = 1_200

export async function runTrace(options: Options): Promise<Verdict[]> {
  // First: what follows leaves the processor warm and a gigabyte of memory taken.
  const overHttp = await measureInferences(options)
  return [...(await measureModel(options)), overHttp]
}

async function measureModel({ isQuick, rounds }: Options): Promise<Verdict[]> {
  const smollm2 = findModelFile(readDeploymentSettings().modelDirectory, 'smollm2-135m-instruct')
  const { id, path } = isQuick || smollm2 === undefined ? DEFAULT_MODEL : smollm2
  const isJudged = !isQuick && smollm2 !== undefined
  if (smollm2 === undefined) print(`SmolLM2 is not in the folder of models: on ${id}, and the bars are skipped`)
  const sizes = isQuick ? { prompt: 32, answer: 8, floor: 4 } : { prompt: 64, answer: 32, floor: 4 }
  const model = loadModel(path, { contextTokens: 512, maxBytes: 2e9 })
  const prompt = promptOf(model, sizes.prompt)
  const prefills: number[] = []
  const decodes: number[] = []
  const prefill = async () => {
    model.llama.restart()
    return perToken(prompt.length, () => feedText(model.llama, prompt, { logits: 'last' }))
  }
  const decode = async () => {
    model.llama.restart()
    const started = await timed(() => generateTokens(model, prompt.slice(0, 1), 1))
    const whole = await timed(() => generateTokens(model, prompt.slice(0, 1), 1 + sizes.answer))
    return (whole - started) / sizes.answer
  }
  await prefill()
  await decode()
  for (let round = 0; round < rounds; round += 1) {
    prefills.push(await prefill())
    decodes.push(await decode())
  }
  // Before the floor reads the weights once more.
  const megabytes = process.resourceUsage().maxRSS / 1_000
  const floor = createFloor(path)
  const floorRate = async () => 1_000 / (await perToken(sizes.floor, () => floor(sizes.floor)))
  if (!isJudged) {
    return [
      note(
        'trace, prompt',
        `${id} ${rateOf(prefills)}; floor ${describe([await floorRate()], 'tokens/s')}; bar skipped`,
      ),
      note('trace, answer', `${id} ${rateOf(decodes)}; bar skipped`),
      note('trace, memory', `${id}, peak of the process ${describe([megabytes], 'MB')}; bar skipped`),
      ...(await measureAcceleratedPrompt({ id, path }, { tokens: sizes.prompt, rounds, isJudged })),
      await measureLlamaCpp(path, prompt, sizes.answer, rounds),
    ]
  }
  return [
    judgeLimit({
      name: 'trace, prompt',
      label: `${id}, per token of a prompt`,
      unit: 'ms',
      values: prefills,
      max: MAX_PREFILL_MS,
      beside: rateOf(prefills),
    }),
    judgeLimit({
      name: 'trace, answer',
      label: `${id}, per token of an answer`,
      unit: 'ms',
      values: decodes,
      max: MAX_DECODE_MS,
      beside: rateOf(decodes),
    }),
    judgeLimit({
      name: 'trace, memory',
      label: `${id}, peak of the process`,
      unit: 'MB',
      values: [megabytes],
      max: MAX_MEGABYTES,
    }),
    ...(await measureAcceleratedPrompt({ id, path }, { tokens: sizes.prompt, rounds, isJudged })),
    await compare({
      name: 'trace',
      unit: 'tokens/s',
      floor: {
        label: 'the matrix products in TypeScript',
        run: floorRate,
      },
      ours: { label: `${id}, a prompt`, run: async () => 1_000 / (await prefill()) },
      bar: MIN_RATIO,
      rounds,
    }),
    await measureLlamaCpp(path, prompt, sizes.answer, rounds),
  ]
}

function promptOf({ tokenizer }: LoadedModel, count: number): number[] {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  return tokenizer.encode(text).slice(0, count)
}

/** Without an end: each answer has as many tokens as were asked for. */
const generateTokens = ({ llama, tokenizer }: LoadedModel, prompt: number[], maxTokens: number) =>
  generate(llama, { ...tokenizer, endTokens: new Set() }, { prompt, maxTokens, sampling: GREEDY })

async function timed(run: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

const perToken = async (tokens: number, run: () => unknown) => (await timed(run)) / tokens
const rateOf = (milliseconds: readonly number[]) =>
  describe(
    milliseconds.map((each) => 1_000 / each),
    'tokens/s',
  )

/** Multiplies each matrix of the model with as many vectors as there are tokens: the unavoidable work, in plain code. */
function createFloor(path: string): (tokens: number) => number {
  const descriptor = openSync(path, 'r')
  const { tensors } = readGguf(descriptor)
  closeSync(descriptor)
  const file = readFileSync(path)
  const matrices = [...tensors.values()]
    .filter(({ dimensions }) => dimensions.length === 2)
    .map(({ type, dimensions: [columns = 0, rows = 0], offset, bytes }) => {
      const values = new Float32Array(columns * rows)
      decodeTensor(type, file.subarray(offset, offset + bytes), values)
      return { values, columns, rows }
    })
  const x = new Float32Array(Math.max(...matrices.map(({ columns }) => columns))).fill(0.5)
  return (tokens) => {
    let total = 0
    for (const { values, columns, rows } of matrices) {
      for (let row = 0; row < rows * tokens; row += 1) {
        const from = (row % rows) * columns
        let sum = 0
        for (let column = 0; column < columns; column += 1) sum += (values[from + column] ?? 0) * (x[column] ?? 0)
        total += sum
      }
    }
    return total
  }
}

// What is used of the package node-llama-cpp, which is no dependency: it brings 700 MB of libraries.
interface LlamaCpp {
  getLlama(options: { gpu: false; build: 'never'; logLevel: 'error' }): Promise<{
    loadModel(options: { modelPath: string; gpuLayers: 0 }): Promise<{
      createContext(options: {
        contextSize: number
        threads: number
      }): Promise<{ getSequence(): LlamaCppSequence; dispose(): Promise<void> }>
    }>
  }>
}
interface LlamaCppSequence {
  evaluateWithoutGeneratingNewTokens(tokens: number[]): Promise<void>
  evaluate(tokens: number[], options: { temperature: 0; yieldEogToken: true }): AsyncIterable<number>
}

async function measureLlamaCpp(path: string, prompt: number[], answer: number, rounds: number): Promise<Verdict> {
  let module: LlamaCpp
  try {
    const found = createRequire(`${process.cwd()}/`).resolve('node-llama-cpp')
    module = await import(pathToFileURL(found).href)
  } catch {
    return note('trace, llama.cpp', 'not measured: node-llama-cpp is not installed in the current folder')
  }
  const model = await (await module.getLlama({ gpu: false, build: 'never', logLevel: 'error' })).loadModel({
    modelPath: path,
    gpuLayers: 0,
  })
  const prefills: number[] = []
  const decodes: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const context = await model.createContext({ contextSize: 512, threads: 1 })
    const sequence = context.getSequence()
    const [last = 0] = prompt.slice(-1)
    prefills.push(await perToken(prompt.length, () => sequence.evaluateWithoutGeneratingNewTokens(prompt)))
    decodes.push(await perToken(answer, () => takeTokens(sequence, last, answer)))
    await context.dispose()
  }
  // The first round warms up.
  return note(
    'trace, llama.cpp',
    `one thread: a prompt ${rateOf(prefills.slice(1))}, an answer ${rateOf(decodes.slice(1))}`,
  )
}

async function takeTokens(sequence: LlamaCppSequence, last: number, count: number): Promise<void> {
  let taken = 0
  for await (const _ of sequence.evaluate([last], { temperature: 0, yieldEogToken: true })) {
    taken += 1
    if (taken === count) return
  }
}
