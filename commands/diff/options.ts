import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isModelId, modelIdOf } from '#src/trace/models/model-files.ts'
import { usageError } from '../sentence.ts'

export const EXIT = { pass: 0, warn: 0, drift: 1, usage: 2, inconclusive: 3, failed: 4 } as const

export const HELP = `Compares two versions of a model by the canary readings of their answers, without a server. For CI.

  npm run diff -- BASE TARGET [--eval FILE] [--seed N] [--junit FILE] [--json]

  BASE, TARGET        a model of this installation (npm run model -- list), or a GGUF file with its probes beside it
                      (NAME.gguf and NAME.probes.json)
  --eval FILE         prompts, one {"messages":[{"role","content"}]} in each line; without it those of the service
  --seed N            of the bootstrap; 1 by default
  --junit FILE        writes a JUnit report with a test for each family
  --json              the report and its hash as one JSON object instead of the table
  --help              this text

Exit code: 0 pass (also with warnings), 1 drift, 2 wrong words, 3 inconclusive, 4 the models could not be compared.
`

export interface DiffOptions {
  base: NamedModel
  target: NamedModel
  evalFile: string | undefined
  junitFile: string | undefined
  seed: number
  isJson: boolean
}

export interface NamedModel {
  id: string
  /** undefined: of the installation. */
  path: string | undefined
}

/** Undefined: help was requested. @throws a usage error. */
export function readOptions(args: string[]): DiffOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      eval: { type: 'string' },
      junit: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const [first, second, ...more] = positionals
  if (first === undefined || second === undefined) throw usageError('Which models? BASE and TARGET are needed.')
  if (more.length > 0) throw usageError(`diff takes two models: ${more.join(' ')}`)
  const seed = Number(values.seed)
  if (!/^\d+$/.test(values.seed) || !Number.isSafeInteger(seed)) {
    throw usageError(`--seed ${values.seed}: must be a whole number from 0 to 2^53 - 1.`)
  }
  const base = readModel(first)
  const target = readModel(second)
  // Two files of the same name in two folders are two models.
  const isClash = base.id === target.id && base.path !== target.path
  return {
    base,
    target: isClash ? { ...target, id: `${target.id.slice(0, 57)}-target` } : target,
    evalFile: values.eval,
    junitFile: values.junit,
    seed,
    isJson: values.json,
  }
}

function readModel(word: string): NamedModel {
  if (!word.toLowerCase().endsWith('.gguf')) {
    if (!isModelId(word)) throw usageError(`${word}: no model has such a name.`)
    return { id: word, path: undefined }
  }
  if (!existsSync(word)) throw usageError(`${word}: there is no such file.`)
  const id = modelIdOf(word)
  if (!isModelId(id)) throw usageError(`${word}: name it with 1 to 64 of a-z, 0-9, ".", "_" and "-".`)
  return { id, path: resolve(word) }
}
