// Exported decoders that were made to do harm, or are damaged: each is refused with a reason before a runtime sees it, or
// ends in its own process.

import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inspectExported } from '#src/trace/exported/decoder.ts'
import { isModelError, type ModelError } from '#src/trace/gguf/model-error.ts'
import { createRandom, GREEDY } from '#src/trace/llama/sampling.ts'
import { createModelProcess } from '#src/trace/models/model-process.ts'
import { EXPORTED_CHILD } from '#src/trace/models/onnx.ts'
import { encodeModel, type OnnxGraph, type OnnxNode, withGraph } from '#src/trace/onnx/proto.ts'
import type { OnnxTensor } from '#src/trace/onnx/tensor.ts'
import { lengthOf, writeBytes } from '#src/trace/onnx/wire.ts'
import { createDecoderFolder, EXPORTED, readDecoder } from '../../support/onnx.ts'

const folder = createDecoderFolder()
afterAll(() => folder.close())

const LIMITS = { maxBytes: 1e9 }
const whole = readFileSync(EXPORTED.dynamo)

function refusalOf(path: string, limits = LIMITS): Pick<ModelError, 'code' | 'message'> {
  try {
    inspectExported(path, limits)
  } catch (error) {
    if (isModelError(error)) return { code: error.code, message: error.message }
    throw error
  }
  return { code: 'closed', message: 'not refused' }
}

const node = (operator: string, inputs: string[], outputs: string[], more: Partial<OnnxNode> = {}): OnnxNode => ({
  name: operator,
  operator,
  domain: '',
  inputs,
  outputs,
  attributes: [],
  ...more,
})
const withNode = (made: OnnxNode) => (graph: OnnxGraph) => ({ ...graph, nodes: [...graph.nodes, made] })
const withTensor = (change: (tensor: OnnxTensor) => OnnxTensor) => (graph: OnnxGraph) => {
  const largest = graph.initializers.reduce((one, other) => ((other.dims[0] ?? 0) > (one.dims[0] ?? 0) ? other : one))
  return { ...graph, initializers: graph.initializers.map((tensor) => (tensor === largest ? change(tensor) : tensor)) }
}
const external = (location: string, offset = 0, length?: number) =>
  withTensor((tensor) => ({ ...tensor, data: { kind: 'external', location, offset, length } }))
function nested(depth: number): OnnxGraph {
  const inner: OnnxNode[] =
    depth === 0
      ? []
      : [
          node('If', [], [], {
            attributes: [{ name: 'then_branch', value: { kind: 'graph', graph: nested(depth - 1) } }],
          }),
        ]
  return { name: 'g', nodes: inner, initializers: [], inputs: [], outputs: [] }
}

