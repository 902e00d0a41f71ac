import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createInternals, internalsBytes } from '#src/trace/llama/internals.ts'
import { inspectModel, type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { createModelFolder, ggufBytes } from '../../support/gguf.ts'
import { SMOLLM2, SMOLLM2_NOTE, TINY } from '../../support/models.ts'
import { computeReference, createNumbers, randomLlama, randomLlamaMetadata } from '../../support/random-llama.ts'

const LIMITS = { contextTokens: 256, maxBytes: 512e6 }
const ALL = { residuals: true, attention: true, neurons: true }
const models = createModelFolder()
afterAll(models.close)

const SIZES = { layers: 2, width: 24, heads: 3, kvHeads: 1, mlp: 36 }
const CASES = [
  ['random weights', models.write('plain.gguf', randomLlama(SIZES, 1)), 48],
  [
    'an output matrix of its own',
    models.write('output.gguf', randomLlama({ ...SIZES, kvHeads: 3, hasOutput: true }, 2)),
    20,
  ],
  ['the tiny model', TINY, 70],
] as const

function tokensOf(count: number, vocabulary: number): number[] {
  const numbers = createNumbers(count)
  return Array.from({ length: count }, () => Math.floor(numbers() * vocabulary))
}

/** The logits of each position, where the text is fed in pieces of these sizes, again and again. */
function logitsOf(
  { llama }: LoadedModel,
  tokens: readonly number[],
  pieces: readonly number[],
  internals?: ReturnType<typeof createInternals>,
) {
  const rows: number[][] = []
  llama.restart()
  for (let at = 0, piece = 0; at < tokens.length; piece += 1) {
    const taken = tokens.slice(at, at + (pieces[piece % pieces.length] ?? 1))
    const logits = llama.feed(taken, { logits: 'all', ...(internals && { internals }) })
    const { vocabulary } = llama.shape
    for (let from = 0; from < logits.length; from += vocabulary)
      rows.push([...logits.subarray(from, from + vocabulary)])
    at += taken.length
  }
  return rows
}

function farthest(one: ArrayLike<number>, other: ArrayLike<number>): number {
  expect(one.length).toBe(other.length)
  let most = 0
  for (let index = 0; index < one.length; index += 1) {
    const distance = Math.abs((one[index] ?? Number.NaN) - (other[index] ?? Number.NaN))
    // Also of what is no number.
    most = Math.max(most, distance)
  }
  return most
}

describe.each(CASES)('a model with %s', (_, path, count) => {
  const model = loadModel(path, LIMITS)
  const { llama, shape } = model
  const tokens = tokensOf(count, shape.vocabulary)
  const reference = computeReference(path, tokens)
  const internals = createInternals(shape, count, ALL, 1e9)
  const logits = logitsOf(model, tokens, [32], internals)

  it('has the logits of an independent forward pass in 64 bits', () => {
    expect(farthest(logits.flat(), reference.logits.flat())).toBeLessThan(1e-4)
  })

  it('shows the residual stream, the attention and the neurons of each layer as they are', () => {
    const { heads, mlp, layers } = shape
    for (let layer = 0; layer < layers; layer += 1) {
      const own = internals.layers[layer]
      if (own === undefined) throw new Error('a layer is missing')
      expect(farthest(own.residual, (reference.residuals[layer] ?? []).flat())).toBeLessThan(1e-4)
      const activations = own.gate.map((gate, index) => gate * (own.up[index] ?? 0))
      expect(farthest(activations, (reference.activations[layer] ?? []).flat())).toBeLessThan(1e-4)
      for (let head = 0; head < heads; head += 1) {
        for (let position = 0; position < count; position += 1) {
          const from = (head * count + position) * count
          const pattern = reference.attention[layer]?.[head]?.[position] ?? []
          expect(farthest(own.attention.subarray(from, from + position + 1), pattern)).toBeLessThan(1e-5)
          expect(own.attention.subarray(from + position + 1, from + count).every((share) => share === 0)).toBe(true)
        }
      }
      expect(own.up).toHaveLength(count * mlp)
      expect([...own.attentionScale, ...own.mlpScale].every((scale) => scale > 0)).toBe(true)
    }
    expect(farthest(internals.final, (reference.residuals[layers] ?? []).flat())).toBeLessThan(1e-4)
  })

  it('gives the same bits in one piece, in pieces of any size, token by token and again', () => {
    const other = createInternals(shape, count, ALL, 1e9)
    expect(logitsOf(model, tokens, [1], other)).toEqual(logits)
    expect(other).toEqual(internals)
    expect(logitsOf(model, tokens, [3, 7, 1, 4, 32])).toEqual(logits)
    expect(logitsOf(loadModel(path, LIMITS), tokens, [32])).toEqual(logits)
  })

  it('forgets the text before when it starts again', () => {
    logitsOf(model, tokensOf(40, shape.vocabulary).reverse(), [32])
    expect(logitsOf(model, tokens.slice(0, 5), [5])).toEqual(logits.slice(0, 5))
  })

  it('gives the same bits where it keeps the beginning of the text before, and keeps no more than was fed', () => {
    logitsOf(model, [...tokens.slice(0, 9), ...tokensOf(20, shape.vocabulary).reverse()], [32])
    llama.rewind(9)
    const rest = tokens.slice(9).map((token) => [...llama.feed([token])])
    expect(rest).toEqual(logits.slice(9))
    for (const keep of [-1, 0.5, tokens.length + 1]) expect(() => llama.rewind(keep)).toThrow(RangeError)
  })

  it('refuses tokens that it does not have and texts beyond its context', () => {
    llama.restart()
    for (const token of [-1, 0.5, shape.vocabulary, Number.NaN]) {
      expect(() => llama.feed([token])).toThrow(expect.objectContaining({ code: 'request_invalid' }))
    }
    expect(() => logitsOf(model, tokensOf(257, shape.vocabulary), [32])).toThrow(
      expect.objectContaining({ code: 'request_invalid' }),
    )
  })
})

describe('the internals of a text', () => {
  it('are refused when they would be larger than allowed, before they are allocated', () => {
    const shape = { ...loadModel(TINY, LIMITS).shape, context: 1e6 }
    expect(internalsBytes(shape, 1e6, ALL)).toBeGreaterThan(1e12)
    expect(() => createInternals(shape, 1e6, ALL, 1e9)).toThrow(expect.objectContaining({ code: 'request_invalid' }))
  })
})

describe('a greedy continuation', () => {
  const NAMED = [
    { name: 'tiny', path: TINY, note: '', count: 48 },
    { name: 'smollm2', path: SMOLLM2, note: SMOLLM2_NOTE, count: 16 },
  ]

  it.for(NAMED)(
    'of $name is that of llama.cpp with float weights for $count tokens$note',
    ({ name, path, count }, context) => {
      if (path === undefined) return context.skip()
      const { greedy } = JSON.parse(
        readFileSync(resolve(import.meta.dirname, `../../../vectors/trace/${name}.json`), 'utf8'),
      )
      const { llama } = loadModel(path, LIMITS)
      for (const { prompt, continuation } of greedy) {
        llama.restart()
        let logits = new Float32Array()
        for (let at = 0; at < prompt.length; at += 32) logits = llama.feed(prompt.slice(at, at + 32)) as typeof logits
        const expected = continuation.slice(0, count)
        const made = expected.map(() => {
          const token = logits.indexOf(logits.reduce((most, logit) => Math.max(most, logit)))
          logits = llama.feed([token]) as typeof logits
          return token
        })
        expect(made).toEqual(expected)
      }
    },
  )
})

describe('a model file', () => {
  it('is described by its header', () => {
    expect(inspectModel(TINY)).toMatchObject({
      name: 'countersign-tiny',
      version: '1.0',
      architecture: 'llama',
      shape: { layers: 3, width: 128, heads: 4, kvHeads: 2, headSize: 32, mlp: 352, vocabulary: 1_027, context: 512 },
      tensorTypes: ['F16', 'F32'],
      hasChat: true,
    })
  })

  const header = randomLlamaMetadata(SIZES)
  const whole = randomLlama(SIZES, 3)
  it.each<[string, Uint8Array, string, RegExp]>([
    ['another architecture', ggufBytes({ ...header, 'general.architecture': 'qwen2' }), 'model_unsupported', /"qwen2"/],
    ['experts', ggufBytes({ ...header, 'llama.expert_count': 8 }), 'model_unsupported', /experts/],
    ['scaled positions', ggufBytes({ ...header, 'llama.rope.scaling.type': 'yarn' }), 'model_unsupported', /yarn/],
    ['no layers', ggufBytes({ ...header, 'llama.block_count': 0 }), 'model_file_invalid', /block_count/],
    ['a billion layers', ggufBytes({ ...header, 'llama.block_count': 1e9 }), 'model_file_invalid', /block_count/],
    ['half a width', ggufBytes({ ...header, 'llama.embedding_length': 0.5 }), 'model_file_invalid', /embedding_length/],
    [
      'a width that is a text',
      ggufBytes({ ...header, 'llama.embedding_length': 'x' }),
      'model_file_invalid',
      /embedding_length/,
    ],
    ['an odd width', ggufBytes({ ...header, 'llama.embedding_length': 27 }), 'model_unsupported', /multiple of 4/],
    [
      'keys that do not fit',
      ggufBytes({ ...header, 'llama.attention.head_count_kv': 2 }),
      'model_file_invalid',
      /heads/,
    ],
    [
      'an epsilon of 0',
      ggufBytes({ ...header, 'llama.attention.layer_norm_rms_epsilon': 0 }),
      'model_file_invalid',
      /epsilon/,
    ],
    ['no tensors', ggufBytes(header), 'model_file_invalid', /token_embd.weight is missing/],
    ['a tensor of another size', ggufBytes(header, tensorsWith([8])), 'model_file_invalid', /missing|size/],
    [
      'an unknown tensor',
      renamed(whole, 'blk.0.attn_q.weight', 'blk.0.attn_q.biased'),
      'model_file_invalid',
      /attn_q.weight is missing/,
    ],
    ['a longer vocabulary', changedVocabulary(), 'model_file_invalid', /another length|has the size/],
  ])('is refused for %s', (_, bytes, code, message) => {
    const path = models.write('refused.gguf', bytes)
    for (const open of [inspectModel, (file: string) => loadModel(file, LIMITS)]) {
      expect(() => open(path)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
    }
  })

  it('is refused before its weights are read when they need more memory than allowed', () => {
    expect(() => loadModel(TINY, { contextTokens: 512, maxBytes: 1e6 })).toThrow(
      expect.objectContaining({ code: 'model_too_large' }),
    )
  })

  it('that is not there is not found', () => {
    expect(() => inspectModel('/nowhere/x.gguf')).toThrow(expect.objectContaining({ code: 'model_not_found' }))
  })

  function tensorsWith(dimensions: number[]) {
    return [{ name: 'token_embd.weight', dimensions, data: new Uint8Array(32) }]
  }

  function renamed(bytes: Buffer, from: string, to: string): Buffer {
    const changed = Buffer.from(bytes)
    changed.write(to, changed.indexOf(from), 'utf8')
    return changed
  }

  function changedVocabulary(): Buffer {
    const tokens = header['tokenizer.ggml.tokens']
    const text = Buffer.from(whole)
    // One token more in the list than rows in the embedding: the count stands behind the key and two types.
    const key = Buffer.from('tokenizer.ggml.tokens')
    const at = text.indexOf(key) + key.length + 8
    const longer = Buffer.concat([
      text.subarray(0, at + 8),
      Buffer.of(1, 0, 0, 0, 0, 0, 0, 0, 0x78),
      text.subarray(at + 8),
    ])
    longer.writeBigUInt64LE(BigInt(tokens.length + 1), at)
    return longer
  }
})
