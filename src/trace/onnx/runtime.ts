// ONNX Runtime, which is optional: it is native code for some systems alone. It is loaded when a model needs it, in the
// process of that model, and nothing else of the service depends on it.

import type { InferenceSession, InferenceSessionFactory, Tensor, TensorConstructor } from 'onnxruntime-common'
import { modelError } from '../gguf/model-error.ts'

export type OnnxSession = InferenceSession
export type OnnxTensorValue = Tensor

export interface OnnxRuntime {
  /** The package, its version and the platform: another one gives other last bits. */
  name: string
  /** @throws {ModelError} `model_file_invalid` when the runtime refuses the model. */
  createSession(model: Uint8Array): Promise<OnnxSession>
  Tensor: TensorConstructor
}

/**
 * One thread, which does not spin while it waits: processes of models share the processors with the service, and sums in one
 * order have the same bits each time.
 */
const SESSION_OPTIONS = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  // Errors are thrown as well.
  logSeverityLevel: 4,
  extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
} as const satisfies InferenceSession.SessionOptions

interface RuntimePackage {
  InferenceSession: InferenceSessionFactory
  Tensor: TensorConstructor
  env: { versions: { node?: string } }
}

export type ImportPackage = (name: string) => Promise<unknown>

// The compiler does not look for a name that it can't see: types are checked without the package too.
const importPackage: ImportPackage = (name) => import(name)

/** @throws {ModelError} `model_unsupported` where it is not installed, or not made for this system. */
export async function loadOnnxRuntime(load: ImportPackage = importPackage): Promise<OnnxRuntime> {
  const { InferenceSession, Tensor, env } = (await load('onnxruntime-node').catch((error: unknown) => {
    throw modelError(
      'model_unsupported',
      'ONNX Runtime can not be loaded here: the optional package onnxruntime-node is not installed, or has no library for this system.',
      error,
    )
  })) as RuntimePackage
  return {
    name: `onnxruntime-node ${env.versions.node ?? 'of an unknown version'} ${process.platform}-${process.arch}`,
    Tensor,
    async createSession(model) {
      try {
        return await InferenceSession.create(model, SESSION_OPTIONS)
      } catch (error) {
        const reason = error instanceof Error ? error.message.slice(0, 300) : 'no reason given'
        throw modelError('model_file_invalid', `ONNX Runtime refuses the model: ${reason}`, error)
      }
    },
  }
}
