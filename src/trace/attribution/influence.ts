// Which nodes and edges of an exact graph matter for the logits: influence and the two thresholds as circuit-tracer
// defines them (safety-research/circuit-tracer, circuit_tracer/graph.py), so that graphs of both are read alike. Rows
// are normalised by the sum of their absolute weights; influence flows from the logits, weighted by probability.

export interface DenseGraph {
  /** Sources: `features` named neurons, `remainders`, then the embeddings. */
  features: number
  remainders: number
  embeddings: number
  /** Inputs of each feature, then of each logit; the columns are the sources. */
  rows: readonly Float64Array[]
  /** Probabilities of the logits. */
  probabilities: readonly number[]
  /** Whether a feature without an edge to it says nothing. Not so where the rows of features are unknown. */
  needsInputs: boolean
  /** Features so that each comes before those that it reads, as indices. */
  order: readonly number[]
}

export interface PrunedGraph {
  /** For each source, whether it is kept. Logits and embeddings always are. */
  isKept: boolean[]
  /** Indices of rows and columns of kept edges, by row and column. */
  edges: { row: number; column: number }[]
  /** How many edges the thresholds ask for. Above `MAX_EDGES`, the weakest of them are left out. */
  found: number
  /** For each source, the share of all influence that it and the more influential ones have. */
  cumulative: Float64Array
  scores: GraphScores
}

/**
 * Scores of a graph whose rows are all known: where the rows of features are empty, nothing is unexplained and the
 * figures say nothing.
 */
export interface GraphScores {
  /** Share of the embeddings in the influence that ends in embeddings and remainders. */
  replacementScore: number
  /** The part of the inputs of all nodes, by influence, that does not come from remainders. */
  completenessScore: number
}

export interface PruningThresholds {
  /** The part of the influence that the kept nodes have. */
  node: number
  /** The part of the kept nodes' influence that the kept edges carry. */
  edge: number
}

/** The most edges of a graph: about 20 MB as JSON. */
export const MAX_EDGES = 200_000

export function pruneGraph(graph: DenseGraph, thresholds: PruningThresholds): PrunedGraph {
  const { features, remainders, embeddings, needsInputs } = graph
  const sources = features + remainders + embeddings
  const influence = computeInfluence(graph, () => true)
  const least = thresholdOf(influence.slice().sort().reverse(), thresholds.node)
  const isKept = Array.from(
    { length: sources },
    (_, source) => source >= features + remainders || (influence[source] ?? 0) >= least,
  )
  const chosen = chooseEdges(graph, (source) => isKept[source] ?? false, thresholds.edge)
  let { edges } = chosen
  // A node whose edges are all gone goes too, which may take the last edge of another.
  for (let before = -1; before !== edges.length; ) {
    before = edges.length
    const written = new Set(edges.map(({ column }) => column))
    const read = new Set(edges.map(({ row }) => row))
    for (let source = 0; source < features + remainders; source += 1) {
      if (!written.has(source) || (needsInputs && source < features && !read.has(source))) isKept[source] = false
    }
    edges = edges.filter(({ row, column }) => isKept[column] && (row >= features || isKept[row]))
  }
  return {
    isKept,
    edges,
    found: chosen.found,
    cumulative: cumulate(influence),
    scores: computeScores(graph, influence),
  }
}

/** The influence of each source. Edges from and to sources that `has` refuses don't count. */
function computeInfluence(graph: DenseGraph, has: (source: number) => boolean): Float64Array {
  const { features, rows, probabilities, order } = graph
  const influence = new Float64Array(rows[0]?.length ?? 0)
  const flow = (row: Float64Array | undefined, weight: number) => {
    if (row === undefined || weight === 0) return
    const sum = sumOf(row, has)
    for (let source = 0; source < row.length; source += 1) {
      if (has(source)) influence[source] = (influence[source] ?? 0) + (weight * Math.abs(row[source] ?? 0)) / sum
    }
  }
  probabilities.forEach((probability, logit) => {
    flow(rows[features + logit], probability)
  })
  for (const feature of order) if (has(feature)) flow(rows[feature], influence[feature] ?? 0)
  return influence
}

