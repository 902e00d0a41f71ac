// One layer of a Llama model as an ONNX graph, and the products of attribution. The weights are inputs, so that one graph
// serves all layers and no runtime makes copies of them. Matrices are rows of outputs, as in the file; those behind a norm
// have its gains in them.

import type { LlamaShape } from '../llama/shape.ts'
import { createGraph, type Graph } from './graph.ts'

/**
 * Inputs: `x` tokens x width; `cos` and `sin` tokens x 1 x pairs x 1; `mask` tokens x seen, added to the scores; `keys` and
 * `values` of the tokens before; `factors` of the neurons; the matrices. Outputs: `key`, `value`, `attention`,
 * `attentionScale`, `middle`, `mlpScale`, `gate`, `up` and `residual`, as the internals have them.
 */
export function writeLayer({ width, heads, kvHeads, headSize, mlp, normEpsilon }: LlamaShape): Uint8Array {
  const graph = createGraph()
  const { apply, input, output, reshape } = graph
  const x = input('x', ['tokens', width])
  const turns = { cos: input('cos', ['tokens', 1, headSize / 2, 1]), sin: input('sin', ['tokens', 1, headSize / 2, 1]) }
  const mask = input('mask', ['tokens', 'seen'])
  const before = {
    keys: input('keys', ['before', kvHeads, headSize]),
    values: input('values', ['before', kvHeads, headSize]),
  }
  const factors = input('factors', ['edited', 'neurons'])
  const matrix = (name: string, rows: number, columns: number) => input(name, [rows, columns])
  const shared = kvHeads * headSize

  const attended = normalize(graph, x, 'attentionScale', normEpsilon)
  const queries = turn(graph, multiply(graph, attended, matrix('query', heads * headSize, width)), heads, turns)
  const key = turn(graph, multiply(graph, attended, matrix('keyMatrix', shared, width)), kvHeads, turns)
  const value = reshape(multiply(graph, attended, matrix('valueMatrix', shared, width)), [-1, kvHeads, headSize])
  output('key', key)
  output('value', value)
  const keys = apply('Transpose', [apply('Concat', [before.keys, key], { axis: 0 })], { perm: [1, 2, 0] })
  const values = apply('Transpose', [apply('Concat', [before.values, value], { axis: 0 })], { perm: [1, 0, 2] })
  // The heads of a group share keys and values: their rows are multiplied together.
  const grouped = reshape(apply('Transpose', [queries], { perm: [1, 0, 2] }), [kvHeads, -1, headSize])
  const scores = apply('Mul', [apply('MatMul', [grouped, keys]), graph.number(1 / Math.sqrt(headSize))])
  const masked = apply('Add', [reshape(scores, [heads, -1, 0]), mask])
  const attention = apply('Softmax', [masked], { axis: -1 })
  output('attention', attention)
  const mixed = reshape(apply('MatMul', [reshape(attention, [kvHeads, -1, 0]), values]), [heads, -1, headSize])
  const rows = reshape(apply('Transpose', [mixed], { perm: [1, 0, 2] }), [-1, heads * headSize])
  const middle = multiply(graph, rows, matrix('output', width, heads * headSize), x)
  output('middle', middle)

  const transformed = normalize(graph, middle, 'mlpScale', normEpsilon)
  const gated = multiply(graph, transformed, matrix('gateMatrix', mlp, width))
  const gate = apply('Mul', [gated, apply('Sigmoid', [gated])])
  const up = multiply(graph, transformed, matrix('upMatrix', mlp, width))
  output('gate', gate)
  output('up', up)
  const activations = apply('Mul', [apply('Mul', [gate, up]), factors])
  output('residual', multiply(graph, activations, matrix('down', width, mlp), middle))
  return graph.toBytes()
}

/** `y` = `x` . `matrix`, and with `sum` added to it. */
export function writeProduct({ hasSum }: { hasSum: boolean }): Uint8Array {
  const graph = createGraph()
  const operands = [graph.input('x', ['rows', 'outputs']), graph.input('matrix', ['outputs', 'inputs'])]
  if (hasSum) operands.push(graph.input('sum', ['rows', 'inputs']))
  graph.output('y', graph.apply('Gemm', operands))
  return graph.toBytes()
}

/** `y` = `x` . `matrix`, whose columns are those of a few groups: group by group, the rows of each together. */
export function writeGroupedProduct(groups: number, columns: number): Uint8Array {
  const graph = createGraph()
  const product = graph.apply('Gemm', [
    graph.input('x', ['rows', 'outputs']),
    graph.input('matrix', ['outputs', groups * columns]),
  ])
  const grouped = graph.reshape(product, [-1, groups, columns])
  graph.output('y', graph.apply('Transpose', [grouped], { perm: [1, 0, 2] }))
  return graph.toBytes()
}

/** x . matrix^T */
function multiply({ apply }: Graph, x: string, matrix: string, sum?: string): string {
  return apply('Gemm', sum === undefined ? [x, matrix] : [x, matrix, sum], { transB: 1 })
}

/** Divides rows by their root mean square, whose inverse becomes an output. */
function normalize({ apply, number, output }: Graph, x: string, scaleName: string, epsilon: number): string {
  const mean = apply('ReduceMean', [apply('Mul', [x, x])], { axes: [-1] })
  const scale = apply('Reciprocal', [apply('Sqrt', [apply('Add', [mean, number(epsilon)])])])
  output(scaleName, scale)
  return apply('Mul', [x, scale])
}

/** Turns pairs of neighbours by the position: tokens x heads x head size. */
function turn(
  { apply, reshape, halve }: Graph,
  rows: string,
  heads: number,
  { cos, sin }: { cos: string; sin: string },
): string {
  const [even, odd] = halve(reshape(rows, [0, heads, -1, 2]), 3)
  const turned = [
    apply('Sub', [apply('Mul', [even, cos]), apply('Mul', [odd, sin])]),
    apply('Add', [apply('Mul', [even, sin]), apply('Mul', [odd, cos])]),
  ]
  return reshape(apply('Concat', turned, { axis: 3 }), [0, heads, -1])
}
