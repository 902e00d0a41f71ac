// The backend of exported decoders: ONNX files, each in a child process of this process, started by the first request. What
// its model can do besides completing texts depends on whether the form of its graph is known.

import { type Capabilities, capabilityMissing, hasCapability } from './capabilities.ts'
import { answered, type EmbeddedDeps, type FileBackend, versionOf } from './embedded.ts'
import type { ModelFile } from './model-files.ts'
import { createModelProcess } from './model-process.ts'
import { OPERATIONS } from './operations.ts'

const CAPABILITIES: Capabilities = {
  generate: true,
  activations: false,
  attribution: 'none',
  // Readings are of the service's own arithmetic alone.
  canary: 'none',
  intervene: false,
  // Deterministic: one thread, and sums in one order.
  deterministic: true,
}

export const EXPORTED_CHILD = new URL('./exported-child.ts', import.meta.url)

/** Starts nothing by itself. */
export function createOnnxBackend(file: ModelFile, { log, options, inspect }: EmbeddedDeps): FileBackend {
  const { id: model, path } = file
  const process = createModelProcess({
    ...options,
    path,
    file: EXPORTED_CHILD,
    onReady({ pid }) {
      const detail = process.report?.hidden ?? undefined
      log.info({ model, pid, ...(detail !== undefined && { detail }) }, 'the process of a model is ready')
    },
    onEnded: ({ pid, reason, detail }) => {
      const level = reason === 'idle' ? 'info' : 'warn'
      log[level]({ model, pid, reason, detail }, 'the process of a model ended')
    },
  })
  const report = async () => process.report ?? (await inspect(file))

  async function capabilities(): Promise<Capabilities> {
    const isKnown = await report().then(
      ({ hidden }) => hidden === null,
      // What is asked of it is refused with the reason.
      () => false,
    )
    return isKnown ? { ...CAPABILITIES, activations: true, attribution: 'ablation', intervene: true } : CAPABILITIES
  }

  return {
    name: 'onnx',
    model,
    file,
    capabilities,
    modelVersion: () => answered(model, async () => versionOf(model, await report())),
    probeSet: async () => undefined,
    generate: (request, settings = {}) =>
      answered(model, () => {
        if (request.canary !== undefined) throw capabilityMissing(model, 'canary')
        if (request.internals !== undefined) throw capabilityMissing(model, 'activations')
        return process.infer(request, settings)
      }),
    call: (operation, request, settings = {}) =>
      answered(model, () => {
        // The texts of tokens come by the same operation, and every model has them.
        const isTexts = operation === 'lens' && 'top' in request && request.top === 0
        const needs = isTexts ? 'generate' : OPERATIONS[operation].needs
        const check = capabilities().then((own) => {
          if (!hasCapability(own, needs)) throw capabilityMissing(model, needs)
        })
        return check.then(() => process.operate(operation, request, settings))
      }),
    warmUp: () => process.warmUp(),
    waiting: () => process.waiting,
    close: () => process.close(),
  }
}