const CASES: [string, string, string][] = [
  ['an empty file', folder.write(new Uint8Array()), 'model_file_invalid'],
  ['a text', folder.write(Buffer.from('version https://git-lfs.github.com/spec/v1')), 'model_file_invalid'],
  [
    'a length beyond the file',
    folder.write(Buffer.concat([whole.subarray(0, 40), Buffer.alloc(40, 0xff)])),
    'model_file_invalid',
  ],
  ['two graphs', folder.write(Buffer.concat([whole, Buffer.concat(writeBytes(7, []))])), 'model_file_invalid'],
  ['functions', folder.write(Buffer.concat([whole, Buffer.concat(writeBytes(25, []))])), 'model_unsupported'],
  [
    'a cycle',
    folder.change((graph) => ({
      ...graph,
      nodes: [node('Identity', ['b'], ['a']), node('Identity', ['a'], ['b']), ...graph.nodes],
    })),
    'model_file_invalid',
  ],
  [
    'a missing weight',
    folder.change((graph) => ({ ...graph, initializers: graph.initializers.slice(1) })),
    'model_file_invalid',
  ],
  [
    'a tensor that is made twice',
    folder.change(withNode(node('Identity', ['logits'], ['logits']))),
    'model_file_invalid',
  ],
  [
    'an output that nothing makes',
    folder.change((graph) => ({ ...graph, outputs: [...graph.outputs, { name: 'x', element: 1, dims: [1] }] })),
    'model_file_invalid',
  ],
  [
    'sizes beyond any memory',
    folder.change(withTensor((tensor) => ({ ...tensor, dims: [2 ** 40, 2 ** 12] }))),
    'model_file_invalid',
  ],
  ['a negative size', folder.change(withTensor((tensor) => ({ ...tensor, dims: [-1, 128] }))), 'model_file_invalid'],
  [
    'graphs in graphs',
    folder.change((graph) => ({ ...graph, nodes: [...graph.nodes, ...nested(9).nodes] })),
    'model_file_invalid',
  ],
  ['data above its folder', folder.change(external('../../../etc/passwd')), 'model_file_invalid'],
  ['data by an absolute path', folder.change(external('/etc/passwd')), 'model_file_invalid'],
  ['data in no file', folder.change(external('gone.bin')), 'model_not_found'],
  ['data in its folder itself', folder.change(external('.')), 'model_file_invalid'],
  ['data beyond the end of its file', folder.change(external('tokenizer.json', 40_000)), 'model_file_invalid'],
  ['data of another length than its sizes', folder.change(external('tokenizer.json', 0, 7)), 'model_file_invalid'],
  [
    'an operator of another domain',
    folder.change(withNode(node('PyOp', ['logits'], ['x'], { domain: 'ai.onnx.contrib' }))),
    'model_unsupported',
  ],
  [
    'an operator that reads files',
    folder.change(withNode(node('EPContext', ['logits'], ['x'], { domain: 'com.microsoft' }))),
    'model_unsupported',
  ],
  [
    'an input that is not known',
    folder.change((graph) => ({
      ...graph,
      inputs: [...graph.inputs, { name: 'pixel_values', element: 1, dims: [1, 3, 224, 224] }],
    })),
    'model_unsupported',
  ],
  ['no logits', folder.change((graph) => ({ ...graph, outputs: graph.outputs.slice(1) })), 'model_unsupported'],
  ['a tokenizer that is no JSON', folder.write(whole, { 'tokenizer.json': '{' }), 'model_file_invalid'],
  [
    'a tokenizer without tokens',
    folder.write(whole, { 'tokenizer.json': '{"model":{"type":"BPE"}}' }),
    'model_file_invalid',
  ],
  [
    'a tokenizer of another kind',
    folder.write(whole, {
      'tokenizer.json': JSON.stringify({ model: { type: 'Unigram', vocab: {} }, added_tokens: [] }),
    }),
    'model_unsupported',
  ],
]

describe('an exported decoder is refused', () => {
  it.each(CASES)('with %s', (_, path, code) => {
    expect(refusalOf(path).code).toBe(code)
  })

  it('with data behind a link to elsewhere', () => {
    const path = folder.change(external('linked.bin'))
    const target = join(folder.root, 'outside.bin')
    writeFileSync(target, Buffer.alloc(1_000_000))
    symlinkSync(target, join(path, '../linked.bin'))
    expect(refusalOf(path).code).toBe('model_not_found')
  })

  it('when its files are larger than a model may be, together', () => {
    expect(refusalOf(EXPORTED.dynamo, { maxBytes: whole.length - 1 }).code).toBe('model_too_large')
    const path = folder.change(external('weights.bin'))
    writeFileSync(join(path, '../weights.bin'), Buffer.alloc(3_000_000))
    expect(refusalOf(path, { maxBytes: 3_500_000 }).code).toBe('model_too_large')
  })

  it('where it ends early, wherever that is', () => {
    const random = createRandom(5)
    for (let time = 0; time < 40; time += 1) {
      const { code } = refusalOf(folder.write(whole.subarray(0, Math.floor(random() * whole.length))))
      expect(code).toBe('model_file_invalid')
    }
  })
})

it('data beside the model is read, and is part of its hash', () => {
  const model = readDecoder()
  const tensor = model.graph.initializers.find(({ data }) => data.kind === 'raw' && data.bytes.length > 4_096)
  if (tensor?.data.kind !== 'raw') throw new Error('no weight')
  const { bytes } = tensor.data
  const initializers = model.graph.initializers.map((one) =>
    one === tensor
      ? { ...one, data: { kind: 'external', location: 'w.bin', offset: 64, length: bytes.length } as const }
      : one,
  )
  const write = (content: Uint8Array) =>
    folder.write(withGraph(model, { ...model.graph, initializers }), {
      'w.bin': Buffer.concat([Buffer.alloc(64), content]),
    })
  const facts = inspectExported(write(bytes), LIMITS)
  expect(facts.writers?.layers).toHaveLength(3)
  expect(inspectExported(write(Buffer.alloc(bytes.length)), LIMITS).sha256).not.toBe(facts.sha256)
})

