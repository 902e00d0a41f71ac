// The backend of GGUF files: each runs in a child process of this process, started by the first request.

import type { Log } from '#src/platform/log.ts'
import { type ModelVersion, type TraceBackend, toFailure, versionIdOf } from './backend.ts'
import { type Capabilities, capabilityMissing, hasCapability } from './capabilities.ts'
import type { ModelFile } from './model-files.ts'
import { createModelProcess } from './model-process.ts'
import { OPERATIONS } from './operations.ts'
import type { ModelProcessOptions } from './process-options.ts'
import type { ModelReport } from './protocol.ts'

export type EmbeddedOptions = Omit<
  ModelProcessOptions,
  'path' | 'probesPath' | 'isInspection' | 'onReady' | 'onEnded' | 'file'
>

export interface EmbeddedDeps {
  log: Pick<Log, 'warn' | 'info'>
  options: EmbeddedOptions
  /** Reports on the current file without loading it. */
  inspect(file: ModelFile): Promise<ModelReport>
}

/** Backend of a file on this machine. */
export type FileBackend = TraceBackend & {
  /** Starts its process. @throws {ModelError} where it can't be loaded. */
  warmUp(): Promise<unknown>
  /** Requests that wait for it. */
  waiting(): number
  close(): Promise<void>
  file: ModelFile
}

/** Starts nothing by itself. */
export function createEmbeddedBackend(file: ModelFile, { log, options, inspect }: EmbeddedDeps): FileBackend {
  const { id: model, path, probesPath } = file
  const process = createModelProcess({
    ...options,
    path,
    probesPath,
    onReady: ({ pid, acceleration }) => {
      const { runtime, problem } = { runtime: undefined, problem: undefined, ...acceleration }
      log.info({ model, pid, ...(runtime !== undefined && { runtime }) }, 'the process of a model is ready')
      if (problem !== undefined) {
        log.warn({ model, pid, reason: problem }, 'attribution runs without its accelerator')
      }
    },
    onEnded: ({ pid, reason, detail }) => {
      const level = reason === 'idle' ? 'info' : 'warn'
      log[level]({ model, pid, reason, detail }, 'the process of a model ended')
    },
  })
  const capabilities: Capabilities = {
    generate: true,
    activations: true,
    attribution: 'exact',
    canary: probesPath === null ? 'none' : 'probe',
    intervene: true,
    deterministic: true,
  }

  // A process that runs keeps the model that it loaded, also when the file has changed since.
  const report = async () => process.report ?? (await inspect(file))

  return {
    name: 'embedded',
    model,
    file,
    capabilities: async () => capabilities,
    modelVersion: () => answered(model, async () => versionOf(model, await report())),
    probeSet: () => answered(model, async () => (await report()).probes ?? undefined),
    generate: (request, settings = {}) =>
      answered(model, () => {
        if (request.canary !== undefined && capabilities.canary === 'none') throw capabilityMissing(model, 'canary')
        return process.infer(request, settings)
      }),
    call: (operation, request, settings = {}) =>
      answered(model, () => {
        const { needs } = OPERATIONS[operation]
        if (!hasCapability(capabilities, needs)) throw capabilityMissing(model, needs)
        return process.operate(operation, request, settings)
      }),
    warmUp: () => process.warmUp(),
    waiting: () => process.waiting,
    close: () => process.close(),
  }
}

export async function answered<R>(model: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    throw toFailure(model, error)
  }
}

export function versionOf(
  model: string,
  { sha256, architecture, shape, maxTokens, hasChat }: ModelReport,
): ModelVersion {
  const { layers, width, mlp, vocabulary } = shape
  const id = versionIdOf(model, sha256)
  return { id, model, sha256, architecture, layers, width, mlp, vocabulary, contextTokens: maxTokens, hasChat }
}
