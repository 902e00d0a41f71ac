// The models of this installation. Creating the list reads nothing: files are looked for at each question, and a model's
// process starts with its first request.

import { statSync } from 'node:fs'
import { Failure } from '#src/failure.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { TraceBackend } from './backend.ts'
import type { Capabilities } from './capabilities.ts'
import { type ModelSettings, parseModelEntries } from './config.ts'
import { createEmbeddedBackend, type EmbeddedBackend, type EmbeddedOptions } from './embedded.ts'
import { listModelFiles, type ModelFile, modelFileAt } from './model-files.ts'
import { createModelProcess } from './model-process.ts'
import type { ModelReport } from './protocol.ts'

export interface ModelSummary {
  id: string
  /** Of a request that names no model. */
  isDefault: boolean
  /** It comes with the service. */
  isEmbedded: boolean
  backend: TraceBackend['name']
  capabilities: Capabilities
}

export interface Models {
  /** In the order of the configuration; of the folder otherwise. */
  list(): ModelSummary[]
  /** Of the default model without an id. @throws {Failure} `not_found`. */
  get(id?: string): TraceBackend
  /** Of a `model_version_id`, as traces name it. @throws {Failure} `not_found` where its file is another one now. */
  version(modelVersionId: string): Promise<TraceBackend>
  close(): Promise<void>
}

const INSPECTION_LIMIT_MS = 60_000

export function createModels({ log }: Pick<Platform, 'log'>, settings: ModelSettings): Models {
  const entries = parseModelEntries(settings.TRACE_MODELS)
  const options = optionsOf(settings)
  const backends = new Map<string, EmbeddedBackend>()
  const inspections = new Map<string, Promise<ModelReport>>()

  function files(): ModelFile[] {
    const found = listModelFiles(settings.TRACE_MODEL_DIR ?? '')
    if (entries.length === 0) return found
    return entries.flatMap(({ id, path }) => {
      const file = path === undefined ? found.find((one) => one.id === id) : modelFileAt(id, path)
      return file === undefined ? [] : [file]
    })
  }

  function backendOf(file: ModelFile): EmbeddedBackend {
    const known = backends.get(file.id)
    if (known !== undefined && known.file.path === file.path && known.file.probesPath === file.probesPath) return known
    // Its probes came or went: what waits for the old one is answered, and the next request starts the new one.
    void known?.close()
    const made = createEmbeddedBackend(file, { log, options, inspect })
    backends.set(file.id, made)
    return made
  }

  function inspect(file: ModelFile): Promise<ModelReport> {
    const key = [file.path, file.probesPath].map(stampOf).join(' ')
    const known = inspections.get(key)
    if (known !== undefined) return known
    const made = inspectInProcess(file, options)
    inspections.set(key, made)
    // A file that is being copied is looked at again.
    made.catch(() => inspections.delete(key))
    return made
  }

  function get(id?: string): TraceBackend {
    const all = files()
    const file = id === undefined ? all[0] : all.find((one) => one.id === id)
    if (file === undefined) throw new Failure('not_found', `There is no model ${id ?? 'here'}.`)
    return backendOf(file)
  }

  return {
    list: () =>
      files().map((file, index) => {
        const { name, capabilities } = backendOf(file)
        const { id, isEmbedded } = file
        return { id, isDefault: index === 0, isEmbedded, backend: name, capabilities: capabilities() }
      }),
    get,
    async version(modelVersionId) {
      const backend = get(modelVersionId.split('@')[0])
      const { id } = await backend.modelVersion()
      if (id === modelVersionId) return backend
      throw new Failure('not_found', `The model ${backend.model} has the version ${id} now, and not ${modelVersionId}.`)
    },
    async close() {
      await Promise.all([...backends.values()].map((backend) => backend.close()))
    },
  }
}

function optionsOf(settings: ModelSettings): EmbeddedOptions {
  return {
    contextTokens: settings.TRACE_CONTEXT_TOKENS,
    maxModelBytes: settings.TRACE_MODEL_MEGABYTES * 1e6,
    maxResidentBytes: settings.TRACE_PROCESS_MEGABYTES * 1e6,
    limitMs: settings.TRACE_LIMIT_SECONDS * 1_000,
    idleMs: settings.TRACE_IDLE_SECONDS * 1_000,
    maxWaiting: settings.TRACE_QUEUE_DEPTH,
    maxWaitingEach: settings.TRACE_QUEUE_DEPTH_EACH,
  }
}

/** In a process of its own: the file is as hostile as one that is run. */
async function inspectInProcess({ path, probesPath }: ModelFile, options: EmbeddedOptions): Promise<ModelReport> {
  const process = createModelProcess({ ...options, path, probesPath, isInspection: true, limitMs: INSPECTION_LIMIT_MS })
  try {
    return await process.warmUp()
  } finally {
    await process.close()
  }
}

/** Another one when the file has changed. */
function stampOf(path: string | null): string {
  if (path === null) return '-'
  try {
    const { mtimeMs, size, ino } = statSync(path)
    return `${path} ${mtimeMs} ${size} ${ino}`
  } catch {
    return `${path} gone`
  }
}
