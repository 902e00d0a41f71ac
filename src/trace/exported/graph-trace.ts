// Questions about where a tensor of a graph comes from.

import { modelError } from '../gguf/model-error.ts'
import type { OnnxGraph, OnnxNode } from '../onnx/proto.ts'
import { ELEMENT, type OnnxTensor } from '../onnx/tensor.ts'
import { matrixOf, numberOf, vectorOf, type WeightMatrix, type WeightVector } from './weights.ts'

/** A sum of the residual stream: a tensor, or an output of a node that has no name. */
export type SumReference = { tensor: string } | { node: OnnxNode; output: number }

export interface WeightProduct {
  input: string
  matrix: WeightMatrix
  /** That the product itself adds. */
  bias: WeightVector | undefined
}

export type GraphTrace = ReturnType<typeof readTrace>

// A chain of nodes that only pass a tensor on.
const MAX_STEPS = 64
const RESHAPING = new Set(['Cast', 'Identity', 'Reshape', 'Squeeze', 'Unsqueeze', 'Flatten'])

/**
 * Each tensor is made once, and before it is used: a graph that is no order of steps, or that reads what is not there, is
 * refused. @throws {ModelError}
 */
export function checkOrder(graph: OnnxGraph, outer: ReadonlySet<string> = new Set()): void {
  const known = new Set(outer)
  for (const { name } of [...graph.inputs, ...graph.initializers]) known.add(name)
  const made = new Set<string>()
  for (const { operator, inputs, outputs, attributes } of graph.nodes) {
    const missing = inputs.find((input) => input !== '' && !known.has(input))
    if (missing !== undefined) {
      throw invalid(`a node ${quoted(operator)} reads ${quoted(missing)}, which nothing before it makes`)
    }
    for (const { value } of attributes) if (value.kind === 'graph') checkOrder(value.graph, known)
    for (const output of outputs) {
      if (output === '') continue
      if (made.has(output)) throw invalid(`${quoted(output)} is made twice`)
      made.add(output)
      known.add(output)
    }
  }
  const absent = graph.outputs.find(({ name }) => !known.has(name))
  if (absent !== undefined) throw invalid(`nothing makes its output ${quoted(absent.name)}`)
}

