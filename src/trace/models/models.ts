// The models of this installation. Creating the list reads nothing: files are looked for at each question, and a model's
// process starts with its first request.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '#src/failure.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { TraceBackend } from './backend.ts'
import type { Capabilities } from './capabilities.ts'
import { type ModelEntry, type ModelSettings, parseModelEntries, parseModelKeys } from './config.ts'
import { createEmbeddedBackend, type EmbeddedOptions, type FileBackend } from './embedded.ts'
import { DEFAULT_MODEL, isExported, listModelFiles, type ModelFile, modelFileAt } from './model-files.ts'
import { createModelProcess } from './model-process.ts'
import { createNeuronpediaBackend } from './neuronpedia.ts'
import { createOnnxBackend, EXPORTED_CHILD } from './onnx.ts'
import { createOpenAiBackend } from './openai.ts'
import type { ModelReport } from './protocol.ts'
import type { RemoteDeps } from './remote.ts'

export interface ModelSummary {
  id: string
  /** The model of requests that name none. */
  isDefault: boolean
  /** It comes with the service. */
  isEmbedded: boolean
  backend: TraceBackend['name']
  capabilities: Capabilities
}

export interface Models {
  /** Lists the models in the order of the configuration, or of the folder. */
  list(): Promise<ModelSummary[]>
  /**
   * Returns the default model without an id.
   * @throws {Failure} `not_found`.
   */
  get(id?: string): TraceBackend
  /** Undefined: there is no model. */
  defaultId(): string | undefined
  /**
   * Returns the model of a `model_version_id`, as traces name it.
   * @throws {Failure} `not_found` where its file was replaced.
   */
  version(modelVersionId: string): Promise<TraceBackend>
  /** The requests that wait for each model whose process this process has asked for. */
  waiting(): { model: string; waiting: number }[]
  /**
   * Starts the processes of the small models that the configuration names, so that no first request waits for them. It
   * never fails: a model that can not be loaded says why to the log.
   */
  warm(): Promise<void>
  close(): Promise<void>
}

// Loaded in a second, in a process of some 100 MB.
const MAX_WARM_BYTES = 32e6
const INSPECTION_LIMIT_MS = 60_000

/** @param deps Without `outbound`, models that run elsewhere are not there. */
export function createModels(
  { log, outbound }: Pick<Platform, 'log'> & Partial<Pick<Platform, 'outbound'>>,
  settings: ModelSettings,
): Models {
  const entries = parseModelEntries(settings.TRACE_MODELS)
  const directory = settings.TRACE_MODEL_DIR ?? ''
  const options = optionsOf(settings)
  const backends = new Map<string, FileBackend>()
  const inspections = new Map<string, Promise<ModelReport>>()
  const remotes = outbound === undefined ? [] : createRemotes(entries, settings, { log, outbound })

  /** Returns the models in the order of the configuration: a file of this machine, or a model elsewhere. */
  function available(): { id: string; file?: ModelFile }[] {
    const found = listModelFiles(directory)
    if (entries.length === 0) return found.map((file) => ({ id: file.id, file }))
    return entries.flatMap(({ id, path, remote }) => {
      if (remote !== undefined) return remotes.some(({ model }) => model === id) ? [{ id }] : []
      if (path !== undefined) return [{ id, file: modelFileAt(id, path) }]
      // A missing one stays in its place, unusable: the next would otherwise become the default.
      return [{ id, file: found.find((one) => one.id === id) ?? modelFileAt(id, join(directory, `${id}.gguf`)) }]
    })
  }

  function open({ id, file }: { id: string; file?: ModelFile }): TraceBackend {
    const backend = file === undefined ? remotes.find(({ model }) => model === id) : backendOf(file)
    if (backend === undefined) throw new Error(`the model ${id} is listed and not there`)
    return backend
  }

  function backendOf(file: ModelFile): FileBackend {
    const known = backends.get(file.id)
    if (known !== undefined && known.file.path === file.path && known.file.probesPath === file.probesPath) return known
    // Its probes came or went: what waits for the old one is answered, and the next request starts the new one.
    void known?.close()
    const create = isExported(file) ? createOnnxBackend : createEmbeddedBackend
    const made = create(file, { log, options, inspect })
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
    const all = available()
    const found = id === undefined ? all[0] : all.find((one) => one.id === id)
    if (found === undefined) throw new Failure('not_found', `There is no model ${id ?? 'here'}.`)
    return open(found)
  }

  return {
    list: () =>
      Promise.all(
        available().map(async (one, index) => {
          const backend = open(one)
          const isEmbedded = one.file?.isEmbedded ?? false
          const capabilities = await backend.capabilities()
          return { id: one.id, isDefault: index === 0, isEmbedded, backend: backend.name, capabilities }
        }),
      ),
    get,
    defaultId: () => (entries.length === 0 ? DEFAULT_MODEL : available()[0])?.id,
    async version(modelVersionId) {
      const backend = get(modelVersionId.split('@')[0])
      const { id } = await backend.modelVersion()
      if (id === modelVersionId) return backend
      throw new Failure('not_found', `The model ${backend.model} has the version ${id} now, and not ${modelVersionId}.`)
    },
    waiting: () => [...backends.values()].map(({ model, waiting }) => ({ model, waiting: waiting() })),
    async warm() {
      const small = entries.length === 0 ? [] : available().filter(({ file }) => file !== undefined && isSmall(file))
      await Promise.allSettled(small.map(({ file }) => file && backendOf(file).warmUp()))
    },
    async close() {
      await Promise.all([...backends.values()].map((backend) => backend.close()))
    },
  }
}

