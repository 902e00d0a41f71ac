// ONNX models (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3): the part that the service reads, edits and writes.
// What it does not know of a model stays in it, byte for byte. A file may be hostile: counts and depths have limits, and
// what could make a runtime read other files is refused, or is for the caller to resolve (`external`).

import { modelError } from '../gguf/model-error.ts'
import {
  decodeTensor,
  decodeValue,
  encodeTensor,
  encodeValue,
  type OnnxTensor,
  type OnnxValue,
  remember,
  sourceOf,
  type TensorCount,
} from './tensor.ts'
import {
  bytesOf,
  type EncodedParts,
  type Field,
  floatOf,
  integerOf,
  integersOf,
  readFields,
  textOf,
  writeBytes,
  writeField,
  writeFloat,
  writeInteger,
  writeText,
} from './wire.ts'

export interface OnnxAttribute {
  name: string
  value: AttributeValue
}

export type AttributeValue =
  | { kind: 'float'; value: number }
  | { kind: 'integer'; value: number }
  | { kind: 'text'; value: string }
  | { kind: 'integers'; values: readonly number[] }
  | { kind: 'tensor'; tensor: OnnxTensor }
  | { kind: 'graph'; graph: OnnxGraph }
  /** Passed on, and not read. */
  | { kind: 'other' }

export interface OnnxNode {
  name: string
  operator: string
  /** Empty for the operators of ONNX itself. */
  domain: string
  /** Empty names are inputs or outputs that are left out. */
  inputs: readonly string[]
  outputs: readonly string[]
  attributes: readonly OnnxAttribute[]
}

export interface OnnxGraph {
  name: string
  nodes: readonly OnnxNode[]
  initializers: readonly OnnxTensor[]
  inputs: readonly OnnxValue[]
  outputs: readonly OnnxValue[]
}

export interface OnnxModel {
  irVersion: number
  producer: string
  /** The version of the operators of each domain. */
  operatorSets: readonly { domain: string; version: number }[]
  graph: OnnxGraph
}

// A decoder of 100 layers has some 20,000 nodes after export.
const MAX = { nodes: 200_000, values: 20_000, names: 4_096, attributes: 64, integers: 65_536, depth: 4 }

interface Counts extends TensorCount {
  nodes: number
}

/** Fields of a message that are not read. */
const REST = new WeakMap<object, readonly Field[]>()

/** @throws {ModelError} saying what is wrong with the file, or not supported. */
export function decodeModel(bytes: Uint8Array): OnnxModel {
  const counts: Counts = { nodes: 0, tensors: 0 }
  const operatorSets: { domain: string; version: number }[] = []
  const rest: Field[] = []
  let [irVersion, producer] = [0, '']
  let graph: OnnxGraph | undefined
  readFields(bytes, (field) => {
    if (field.number === 1) irVersion = integerOf(field)
    else if (field.number === 2) producer = textOf(field)
    else if (field.number === 7) {
      if (graph !== undefined) throw invalid('it has two graphs')
      graph = decodeGraph(bytesOf(field), counts, 0)
    } else if (field.number === 8) operatorSets.push(decodeOperatorSet(bytesOf(field)))
    else if (field.number === 20) throw unsupported('training information')
    else if (field.number === 25) throw unsupported('functions of its own')
    else rest.push(field)
  })
  if (graph === undefined) throw invalid('it has no graph')
  if (irVersion < 3 || operatorSets.length === 0) throw invalid('it names no version of its operators')
  const model = { irVersion, producer, operatorSets, graph }
  REST.set(model, rest)
  return model
}

/** in parts, which may be parts of the file that the model was read from. */
export function encodeModel(model: OnnxModel): EncodedParts {
  return [
    ...writeInteger(1, model.irVersion),
    ...writeText(2, model.producer),
    ...writeBytes(7, encodeGraph(model.graph)),
    ...model.operatorSets.flatMap(({ domain, version }) =>
      writeBytes(8, [...writeText(1, domain), ...writeInteger(2, version)]),
    ),
    ...(REST.get(model) ?? []).flatMap(writeField),
  ]
}