export function readTrace({ nodes, initializers }: OnnxGraph) {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((output, index) => [output, { node, index }])))
  const constants = new Map<string, OnnxTensor>(initializers.map((tensor) => [tensor.name, tensor]))
  for (const { operator, outputs, attributes } of nodes) {
    const value = operator === 'Constant' ? attributes.find(({ name }) => name === 'value')?.value : undefined
    if (value?.kind === 'tensor' && outputs[0] !== undefined) constants.set(outputs[0], value.tensor)
  }
  const named = new Map<OnnxNode, { node: OnnxNode; output: number; name: string }>()

  const producer = (tensor: string): OnnxNode | undefined => producers.get(tensor)?.node

  /** Through nodes that pass their first input on. */
  function back(tensor: string, passes: (operator: string) => boolean): string {
    let at = tensor
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const node = producer(at)
      const [input] = node?.inputs ?? []
      if (node === undefined || input === undefined || !passes(node.operator) || constants.has(input)) return at
      at = input
    }
    return at
  }

  /** A tensor of the file, whether it is used transposed, and the kind of number that it is used as. */
  function constantOf(tensor: string): { tensor: OnnxTensor; isTransposed: boolean; element: unknown } | undefined {
    let isTransposed = false
    let element: unknown
    let at = tensor
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const found = constants.get(at)
      if (found !== undefined) return { tensor: found, isTransposed, element: element ?? found.element }
      const node = producer(at)
      if (node === undefined || !['Cast', 'Identity', 'Transpose'].includes(node.operator)) return undefined
      if (node.operator === 'Transpose') isTransposed = !isTransposed
      const to = node.operator === 'Cast' ? node.attributes.find(({ name }) => name === 'to')?.value : undefined
      if (to?.kind === 'integer') element ??= to.value
      at = node.inputs[0] ?? ''
    }
    return undefined
  }

  const isConstant = (tensor: string): boolean =>
    constantOf(tensor) !== undefined || producer(tensor)?.operator === 'Constant'

  function vector(tensor: string | undefined): WeightVector | undefined {
    const found = tensor === undefined ? undefined : constantOf(tensor)
    return found && vectorOf(found.tensor)
  }

  function number(tensor: string): number | undefined {
    const found = constantOf(tensor)
    return found && numberOf(found.tensor)
  }

  function matrix(tensor: string | undefined, isAlsoTransposed = false): WeightMatrix | undefined {
    const found = tensor === undefined ? undefined : constantOf(tensor)
    // Sums of half floats lose what an attribution has to add up.
    if (found?.element !== ELEMENT.float) return undefined
    return matrixOf(found.tensor, found.isTransposed !== isAlsoTransposed)
  }

  /** A product of a tensor with a matrix of the file. */
  function product(tensor: string): WeightProduct | undefined {
    const node = producer(tensor)
    const [input, other, third] = node?.inputs ?? []
    if (node === undefined || input === undefined || isConstant(input)) return undefined
    if (node.operator === 'MatMul') {
      const own = matrix(other)
      return own && { input, matrix: own, bias: undefined }
    }
    if (node.operator !== 'Gemm') return undefined
    const setting = (name: string, fallback: number) => {
      const value = node.attributes.find((attribute) => attribute.name === name)?.value
      return value?.kind === 'integer' || value?.kind === 'float' ? value.value : fallback
    }
    if (setting('alpha', 1) !== 1 || setting('beta', 1) !== 1 || setting('transA', 0) !== 0) return undefined
    const own = matrix(other, setting('transB', 0) === 1)
    const bias = third === undefined || third === '' ? undefined : vector(third)
    if (own === undefined || (third !== undefined && third !== '' && bias === undefined)) return undefined
    return { input, matrix: own, bias }
  }

  /** What was added a bias to, and put into another shape. */
  function throughBias(tensor: string): { tensor: string; hasBias: boolean } {
    let at = tensor
    let hasBias = false
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const node = producer(at)
      if (node !== undefined && RESHAPING.has(node.operator)) at = node.inputs[0] ?? ''
      else if (node?.operator === 'Add') {
        const [variable, ...more] = node.inputs.filter((input) => !isConstant(input))
        if (variable === undefined || more.length > 0) break
        at = variable
        hasBias = true
      } else break
    }
    return { tensor: at, hasBias }
  }

  /** The two tensors of a sum; undefined where it is none. */
  function sum(from: SumReference): readonly [string, string] | undefined {
    // Exporters put casts of floats to floats around norms.
    const isSame = (operator: string) => operator === 'Identity' || operator === 'Cast'
    const at = 'tensor' in from ? producers.get(back(from.tensor, isSame)) : undefined
    const { node, output } = 'node' in from ? from : { node: at?.node, output: at?.index ?? 0 }
    const [one = '', other = '', , ...more] = node?.inputs ?? []
    if (node === undefined || one === '' || other === '') return undefined
    if (node.operator === 'Add') return isConstant(one) || isConstant(other) ? undefined : [one, other]
    const isSkip = /^Skip(Simplified)?LayerNormalization$/.test(node.operator)
    // The last input is a bias of the sum: gamma, then beta of the one kind, then the bias.
    const bias = node.operator === 'SkipLayerNormalization' ? more[1] : more[0]
    return isSkip && output === 3 && (bias === undefined || bias === '') ? [one, other] : undefined
  }

  function nameOf(from: SumReference): string {
    if ('tensor' in from) return from.tensor
    const { node, output } = from
    const own = node.outputs[output]
    if (own !== undefined && own !== '') return own
    const name = `${node.outputs[0] ?? ''}/sum`
    named.set(node, { node, output, name })
    return name
  }

  return {
    producer,
    back,
    isConstant,
    vector,
    number,
    product,
    throughBias,
    sum,
    nameOf,
    /** Outputs that `nameOf` gave a name. */
    unnamed: () => [...named.values()],
  }
}

const invalid = (reason: string) => modelError('model_file_invalid', `The file is no valid ONNX: ${reason}.`)
const quoted = (text: string) => JSON.stringify(text.slice(0, 80))
