// ONNX Runtime beside the kernel, where the package onnxruntime-node is installed and the configuration asks for it. The
// layers and the products of attribution run there; what decides, and every reading, stays with the kernel.

import { isModelError, modelError } from '../gguf/model-error.ts'
import type { Accelerator, LoadedModel } from '../llama/model.ts'
import { type ImportPackage, loadOnnxRuntime } from '../onnx/runtime.ts'
import { createFloats, type FloatLayer, type FloatSession, floatBytes, readFloatLayers } from './floats.ts'
import { createFeeder } from './forward.ts'
import { writeGroupedProduct, writeLayer, writeProduct } from './layer-graphs.ts'

export interface AcceleratorOptions {
  /** Memory for the weights as floats, and the kernel's memory beside them. */
  maxBytes: number
  load?: ImportPackage | undefined
}

/** What became of an accelerator that was asked for: the runtime, or why the kernel computes everything. */
export type Acceleration = { runtime: string } | { problem: string }

/** A model that can't be accelerated runs as it would without. */
export async function accelerate(
  model: LoadedModel,
  options: AcceleratorOptions,
): Promise<{ model: LoadedModel; acceleration: Acceleration }> {
  try {
    const accelerator = await openAccelerator(model, options)
    return { model: { ...model, accelerator }, acceleration: { runtime: accelerator.runtime } }
  } catch (error) {
    if (!isModelError(error)) throw error
    return { model, acceleration: { problem: error.message } }
  }
}

/** Opens the runtime; the weights are read by the first use. @throws {ModelError} saying why it can't be used. */
export async function openAccelerator(
  model: LoadedModel,
  { maxBytes, load }: AcceleratorOptions,
): Promise<Accelerator> {
  const { shape, kernel } = model
  const needed = floatBytes(shape) + kernel.bytes.length
  if (needed > maxBytes) {
    throw modelError(
      'model_too_large',
      `The weights as floats need ${Math.ceil(needed / 1e6)} MB with what is loaded; ${Math.floor(maxBytes / 1e6)} MB is the limit.`,
    )
  }
  const runtime = await loadOnnxRuntime(load)
  const floats = createFloats(runtime)
  const { width, heads, kvHeads, headSize, mlp } = shape
  const groupWidth = (heads / kvHeads) * headSize
  const sessions = {
    layer: await floats.open(writeLayer(shape)),
    product: await floats.open(writeProduct({ hasSum: false })),
    sum: await floats.open(writeProduct({ hasSum: true })),
    grouped: await floats.open(writeGroupedProduct(kvHeads, groupWidth)),
  }
  let layers: readonly FloatLayer[] | undefined
  const weights = () => {
    layers ??= readFloatLayers(model)
    return layers
  }

  /** y = x . matrix, which has so many rows. */
  async function multiply(
    session: FloatSession,
    { layer, name, rows: inner }: { layer: number; name: keyof FloatLayer; rows: number },
    { x, sum, y }: { x: Float32Array; sum?: Float32Array; y: Float32Array },
    dims?: readonly number[],
  ): Promise<void> {
    const matrix = weights()[layer]?.[name]
    if (matrix === undefined) throw new RangeError(`there is no layer ${layer}`)
    const [count, columns] = [x.length / inner, matrix.length / inner]
    await session.run(
      {
        x: floats.tensor(x, [count, inner]),
        matrix: floats.tensor(matrix, [inner, columns]),
        ...(sum && { sum: floats.tensor(sum, [count, columns]) }),
      },
      { y: floats.tensor(y, dims ?? [count, columns]) },
    )
  }

  return {
    runtime: runtime.name,
    feeder: createFeeder(model, { floats, layer: sessions.layer, weights }),
    products: {
      readOutput: (layer, x, y) =>
        multiply(sessions.grouped, { layer, name: 'output', rows: width }, { x, y }, [
          kvHeads,
          x.length / width,
          groupWidth,
        ]),
      addValue: (layer, x, sum, y) =>
        multiply(sessions.sum, { layer, name: 'value', rows: kvHeads * headSize }, { x, sum, y }),
      readDown: (layer, x, y) => multiply(sessions.product, { layer, name: 'down', rows: width }, { x, y }),
      addUp: (layer, x, sum, y) => multiply(sessions.sum, { layer, name: 'up', rows: mlp }, { x, sum, y }),
    },
  }
}