/** A changed graph of the same model. What was not read of it stays. */
export function withGraph(model: OnnxModel, graph: OnnxGraph): OnnxModel {
  const changed = { ...model, graph }
  const [ofModel, ofGraph] = [REST.get(model), REST.get(model.graph)]
  if (ofModel !== undefined) REST.set(changed, ofModel)
  if (ofGraph !== undefined) REST.set(graph, ofGraph)
  return changed
}

/** Every tensor of a graph and its subgraphs that is a constant of a node, and not an initializer of the outermost one. */
export function* innerTensors(graph: OnnxGraph): Generator<OnnxTensor> {
  for (const { attributes } of graph.nodes) {
    for (const { value } of attributes) {
      if (value.kind === 'tensor') yield value.tensor
      if (value.kind === 'graph') {
        yield* value.graph.initializers
        yield* innerTensors(value.graph)
      }
    }
  }
}

/** Every node of a graph and its subgraphs. */
export function* allNodes(graph: OnnxGraph): Generator<OnnxNode> {
  for (const node of graph.nodes) {
    yield node
    for (const { value } of node.attributes) if (value.kind === 'graph') yield* allNodes(value.graph)
  }
}

function decodeGraph(bytes: Uint8Array, counts: Counts, depth: number): OnnxGraph {
  if (depth > MAX.depth) throw invalid('its graphs contain each other too deeply')
  const [nodes, initializers, inputs, outputs] = [[], [], [], []] as [
    OnnxNode[],
    OnnxTensor[],
    OnnxValue[],
    OnnxValue[],
  ]
  const rest: Field[] = []
  let name = ''
  readFields(bytes, (field) => {
    if (field.number === 1) {
      counts.nodes += 1
      if (counts.nodes > MAX.nodes) throw invalid(`it has more than ${MAX.nodes} nodes`)
      nodes.push(decodeNode(bytesOf(field), counts, depth))
    } else if (field.number === 2) name = textOf(field)
    else if (field.number === 5) initializers.push(decodeTensor(bytesOf(field), counts))
    else if (field.number === 11 || field.number === 12) {
      const list = field.number === 11 ? inputs : outputs
      if (list.length >= MAX.values) throw invalid(`it has more than ${MAX.values} inputs or outputs`)
      list.push(decodeValue(bytesOf(field)))
    } else if (field.number === 15) throw unsupported('sparse tensors')
    else rest.push(field)
  })
  const graph = { name, nodes, initializers, inputs, outputs }
  REST.set(graph, rest)
  return graph
}

function encodeGraph(graph: OnnxGraph): EncodedParts {
  return [
    ...graph.nodes.flatMap((node) => writeBytes(1, sourceOf(node, encodeNode))),
    ...writeText(2, graph.name),
    ...graph.initializers.flatMap((tensor) => writeBytes(5, sourceOf(tensor, encodeTensor))),
    ...graph.inputs.flatMap((value) => writeBytes(11, sourceOf(value, encodeValue))),
    ...graph.outputs.flatMap((value) => writeBytes(12, sourceOf(value, encodeValue))),
    ...(REST.get(graph) ?? []).flatMap(writeField),
  ]
}

function decodeNode(bytes: Uint8Array, counts: Counts, depth: number): OnnxNode {
  const [inputs, outputs, attributes] = [[], [], []] as [string[], string[], OnnxAttribute[]]
  const texts = { name: '', operator: '', domain: '' }
  readFields(bytes, (field) => {
    if (field.number === 1 || field.number === 2) {
      const list = field.number === 1 ? inputs : outputs
      if (list.length >= MAX.names) throw invalid(`a node has more than ${MAX.names} inputs or outputs`)
      list.push(textOf(field))
    } else if (field.number === 3) texts.name = textOf(field)
    else if (field.number === 4) texts.operator = textOf(field)
    else if (field.number === 5) {
      if (attributes.length >= MAX.attributes) throw invalid(`a node has more than ${MAX.attributes} attributes`)
      attributes.push(decodeAttribute(bytesOf(field), counts, depth))
    } else if (field.number === 7) texts.domain = textOf(field)
  })
  return remember({ ...texts, inputs, outputs, attributes }, bytes)
}

