// Prunes a graph with two million edges in a thread of its own, whose heap is bounded by its parent.

import { parentPort } from 'node:worker_threads'
import { pruneGraph } from '#src/trace/attribution/influence.ts'
import { createNumbers } from '../../support/random-llama.ts'

const [features, embeddings] = [300, 7_000]
const numbers = createNumbers(1)
const rows = Array.from({ length: features + 1 }, (_, row) =>
  Float64Array.from({ length: features + embeddings }, (_, column) =>
    column >= features || row === features ? numbers() + 0.1 : 0,
  ),
)
const order = Array.from({ length: features }, (_, index) => index)
const graph = { features, remainders: 0, embeddings, rows, probabilities: [1], needsInputs: true, order }
parentPort?.postMessage(pruneGraph(graph, { node: 1, edge: 1 }).found)
