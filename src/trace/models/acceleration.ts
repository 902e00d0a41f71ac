// Whether a model's attribution runs in the accelerator that was asked for. A model that can't be accelerated runs as it
// would without; its process says why.

import { openAccelerator } from '../accelerator/accelerator.ts'
import { isModelError } from '../gguf/model-error.ts'
import type { LoadedModel } from '../llama/model.ts'
import type { ImportPackage } from '../onnx/runtime.ts'
import type { Acceleration, ModelProcessArguments } from './protocol.ts'

export async function accelerate(
  model: LoadedModel,
  { isAccelerated, maxModelBytes }: Pick<ModelProcessArguments, 'isAccelerated' | 'maxModelBytes'>,
  load?: ImportPackage,
): Promise<{ model: LoadedModel; acceleration?: Acceleration }> {
  if (!isAccelerated) return { model }
  try {
    const accelerator = await openAccelerator(model, { maxBytes: maxModelBytes, ...(load && { load }) })
    return { model: { ...model, accelerator }, acceleration: { runtime: accelerator.runtime } }
  } catch (error) {
    if (!isModelError(error)) throw error
    return { model, acceleration: { problem: error.message } }
  }
}
