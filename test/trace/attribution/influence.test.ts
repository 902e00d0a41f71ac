import { describe, expect, it } from 'vitest'
import { type DenseGraph, MAX_EDGES, pruneGraph } from '#src/trace/attribution/influence.ts'
import { createNumbers } from '../../support/random-llama.ts'

/** Random weights: neuron i reads neurons below it, remainders and embeddings. */
function randomGraph(seed: number): DenseGraph {
  const numbers = createNumbers(seed)
  const [features, remainders, embeddings, logits] = [12, 8, 5, 3]
  const columns = features + remainders + embeddings
  const rows = Array.from({ length: features + logits }, (_, row) =>
    Float64Array.from({ length: columns }, (_, column) => {
      const value = numbers() - 0.5
      return (column < features && column >= Math.min(row, features)) || numbers() < 0.4 ? 0 : value
    }),
  )
  const order = Array.from({ length: features }, (_, index) => features - 1 - index)
  return { features, remainders, embeddings, rows, probabilities: [0.6, 0.3, 0.05], needsInputs: true, order }
}

/** As circuit-tracer computes it: the powers of the whole square matrix, summed. */
function influenceByPowers(graph: DenseGraph, has: (node: number) => boolean = () => true) {
  const { features, rows, probabilities } = graph
  const columns = rows[0]?.length ?? 0
  const size = columns + probabilities.length
  const matrix = Array.from({ length: size }, (_, node) => {
    const row = node < features ? rows[node] : node >= columns ? rows[features + node - columns] : undefined
    const values = Array.from({ length: size }, (_, source) =>
      has(node) && has(source) ? Math.abs(row?.[source] ?? 0) : 0,
    )
    const sum = Math.max(
      1e-10,
      values.reduce((total, value) => total + value, 0),
    )
    return values.map((value) => value / sum)
  })
  const weights = Array.from({ length: size }, (_, node) => probabilities[node - columns] ?? 0)
  let current = weights
  const influence = new Array<number>(size).fill(0)
  for (let step = 0; step < size; step += 1) {
    current = current.map((_, source) =>
      current.reduce((sum, value, node) => sum + value * (matrix[node]?.[source] ?? 0), 0),
    )
    current.forEach((value, node) => {
      influence[node] = (influence[node] ?? 0) + value
    })
  }
  return { influence, matrix, weights }
}

/** The least value that is still needed for this share of the sum. */
function leastOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => other - one)
  const total = sorted.reduce((sum, value) => sum + value, 0)
  let sum = 0
  for (const value of sorted) {
    sum += value
    if (sum >= share * total) return value
  }
  return 0
}

describe('pruning', () => {
  it('keeps the strongest edges up to the limit, and says how many there were', () => {
    const [features, embeddings] = [100, MAX_EDGES / 100 + 5]
    const numbers = createNumbers(1)
    const rows = Array.from({ length: features + 1 }, (_, row) =>
      Float64Array.from({ length: features + embeddings }, (_, column) =>
        column >= features || row === features ? numbers() + 0.1 : 0,
      ),
    )
    const order = Array.from({ length: features }, (_, index) => index)
    const graph = { features, remainders: 0, embeddings, rows, probabilities: [1], needsInputs: true, order }
    const all = pruneGraph(graph, { node: 1, edge: 1 })
    expect([all.found, all.edges.length]).toEqual([rows.length * embeddings + features, MAX_EDGES])
    const few = pruneGraph(graph, { node: 1, edge: 0.1 })
    // A node that loses its edges goes, with the others of its edges.
    expect(few.found).toBeGreaterThanOrEqual(few.edges.length)
    expect(few.found).toBeLessThan(MAX_EDGES)
  })

  it.each([1, 2, 3, 4, 5])('keeps the nodes and scores that the sum over all paths gives, graph %i', (seed) => {
    const graph = randomGraph(seed)
    const { influence, matrix, weights } = influenceByPowers(graph)
    const all = pruneGraph(graph, { node: 1, edge: 1 })
    const { features, remainders } = graph
    const sources = graph.rows[0]?.length ?? 0
    const sorted = [...influence].sort((one, other) => other - one)
    const total = sorted.reduce((sum, value) => sum + value, 0)
    for (let source = 0; source < sources; source += 1) {
      const more = influence.filter((value) => value > (influence[source] ?? 0)).reduce((sum, value) => sum + value, 0)
      if ((influence[source] ?? 0) > 0) {
        expect(all.cumulative[source]).toBeCloseTo((more + (influence[source] ?? 0)) / total, 9)
      }
    }
    const sum = (from: number, to: number) => influence.slice(from, to).reduce((all, value) => all + value, 0)
    const [tokens, errors] = [sum(features + remainders, sources), sum(features, features + remainders)]
    expect(all.scores.replacementScore).toBeCloseTo(tokens / (tokens + errors), 9)
    const output = influence.map((value, node) => value + (weights[node] ?? 0))
    const complete = output.map((value, node) => {
      const unexplained = matrix[node]?.slice(features, features + remainders).reduce((all, one) => all + one, 0) ?? 0
      return value * (1 - unexplained)
    })
    const whole = output.reduce((all, value) => all + value, 0)
    expect(all.scores.completenessScore).toBeCloseTo(complete.reduce((all, value) => all + value, 0) / whole, 9)
  })

  it.each([6, 7, 8, 9])(
    'keeps the edges with their share of the influence, and no node without its edges, graph %i',
    (seed) => {
      const graph = randomGraph(seed)
      const { features, remainders } = graph
      const columns = graph.rows[0]?.length ?? 0
      const { influence } = influenceByPowers(graph)
      const { isKept, edges } = pruneGraph(graph, { node: 0.7, edge: 0.9 })
      const least = leastOf(influence, 0.7)
      const chosen = (node: number) => node >= features + remainders || (influence[node] ?? 0) >= least
      isKept.forEach((kept, node) => {
        if (kept) expect(chosen(node)).toBe(true)
      })
      const { influence: after, matrix, weights } = influenceByPowers(graph, chosen)
      const scores = matrix.map((row, node) => row.map((value) => value * ((after[node] ?? 0) + (weights[node] ?? 0))))
      const smallest = leastOf(scores.flat(), 0.9)
      for (const { row, column } of edges) {
        expect(scores[row < features ? row : columns + row - features]?.[column]).toBeGreaterThanOrEqual(
          smallest * (1 - 1e-9),
        )
      }
      const [read, written] = [new Set(edges.map(({ row }) => row)), new Set(edges.map(({ column }) => column))]
      for (let node = 0; node < features + remainders; node += 1) {
        expect(isKept[node]).toBe(chosen(node) && written.has(node) && (node >= features || read.has(node)))
      }
      // What was left out has no place in the graph any more.
      const missing = scores.flatMap((row, node) =>
        row.flatMap((score, column) => {
          const index = node < features ? node : node - columns + features
          const isThere = edges.some((edge) => edge.row === index && edge.column === column)
          const ends = [node < columns ? isKept[node] : true, isKept[column]]
          return score > smallest && !isThere && ends.every(Boolean) ? [{ node, column }] : []
        }),
      )
      expect(missing).toEqual([])
    },
  )
})
