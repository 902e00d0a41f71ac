// Makes the inside of an exported decoder visible: what the layers write becomes an output of its graph, and each layer's
// neurons are multiplied by an input, which is 1 where nothing is changed.

import { encodeModel, type OnnxModel, type OnnxNode, withGraph } from '../onnx/proto.ts'
import { ELEMENT, type OnnxValue } from '../onnx/tensor.ts'
import { lengthOf } from '../onnx/wire.ts'
import type { ResidualWriters } from './writers.ts'

export interface InstrumentedModel {
  bytes: Uint8Array
  /** The input of each layer by which its neurons are multiplied: texts x tokens x neurons, or 1 in place of any. */
  factors: readonly string[]
}

const PREFIX = 'countersign/'

/** Without writers the model is only put together. */
export function instrument(model: OnnxModel, writers: ResidualWriters | undefined): InstrumentedModel {
  if (writers === undefined) return { bytes: join(model), factors: [] }
  const { graph } = model
  const factors = writers.layers.map((_, layer) => `${PREFIX}factor.${layer}`)
  const scaled = new Map(writers.layers.map(({ activations }, layer) => [activations, layer]))
  const names = new Map(writers.unnamed.map(({ node, output, name }) => [node, { output, name }]))
  const nodes = graph.nodes.flatMap((node) => {
    const inputs = node.inputs.map((input) => (scaled.has(input) ? `${PREFIX}neurons.${scaled.get(input)}` : input))
    const isChanged = inputs.some((input, index) => input !== node.inputs[index])
    const own = isChanged ? { ...node, inputs } : node
    const layers = node.outputs.flatMap((output) => scaled.get(output) ?? [])
    return [withName(own, names.get(node)), ...layers.map((layer) => scaleOf(writers, layer))]
  })
  const known = new Set(graph.outputs.map(({ name }) => name))
  const wanted = [
    writers.embedding,
    ...writers.layers.flatMap(({ attention, mlp, activations }) => [attention, mlp, activations]),
    writers.final,
    writers.normed,
  ]
  const outputs = [...new Set(wanted)].filter((name) => !known.has(name)).map(outputOf)
  const inputs = factors.map((name) => ({ name, element: ELEMENT.float, dims: [undefined, undefined, undefined] }))
  const edited = { ...graph, nodes, inputs: [...graph.inputs, ...inputs], outputs: [...graph.outputs, ...outputs] }
  return { bytes: join(withGraph(model, edited)), factors }
}

function scaleOf({ layers }: ResidualWriters, layer: number): OnnxNode {
  const name = `${PREFIX}neurons.${layer}`
  const inputs = [layers[layer]?.activations ?? '', `${PREFIX}factor.${layer}`]
  return { name, operator: 'Mul', domain: '', inputs, outputs: [name], attributes: [] }
}

function withName(node: OnnxNode, given: { output: number; name: string } | undefined): OnnxNode {
  if (given === undefined) return node
  const outputs = Array.from({ length: Math.max(node.outputs.length, given.output + 1) }, (_, index) =>
    index === given.output ? given.name : (node.outputs[index] ?? ''),
  )
  return { ...node, outputs }
}

/** Its sizes are for the runtime to find. */
const outputOf = (name: string): OnnxValue => ({ name, element: ELEMENT.float, dims: undefined })

function join(model: OnnxModel): Uint8Array {
  const parts = encodeModel(model)
  const bytes = Buffer.allocUnsafeSlow(lengthOf(parts))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