function encodeNode({ name, operator, domain, inputs, outputs, attributes }: OnnxNode): EncodedParts {
  return [
    ...inputs.flatMap((input) => writeText(1, input)),
    ...outputs.flatMap((output) => writeText(2, output)),
    ...writeText(3, name),
    ...writeText(4, operator),
    ...attributes.flatMap((attribute) => writeBytes(5, sourceOf(attribute, encodeAttribute))),
    ...(domain === '' ? [] : writeText(7, domain)),
  ]
}

function decodeAttribute(bytes: Uint8Array, counts: Counts, depth: number): OnnxAttribute {
  let name = ''
  let value: AttributeValue | undefined
  const integers: number[] = []
  // A second one would be merged with the first by some readers, and replace it for others.
  const set = (read: AttributeValue) => {
    if (value !== undefined && value.kind !== 'other') throw invalid('an attribute has two values')
    value = read
  }
  readFields(bytes, (field) => {
    if (field.number === 1) name = textOf(field)
    else if (field.number === 2) set({ kind: 'float', value: floatOf(field) })
    else if (field.number === 3) set({ kind: 'integer', value: integerOf(field) })
    else if (field.number === 4) set({ kind: 'text', value: textOf(field, 1_000_000) })
    else if (field.number === 5) set({ kind: 'tensor', tensor: decodeTensor(bytesOf(field), counts) })
    else if (field.number === 6) set({ kind: 'graph', graph: decodeGraph(bytesOf(field), counts, depth + 1) })
    else if (field.number === 8) integers.push(...integersOf(field, MAX.integers - integers.length))
    // Lists of tensors and of graphs, and sparse tensors: no operator of a decoder has them.
    else if ([10, 11, 22, 23].includes(field.number)) throw unsupported('lists of graphs or tensors as attributes')
    else if (field.number === 7 || field.number === 9 || field.number > 13) value ??= { kind: 'other' }
  })
  if (integers.length > 0) set({ kind: 'integers', values: integers })
  return remember({ name, value: value ?? { kind: 'other' } }, bytes)
}

function encodeAttribute({ name, value }: OnnxAttribute): EncodedParts {
  const head = writeText(1, name)
  switch (value.kind) {
    case 'float':
      return [...head, ...writeFloat(2, value.value), ...writeInteger(20, 1)]
    case 'integer':
      return [...head, ...writeInteger(3, value.value), ...writeInteger(20, 2)]
    case 'text':
      return [...head, ...writeText(4, value.value), ...writeInteger(20, 3)]
    case 'tensor':
      return [...head, ...writeBytes(5, sourceOf(value.tensor, encodeTensor)), ...writeInteger(20, 4)]
    case 'graph':
      return [...head, ...writeBytes(6, encodeGraph(value.graph)), ...writeInteger(20, 5)]
    case 'integers':
      return [...head, ...value.values.flatMap((one) => writeInteger(8, one)), ...writeInteger(20, 7)]
    case 'other':
      throw new TypeError(`the attribute ${name} can not be written`)
  }
}

function decodeOperatorSet(bytes: Uint8Array): { domain: string; version: number } {
  const read = { domain: '', version: 0 }
  readFields(bytes, (field) => {
    if (field.number === 1) read.domain = textOf(field)
    else if (field.number === 2) read.version = integerOf(field)
  })
  return read
}

const invalid = (reason: string) => modelError('model_file_invalid', `The file is no valid ONNX: ${reason}.`)
const unsupported = (what: string) => modelError('model_unsupported', `The file has ${what}, which is not supported.`)
