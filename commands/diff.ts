// `npm run diff -- BASE TARGET`: compares two versions of a model in CI, by the code of the queue `diff`.

import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { readDeploymentSettings } from '#src/config.ts'
import { Failure } from '#src/failure.ts'
import { createLog } from '#src/platform/log.ts'
import { type DiffModels, measurePrompt, pairModels, startMeasures } from '#src/trace/diffs/compare.ts'
import { type EvalPrompts, parseEvalFile, readDefaultEvalSet } from '#src/trace/diffs/eval-prompts.ts'
import { DEFAULT_THRESHOLDS } from '#src/trace/diffs/judge.ts'
import { type WrittenReport, writeReport } from '#src/trace/diffs/report.ts'
import { isModelError } from '#src/trace/gguf/model-error.ts'
import type { TraceBackend } from '#src/trace/models/backend.ts'
import { modelsConfig } from '#src/trace/models/config.ts'
import { findModelFile } from '#src/trace/models/model-files.ts'
import { createModels, type Models } from '#src/trace/models/models.ts'
import { type DiffOptions, EXIT, HELP, type NamedModel, readOptions } from './diff/options.ts'
import { writeJunit, writeTable } from './diff/written.ts'
import { isUsageError, sentenceOf, usageError } from './sentence.ts'

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => {})
process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2))
    if (options !== undefined) return await compare(options)
    process.stdout.write(HELP)
    return EXIT.pass
  } catch (error) {
    const isUsage = isUsageError(error)
    process.stderr.write(`${sentenceOf(error)}\n${isUsage ? 'Try: npm run diff -- --help\n' : ''}`)
    return isUsage ? EXIT.usage : EXIT.failed
  }
}

async function compare(options: DiffOptions): Promise<number> {
  const set = readPrompts(options.evalFile)
  const models = openModels(options)
  const startedAt = performance.now()
  try {
    const pair = { base: await open(models, options.base), target: await open(models, options.target) }
    const { report, canonical, hash } = await measure(pair, set, options.seed)
    const hex = hash.toString('hex')
    const seconds = (performance.now() - startedAt) / 1_000
    if (options.junitFile !== undefined) writeFileSync(options.junitFile, writeJunit(report, hex, seconds))
    process.stdout.write(options.isJson ? `{"report_hash":"${hex}","report":${canonical}}\n` : writeTable(report, hex))
    return EXIT[report.verdict]
  } finally {
    await models.close()
  }
}

async function measure(pair: DiffModels, set: EvalPrompts, seed: number): Promise<WrittenReport> {
  const settings = { signal: new AbortController().signal, lane: 'diff' }
  const pairing = await pairModels(pair, settings)
  const measures = startMeasures(pairing)
  for (const prompt of set.prompts) {
    await measurePrompt(pair, prompt, { pairing, measures }, settings)
    if (process.stderr.isTTY) process.stderr.write(`\r${measures.done} of ${set.prompts.length} prompts`)
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  return writeReport(pairing, set, { seed, thresholds: DEFAULT_THRESHOLDS }, measures)
}

function openModels({ base, target }: DiffOptions): Models {
  const settings = z.object(modelsConfig.keys).parse({ TRACE_MODEL_DIR: readDeploymentSettings().modelDirectory })
  const entries = [base, target].map(({ id, path }) => (path === undefined ? id : `${id}=${path}`))
  const log = createLog({ process: 'web', level: 'warn' }, { write: (line) => process.stderr.write(line) })
  return createModels({ log }, { ...settings, TRACE_MODELS: [...new Set(entries)] })
}

async function open(models: Models, { id, path }: NamedModel): Promise<TraceBackend> {
  if (path === undefined && findModelFile(readDeploymentSettings().modelDirectory, id) === undefined) {
    throw usageError(`${id}: there is no such model. npm run model -- list shows them.`)
  }
  const backend = models.get(id)
  try {
    await backend.modelVersion()
  } catch (error) {
    // The service leaves to its log what is wrong with a file. Who calls this command has the file.
    if (!(error instanceof Failure) || !isModelError(error.cause)) throw error
    throw new Error(`${path ?? id}: ${error.cause.message}`, { cause: error })
  }
  return backend
}

function readPrompts(file: string | undefined): EvalPrompts {
  if (file === undefined) return readDefaultEvalSet()
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw usageError(`--eval ${file}: ${sentenceOf(error)}`)
  }
  try {
    return parseEvalFile('file', text)
  } catch (error) {
    throw usageError(`--eval ${file}: ${sentenceOf(error)}`)
  }
}