describe('changed bytes', () => {
  // Nodes come first in the file; weights are nearly all the rest, and any of their bytes are right.
  const structure = lengthOf(encodeModel(readDecoder()).slice(0, 6_000))

  function mutate(seed: number): Buffer {
    const random = createRandom(seed)
    const bytes = Buffer.from(whole)
    const changes = 1 + Math.floor(random() * 4)
    for (let change = 0; change < changes; change += 1) {
      const at = Math.floor(random() * Math.min(structure, bytes.length))
      const kind = random()
      if (kind < 0.5) bytes[at] = Math.floor(random() * 256)
      else if (kind < 0.75) bytes.copy(bytes, at, Math.floor(random() * structure), Math.floor(random() * structure))
      else bytes.fill(random() < 0.5 ? 0xff : 0, at, at + Math.floor(random() * 12))
    }
    return bytes
  }

  it('200 times: each file is read, or refused with a reason', () => {
    const codes = new Set<string>()
    for (let seed = 1; seed <= 200; seed += 1) codes.add(refusalOf(folder.write(mutate(seed))).code)
    expect([...codes].filter((code) => !['closed', 'model_file_invalid', 'model_unsupported'].includes(code))).toEqual(
      [],
    )
    expect(codes.size).toBeGreaterThan(1)
  })

  it('what passes runs in a process of its own, which answers or ends', async () => {
    const passing = Array.from({ length: 200 }, (_, index) => folder.write(mutate(index + 1))).filter(
      (path) => refusalOf(path).code === 'closed',
    )
    expect(passing.length).toBeGreaterThan(3)
    for (const path of passing.slice(0, 6)) {
      const process = createModelProcess({ path, file: EXPORTED_CHILD, backoffMs: 1, limitMs: 60_000 })
      const request = { input: { text: 'Harbor' }, maxTokens: 2, sampling: GREEDY }
      const ended = await process.infer(request).then(
        () => 'answered',
        (error: ModelError) => error.code,
      )
      await process.close()
      expect(['answered', 'model_file_invalid', 'request_invalid', 'process_ended', 'timeout']).toContain(ended)
    }
  })
})

it('memory that native code takes in one step ends the process', async () => {
  // A decoder whose logits need 8 GB, by way of a shape that only the runtime computes.
  const shape = { name: 'far', element: 7, dims: [1], data: { kind: 'integers' as const, values: [2_000_000_000] } }
  const path = folder.change((graph) => ({
    ...graph,
    initializers: [...graph.initializers, shape],
    nodes: [
      ...graph.nodes.map((one) => ({
        ...one,
        outputs: one.outputs.map((name) => (name === 'logits' ? 'plain' : name)),
      })),
      node('ReduceSum', ['plain'], ['one'], {
        attributes: [{ name: 'keepdims', value: { kind: 'integer', value: 0 } }],
      }),
      node('Expand', ['one', 'far'], ['wide']),
      node('ReduceMax', ['wide'], ['most'], {
        attributes: [{ name: 'keepdims', value: { kind: 'integer', value: 0 } }],
      }),
      node('Add', ['plain', 'most'], ['logits']),
    ],
  }))
  const ended: { reason: string }[] = []
  const process = createModelProcess({
    path,
    file: EXPORTED_CHILD,
    maxResidentBytes: 600_000_000,
    backoffMs: 1,
    onEnded: (one) => ended.push(one),
  })
  const request = { input: { text: 'Harbor' }, maxTokens: 1, sampling: GREEDY }
  await expect(process.infer(request)).rejects.toMatchObject({ code: 'process_ended' })
  await process.close()
  // Not `memory`: in the middle of native code the process can not say why it ends.
  expect(ended.map(({ reason }) => reason)).toEqual(['crashed'])
})