// A graph may have ten million edges: an object for each is more than the heap of a model's process. Their scores are held
// alone, as floats, and computed again for the edges that stay.
function chooseEdges(graph: DenseGraph, has: (source: number) => boolean, share: number) {
  const influence = computeInfluence(graph, has)
  let count = 0
  scoreEdges(graph, influence, has, () => {
    count += 1
  })
  const scores = new Float64Array(count)
  let next = 0
  scoreEdges(graph, influence, has, (_row, _column, score) => {
    scores[next++] = score
  })
  const sorted = scores.sort().reverse()
  const least = thresholdOf(sorted, share)
  const found = countOf(sorted, (score) => score >= least)
  const limit = sorted[Math.min(found, MAX_EDGES) - 1] ?? 0
  // Among equal scores the first rows are kept.
  let equals = Math.min(found, MAX_EDGES) - countOf(sorted, (score) => score > limit)
  const edges: PrunedGraph['edges'] = []
  scoreEdges(graph, influence, has, (row, column, score) => {
    if (score > limit || (score === limit && equals-- > 0)) edges.push({ row, column })
  })
  return { edges, found }
}

/** Calls `take` for each edge with a score above 0, by row and column. */
function scoreEdges(
  { features, rows, probabilities }: DenseGraph,
  influence: Float64Array,
  has: (source: number) => boolean,
  take: (row: number, column: number, score: number) => void,
): void {
  rows.forEach((values, row) => {
    const weight = row < features ? (has(row) ? (influence[row] ?? 0) : 0) : (probabilities[row - features] ?? 0)
    if (weight === 0) return
    const sum = sumOf(values, has)
    for (let column = 0; column < values.length; column += 1) {
      const score = has(column) ? (weight * Math.abs(values[column] ?? 0)) / sum : 0
      if (score > 0) take(row, column, score)
    }
  })
}

/** How many of the first scores of a descending order are as `is` says. */
function countOf(sorted: Float64Array, is: (score: number) => boolean): number {
  const end = sorted.findIndex((score) => !is(score))
  return end === -1 ? sorted.length : end
}

function computeScores(
  { features, remainders, rows, probabilities }: DenseGraph,
  influence: Float64Array,
): GraphScores {
  const isRemainder = (source: number) => source >= features && source < features + remainders
  const total = (from: number, to: number) => influence.subarray(from, to).reduce((sum, value) => sum + value, 0)
  const explained = total(features + remainders, influence.length)
  const unexplained = total(features, features + remainders)
  let [complete, all] = [0, 0]
  rows.forEach((values, row) => {
    const weight = row < features ? (influence[row] ?? 0) : (probabilities[row - features] ?? 0)
    if (weight === 0) return
    complete += weight * (1 - sumOf(values, isRemainder, 0) / sumOf(values, () => true))
    all += weight
  })
  // Remainders and embeddings have no inputs, so nothing of theirs comes from remainders.
  complete += explained + unexplained
  all += explained + unexplained
  return { replacementScore: ratio(explained, explained + unexplained), completenessScore: ratio(complete, all) }
}

function sumOf(row: Float64Array, has: (source: number) => boolean, least = 1e-10): number {
  let sum = 0
  for (let source = 0; source < row.length; source += 1) if (has(source)) sum += Math.abs(row[source] ?? 0)
  return Math.max(sum, least)
}

/** The score from which on the larger ones have this share of the sum. @param sorted In descending order. */
function thresholdOf(sorted: Float64Array, share: number): number {
  const total = sorted.reduce((sum, score) => sum + score, 0)
  let sum = 0
  for (const score of sorted) {
    sum += score
    if (sum >= share * total) return score
  }
  return sorted.at(-1) ?? 0
}

function cumulate(influence: Float64Array): Float64Array {
  const total = influence.reduce((sum, value) => sum + value, 0)
  const order = [...influence.keys()].sort(
    (one, other) => (influence[other] ?? 0) - (influence[one] ?? 0) || one - other,
  )
  const made = new Float64Array(influence.length)
  let sum = 0
  for (const source of order) {
    sum += influence[source] ?? 0
    made[source] = Math.min(1, ratio(sum, total))
  }
  return made
}

const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)
