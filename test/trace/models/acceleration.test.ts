// A model's process that was asked to accelerate attribution: what its backend logs, and what stays with the kernel.

import { afterEach, expect, it } from 'vitest'
import { floatBytes } from '#src/trace/accelerator/floats.ts'
import { loadModel } from '#src/trace/llama/model.ts'
import { GREEDY } from '#src/trace/llama/sampling.ts'
import { createEmbeddedBackend, type EmbeddedOptions, type FileBackend } from '#src/trace/models/embedded.ts'
import { findModelFile } from '#src/trace/models/model-files.ts'
import { TINY } from '../../support/models.ts'
import { HAS_ONNXRUNTIME, ONNXRUNTIME_NOTE } from '../../support/onnxruntime.ts'

const INPUT = {
  messages: [
    { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
    { role: 'user', content: 'What do lamps cost at Cobalt Tools?' },
    { role: 'tool', content: 'Cobalt Tools: lamps, 812.00 EUR, delivery 2026-11-21.' },
  ] as const,
}
const GRAPH = {
  method: 'exact',
  maxFeatureNodes: 16,
  maxLogits: 3,
  desiredLogitProbability: 0.95,
  thresholds: { node: 0.8, edge: 0.98 },
} as const

const opened: FileBackend[] = []
afterEach(() => Promise.all(opened.splice(0).map((backend) => backend.close())))

function open(options: Partial<EmbeddedOptions>) {
  const lines: Record<string, unknown>[] = []
  const write = (members: object | string, message?: string) => {
    lines.push(typeof members === 'string' ? { message: members } : { ...members, message })
  }
  const file = findModelFile('', 'countersign-tiny')
  if (file === undefined) throw new Error('the tiny model is missing')
  const inspect = () => Promise.reject(new Error('the process was not asked'))
  const backend = createEmbeddedBackend(file, { log: { info: write, warn: write }, options, inspect })
  opened.push(backend)
  return { backend, lines }
}

async function use(backend: FileBackend) {
  const { tokens } = await backend.call('render', { input: INPUT })
  const graph = await backend.call('attribute', { ...GRAPH, tokens })
  const inference = await backend.generate({
    input: INPUT,
    maxTokens: 12,
    sampling: GREEDY,
    canary: { onTrip: 'continue' },
  })
  return { graph, inference }
}

it.skipIf(!HAS_ONNXRUNTIME)(
  `an accelerated process makes graphs in ONNX Runtime, and takes readings on the kernel alone${ONNXRUNTIME_NOTE}`,
  async () => {
    const plain = await use(open({}).backend)
    const { backend, lines } = open({ isAccelerated: true })
    const { graph, inference } = await use(backend)
    expect(graph.runtime).toMatch(/^onnxruntime-node /)
    expect(plain.graph.runtime).toBeUndefined()
    expect(inference).toEqual(plain.inference)
    expect(inference.canary?.runtime).toMatch(/^wasm-strict /)
    expect(lines).toMatchObject([{ message: 'the process of a model is ready', runtime: graph.runtime }])
  },
)

it('a process that can not accelerate says why in the log, and makes the graph of the kernel', async () => {
  const { kernel, shape } = loadModel(TINY, { contextTokens: 2_048, maxBytes: 2e9 })
  const maxModelBytes = kernel.bytes.length + floatBytes(shape) - 1
  const { backend, lines } = open({ isAccelerated: true, maxModelBytes })
  expect((await use(backend)).graph).toEqual((await use(open({}).backend)).graph)
  expect(lines.filter(({ message }) => message === 'attribution runs without its accelerator')).toMatchObject([
    { model: 'countersign-tiny', reason: expect.stringMatching(/^The weights as floats need/) },
  ])
})