function createRemotes(
  entries: readonly ModelEntry[],
  settings: ModelSettings,
  deps: Pick<RemoteDeps, 'log' | 'outbound'>,
): TraceBackend[] {
  const keys = parseModelKeys(settings.TRACE_MODEL_KEYS)
  return entries.flatMap(({ id, remote }) => {
    if (remote === undefined) return []
    const create = remote.kind === 'openai' ? createOpenAiBackend : createNeuronpediaBackend
    const limits = {
      timeoutMs: settings.TRACE_LIMIT_SECONDS * 1_000,
      maxAtOnce: settings.TRACE_QUEUE_DEPTH,
      maxAtOnceEach: settings.TRACE_QUEUE_DEPTH_EACH,
    }
    return [create(id, remote, { ...deps, ...limits, key: keys.get(id) })]
  })
}

function optionsOf(settings: ModelSettings): EmbeddedOptions {
  return {
    contextTokens: settings.TRACE_CONTEXT_TOKENS,
    isAccelerated: settings.TRACE_ACCELERATOR === 'onnxruntime',
    maxModelBytes: settings.TRACE_MODEL_MEGABYTES * 1e6,
    maxResidentBytes: settings.TRACE_PROCESS_MEGABYTES * 1e6,
    limitMs: settings.TRACE_LIMIT_SECONDS * 1_000,
    idleMs: settings.TRACE_IDLE_SECONDS * 1_000,
    maxWaiting: settings.TRACE_QUEUE_DEPTH,
    maxWaitingEach: settings.TRACE_QUEUE_DEPTH_EACH,
  }
}

/** In a process of its own: the file is as hostile as one that is run. */
async function inspectInProcess(file: ModelFile, options: EmbeddedOptions): Promise<ModelReport> {
  const { path, probesPath } = file
  const process = createModelProcess({
    ...options,
    path,
    probesPath,
    isInspection: true,
    limitMs: INSPECTION_LIMIT_MS,
    ...(isExported(file) && { file: EXPORTED_CHILD }),
  })
  try {
    return await process.warmUp()
  } finally {
    await process.close()
  }
}

function isSmall({ path }: ModelFile): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) <= MAX_WARM_BYTES
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
