import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DenseGraph, MAX_EDGES, type PruningThresholds, pruneGraph } from '#src/trace/attribution/influence.ts'
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

/** The edges that a graph has left: an object for each, all of them sorted. It needs some gigabytes for a large graph. */
function pruneByObjects(graph: DenseGraph, thresholds: PruningThresholds) {
  const { features, remainders, rows, probabilities, order, needsInputs } = graph
  const sources = rows[0]?.length ?? 0
  const sumOf = (row: Float64Array, has: (source: number) => boolean) => {
    let sum = 0
    for (let source = 0; source < row.length; source += 1) if (has(source)) sum += Math.abs(row[source] ?? 0)
    return Math.max(sum, 1e-10)
  }
  const influenceOf = (has: (source: number) => boolean) => {
    const influence = new Float64Array(sources)
    const flow = (row: Float64Array | undefined, weight: number) => {
      if (row === undefined || weight === 0) return
      const sum = sumOf(row, has)
      for (let source = 0; source < sources; source += 1) {
        if (has(source)) influence[source] = (influence[source] ?? 0) + (weight * Math.abs(row[source] ?? 0)) / sum
      }
    }
    probabilities.forEach((probability, logit) => {
      flow(rows[features + logit], probability)
    })
    for (const feature of order) if (has(feature)) flow(rows[feature], influence[feature] ?? 0)
    return influence
  }
  const influence = influenceOf(() => true)
  const leastNode = leastOf([...influence], thresholds.node)
  const isKept = Array.from(influence, (one, source) => source >= features + remainders || one >= leastNode)
  const has = (source: number) => isKept[source] ?? false
  const after = influenceOf(has)
  const scored = rows.flatMap((values, row) => {
    const weight = row < features ? (has(row) ? (after[row] ?? 0) : 0) : (probabilities[row - features] ?? 0)
    const sum = sumOf(values, has)
    return Array.from(values, (value, column) => ({
      row,
      column,
      score: weight !== 0 && has(column) ? (weight * Math.abs(value)) / sum : 0,
    })).filter(({ score }) => score > 0)
  })
  const least = leastOf(
    scored.map(({ score }) => score),
    thresholds.edge,
  )
  const reaching = scored.filter(({ score }) => score >= least)
  // The sort is stable.
  const strongest = new Set(reaching.toSorted((one, other) => other.score - one.score).slice(0, MAX_EDGES))
  let edges = reaching.filter((edge) => strongest.has(edge)).map(({ row, column }) => ({ row, column }))
  for (let before = -1; before !== edges.length; ) {
    before = edges.length
    const [written, read] = [new Set(edges.map(({ column }) => column)), new Set(edges.map(({ row }) => row))]
    for (let source = 0; source < features + remainders; source += 1) {
      if (!written.has(source) || (needsInputs && source < features && !read.has(source))) isKept[source] = false
    }
    edges = edges.filter(({ row, column }) => isKept[column] && (row >= features || isKept[row]))
  }
  return { edges, found: reaching.length, isKept }
}

/** Few different weights, so that many edges have the same score. */
function graphOfTies(seed: number, { features, remainders, embeddings }: Record<Sizes, number>): DenseGraph {
  const numbers = createNumbers(seed)
  const columns = features + remainders + embeddings
  const rows = Array.from({ length: features + 2 }, (_, row) =>
    Float64Array.from({ length: columns }, (_, column) => {
      const isAbove = column < features && column >= Math.min(row, features)
      return isAbove || numbers() < 0.1 ? 0 : Math.ceil(numbers() * 3) * (numbers() < 0.5 ? -1 : 1)
    }),
  )
  const order = Array.from({ length: features }, (_, index) => features - 1 - index)
  return { features, remainders, embeddings, rows, probabilities: [0.5, 0.5], needsInputs: seed % 2 === 0, order }
}
type Sizes = 'features' | 'remainders' | 'embeddings'

describe('pruning', () => {
  it('needs memory for the edges that stay alone, and not for an object of each edge', async () => {
    const worker = new Worker(new URL('./pruning-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    })
    const [answer] = await once(worker, 'message')
    expect(answer).toBe(300 * 7_000 + 300 + 7_000)
  })

  it('keeps the edges that a sort of all of them would keep, in the same order, whatever scores are equal', () => {
    const share = fc.constantFrom(0, 0.3, 0.5, 0.8, 0.98, 1)
    const sizes = fc.record({
      features: fc.integer({ min: 0, max: 8 }),
      remainders: fc.integer({ min: 0, max: 6 }),
      embeddings: fc.integer({ min: 1, max: 6 }),
    })
    fc.assert(
      fc.property(fc.nat(), sizes, fc.record({ node: share, edge: share }), (seed, size, thresholds) => {
        const graph = graphOfTies(seed, size)
        expect(pruneGraph(graph, thresholds)).toMatchObject(pruneByObjects(graph, thresholds))
      }),
      { numRuns: 300 },
    )
  })

  it.each([1, 2])('keeps the first of the edges with the same score at the limit, graph %i', (seed) => {
    const graph = graphOfTies(seed, { features: 80, remainders: 1_000, embeddings: 2_000 })
    for (const edge of [1, 0.9998]) {
      const { edges, found, isKept } = pruneGraph(graph, { node: 1, edge })
      const expected = pruneByObjects(graph, { node: 1, edge })
      expect([found > MAX_EDGES, found]).toEqual([true, expected.found])
      expect(isKept).toEqual(expected.isKept)
      // As bytes: a comparison of two hundred thousand objects takes seconds.
      const bytesOf = (all: typeof edges) =>
        Buffer.from(Uint32Array.from(all, (one) => one.row * 3_080 + one.column).buffer)
      expect(bytesOf(edges).equals(bytesOf(expected.edges))).toBe(true)
    }
  })

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
