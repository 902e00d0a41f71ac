// Writes a computation down as an ONNX graph, operator by operator. A value is named by what computes it.

import { encodeModel, type OnnxAttribute, type OnnxNode } from '../onnx/proto.ts'
import { ELEMENT, type OnnxTensor, type OnnxValue } from '../onnx/tensor.ts'

export type Attributes = Record<string, number | readonly number[]>

export type Graph = ReturnType<typeof createGraph>

// Later versions give some operators other attributes.
const OPERATOR_SET = 17
const IR_VERSION = 8

/** All values are floats. */
export function createGraph() {
  const nodes: OnnxNode[] = []
  const initializers: OnnxTensor[] = []
  const inputs: OnnxValue[] = []
  const outputs: OnnxValue[] = []

  function add(operator: string, from: readonly string[], to: readonly string[], attributes: Attributes): void {
    const listed = Object.entries(attributes).map(
      ([name, value]): OnnxAttribute => ({
        name,
        value: typeof value === 'number' ? { kind: 'integer', value } : { kind: 'integers', values: value },
      }),
    )
    nodes.push({ name: '', operator, domain: '', inputs: from, outputs: to, attributes: listed })
  }

  function constant(tensor: Pick<OnnxTensor, 'element' | 'dims' | 'data'>): string {
    const name = `constant-${initializers.length}`
    initializers.push({ name, ...tensor })
    return name
  }

  /** The value of an operator that has one. */
  function apply(operator: string, from: readonly string[], attributes: Attributes = {}): string {
    const name = `value-${nodes.length}`
    add(operator, from, [name], attributes)
    return name
  }

  return {
    apply,
    /** A size that differs from run to run is a name. */
    input(name: string, dims: readonly (string | number)[]): string {
      inputs.push({ name, element: ELEMENT.float, dims })
      return name
    },
    output(name: string, value: string): void {
      add('Identity', [value], [name], {})
      outputs.push({ name, element: ELEMENT.float, dims: undefined })
    },
    number(value: number): string {
      const bytes = new Uint8Array(Float32Array.of(value).buffer)
      return constant({ element: ELEMENT.float, dims: [], data: { kind: 'raw', bytes } })
    },
    /** A size of -1 is what the others leave, and 0 the one that the value has at the same place. */
    reshape(value: string, sizes: readonly number[]): string {
      const dims = [sizes.length]
      return apply('Reshape', [
        value,
        constant({ element: ELEMENT.int64, dims, data: { kind: 'integers', values: sizes } }),
      ])
    },
    /** The two halves along an axis. */
    halve(value: string, axis: number): [string, string] {
      const halves: [string, string] = [`first-${nodes.length}`, `second-${nodes.length}`]
      add('Split', [value], halves, { axis })
      return halves
    },
    toBytes(): Uint8Array {
      const graph = { name: 'graph', nodes, initializers, inputs, outputs }
      const operatorSets = [{ domain: '', version: OPERATOR_SET }]
      return Buffer.concat(encodeModel({ irVersion: IR_VERSION, producer: 'countersign', operatorSets, graph }))
    },
  }
}
