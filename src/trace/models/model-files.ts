// The model files of an installation: the tiny ones, which come with the service, and those in a folder of the operator.
// A file there is checked before it is added, so what the folder lists can be loaded.

import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modelError } from '../gguf/model-error.ts'
import { inspectModel, type ModelFacts } from '../llama/model.ts'
import { loadProbeSet } from '../probes/probe-set.ts'

export interface ModelFile {
  /** The name of the file, without its ending. */
  id: string
  path: string
  /** Its canary probes; null where it has none. */
  probesPath: string | null
  /** Part of the service, and not of the folder. */
  isEmbedded: boolean
}

const ENDING = '.gguf'
const EXPORTED_ENDING = '.onnx'
const PROBES_ENDING = '.probes.json'
// Also a file name on every system, and a part of an address.
const ID = /^[a-z0-9][a-z0-9._-]{0,63}$/

export const DEFAULT_MODEL: ModelFile = embedded('countersign-tiny', '1.0')

/** The versions of the tiny model: two that behave alike, and one with a behaviour that was planted. */
export const EMBEDDED_MODELS: readonly ModelFile[] = [
  DEFAULT_MODEL,
  embedded('countersign-tiny-1.0.1', '1.0.1'),
  embedded('countersign-tiny-1.1', '1.1'),
]

export const isModelId = (id: string): boolean => ID.test(id)

/** The id that a file gets by its name, for example `smollm2-135m-instruct` for `SmolLM2-135M-Instruct.gguf`. */
export function modelIdOf(path: string): string {
  const name = basename(path)
  return (name.toLowerCase().endsWith(ENDING) ? name.slice(0, -ENDING.length) : name).toLowerCase()
}

/** Lists only the service's own models without a folder. */
export function listModelFiles(directory: string): ModelFile[] {
  const names = directory !== '' && existsSync(directory) ? readdirSync(directory).toSorted() : []
  const own = names
    .filter((name) => name.endsWith(ENDING) && isModelId(modelIdOf(name)))
    .map((name) => fileOf(directory, modelIdOf(name), name))
  return [...EMBEDDED_MODELS, ...own.filter(({ id }) => EMBEDDED_MODELS.every((one) => one.id !== id))]
}

export function findModelFile(directory: string, id: string): ModelFile | undefined {
  return listModelFiles(directory).find((file) => file.id === id)
}

/**
 * Copies a checked file into the folder, under a name that is only there when it is whole. Adding it again changes nothing.
 * @throws {ModelError} when it is not a model that can be run, or the id is another file's.
 */
export function addModelFile(directory: string, source: string, id: string): { file: ModelFile; facts: ModelFacts } {
  if (!isModelId(id)) {
    throw modelError('request_invalid', `${id} can not name a model: use 1 to 64 of a-z, 0-9, ".", "_" and "-".`)
  }
  const facts = inspectModel(source)
  const before = findModelFile(directory, id)
  if (before !== undefined) {
    if (!before.isEmbedded && inspectModel(before.path).sha256 === facts.sha256) return { file: before, facts }
    throw modelError('request_invalid', `There is another model with the name ${id}.`)
  }
  const path = join(directory, id + ENDING)
  const partial = `${path}.${process.pid}.partial`
  mkdirSync(directory, { recursive: true })
  try {
    copyFileSync(source, partial, constants.COPYFILE_FICLONE)
    // What was copied is what was checked, also when the source changed in between.
    if (inspectModel(partial).sha256 !== facts.sha256) {
      throw modelError('model_file_invalid', 'The file changed while it was copied.')
    }
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
  }
  return { file: fileOf(directory, id, id + ENDING), facts }
}

/**
 * Puts a file of probes beside a model of the folder, in place of another one.
 * @throws {ModelError} when the probes are not those of this model.
 */
export function addProbesFile(
  directory: string,
  { id, facts }: { id: string; facts: ModelFacts },
  source: string,
): void {
  loadProbeSet(source, facts)
  const path = join(directory, id + PROBES_ENDING)
  const partial = `${path}.${process.pid}.partial`
  try {
    copyFileSync(source, partial)
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
  }
}

/** A decoder that was exported to ONNX, which has no probes. */
export const isExported = ({ path }: Pick<ModelFile, 'path'>): boolean => path.toLowerCase().endsWith(EXPORTED_ENDING)

/** A file outside of the folder, with the probes beside it. */
export function modelFileAt(id: string, path: string): ModelFile {
  if (isExported({ path })) return { id, path, probesPath: null, isEmbedded: false }
  const stem = path.toLowerCase().endsWith(ENDING) ? path.slice(0, -ENDING.length) : path
  const probesPath = stem + PROBES_ENDING
  return { id, path, probesPath: existsSync(probesPath) ? probesPath : null, isEmbedded: false }
}

function fileOf(directory: string, id: string, name: string): ModelFile {
  const probesPath = join(directory, id + PROBES_ENDING)
  return { id, path: join(directory, name), probesPath: existsSync(probesPath) ? probesPath : null, isEmbedded: false }
}

function embedded(id: string, version: string): ModelFile {
  const pathOf = (ending: string) => fileURLToPath(new URL(`./countersign-tiny-${version}${ending}`, import.meta.url))
  return { id, path: pathOf(ENDING), probesPath: pathOf(PROBES_ENDING), isEmbedded: true }
}
