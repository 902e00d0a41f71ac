// `npm run model -- list|check|add|fetch`: the model files of this installation.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readDeploymentSettings } from '#src/config.ts'
import { isModelError } from '#src/trace/gguf/model-error.ts'
import { inspectModel, type ModelFacts } from '#src/trace/llama/model.ts'
import { addModelFile, addProbesFile, findModelFile, listModelFiles } from '#src/trace/models/model-files.ts'
import { HELP, type ModelOptions, readOptions } from './model/options.ts'
import { PACKAGES, withPackage } from './model/packages.ts'
import { exitCodeOf, usageError } from './sentence.ts'

const EXIT = { done: 0, unusable: 1 }

interface Row {
  id: string
  path: string
  isEmbedded: boolean
  facts?: ModelFacts
  problem?: { code: string; detail: string }
}

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => {})
process.exitCode = await exitCodeOf('model', async () => {
  const options = readOptions(process.argv.slice(2))
  if (options !== undefined) return write(await rowsOf(options), options.isJson)
  process.stdout.write(HELP)
  return EXIT.done
})

async function rowsOf(options: ModelOptions): Promise<Row[]> {
  const { modelDirectory } = readDeploymentSettings()
  if (options.word === 'list') {
    return listModelFiles(modelDirectory).map((file) => ({ ...file, ...inspected(file.path) }))
  }
  if (options.word === 'check') {
    const named = findModelFile(modelDirectory, options.target)
    const file = named ?? { id: options.target, path: options.target, isEmbedded: false }
    if (!existsSync(file.path)) throw usageError(`${options.target}: there is no such file, and no model of that name.`)
    return [{ ...file, ...inspected(file.path) }]
  }
  if (options.word === 'add') {
    if (!existsSync(options.file)) throw usageError(`${options.file}: there is no such file.`)
    const { file, facts } = addModelFile(modelDirectory, options.file, options.id)
    return [{ ...file, facts }]
  }
  const { id, probes } = PACKAGES[options.name]
  const { file, facts } = await withPackage(options.name, (path) => addModelFile(modelDirectory, path, id))
  addProbesFile(modelDirectory, { id, facts }, fileURLToPath(probes))
  return [{ ...file, facts }]
}

function inspected(path: string): Pick<Row, 'facts' | 'problem'> {
  try {
    return { facts: inspectModel(path) }
  } catch (error) {
    if (!isModelError(error)) throw error
    return { problem: { code: error.code, detail: error.message } }
  }
}

function write(rows: readonly Row[], isJson: boolean): number {
  if (isJson) process.stdout.write(`${JSON.stringify({ object: 'list', data: rows.map(jsonOf) })}\n`)
  else process.stdout.write(rows.map(linesOf).join('\n'))
  return rows.some(({ problem }) => problem !== undefined) ? EXIT.unusable : EXIT.done
}

function jsonOf({ id, path, isEmbedded, facts, problem }: Row) {
  return {
    id,
    path,
    embedded: isEmbedded,
    usable: facts !== undefined,
    problem: problem ?? null,
    name: facts?.name ?? null,
    version: facts?.version ?? null,
    sha256: facts?.sha256 ?? null,
    architecture: facts?.architecture ?? null,
    parameters: facts?.parameters ?? null,
    layers: facts?.shape.layers ?? null,
    width: facts?.shape.width ?? null,
    mlp: facts?.shape.mlp ?? null,
    vocabulary: facts?.shape.vocabulary ?? null,
    context: facts?.shape.context ?? null,
    tensor_types: facts?.tensorTypes ?? null,
    chat: facts?.hasChat ?? null,
  }
}

function linesOf({ id, path, isEmbedded, facts, problem }: Row): string {
  const about =
    facts === undefined
      ? [['problem', `${problem?.code}: ${problem?.detail}`]]
      : [
          ['model', `${facts.name}${facts.version === null ? '' : ` ${facts.version}`}, ${facts.architecture}`],
          ['size', `${(facts.parameters / 1e6).toFixed(1)} M parameters, ${(facts.fileBytes / 1e6).toFixed(1)} MB`],
          ['layers', `${facts.shape.layers} of width ${facts.shape.width}, ${facts.shape.mlp} neurons each`],
          ['tokens', `${facts.shape.vocabulary}, context ${facts.shape.context}`],
          ['types', facts.tensorTypes.join(', ')],
          ['chat', facts.hasChat ? 'yes' : 'no: its template is not known, give it texts'],
          ['sha256', facts.sha256],
        ]
  const lines = [['file', isEmbedded ? `${path} (part of the service)` : path], ...about]
  return `${id}\n${lines.map(([name = '', value]) => `  ${name.padEnd(9)}${value}`).join('\n')}\n`
}
