import { closeSync, openSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Gguf, readGguf } from '#src/trace/gguf/gguf.ts'
import { isModelError } from '#src/trace/gguf/model-error.ts'
import { decodeTensor, TENSOR_TYPES, type TensorTypeName } from '#src/trace/gguf/tensor-types.ts'
import { createModelFolder, ggufBytes, text, uint32, uint64 } from '../../support/gguf.ts'
import { createNumbers } from '../../support/random-llama.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const { vectors }: { vectors: { type: TensorTypeName; bytes: string; values: string }[] } = JSON.parse(
  readFileSync(resolve(ROOT, 'vectors/trace/tensors.json'), 'utf8'),
)
const TINY = resolve(ROOT, 'src/trace/models/countersign-tiny-1.0.gguf')
const models = createModelFolder()
afterAll(models.close)

const KEY = { 'general.architecture': 'llama' }
const FLOATS = new Uint8Array(Float32Array.from({ length: 64 }, (_, index) => index).buffer)
const TENSOR = { name: 'one', dimensions: [64], data: FLOATS }

function read(path: string): Gguf {
  const descriptor = openSync(path, 'r')
  try {
    return readGguf(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The code and the sentence with which the file is refused; undefined where it is read. */
function refusalOf(bytes: Uint8Array): { code: string; message: string } | undefined {
  try {
    read(models.write('hostile.gguf', bytes))
    return undefined
  } catch (error) {
    if (!isModelError(error)) throw error
    return { code: error.code, message: error.message }
  }
}

describe('the values of tensors', () => {
  it.each(vectors)('of type $type are those of the reference, bit by bit', ({ type, bytes, values }) => {
    const expected = floatsOf(Buffer.from(values, 'base64'))
    const decoded = new Float32Array(expected.length)
    decodeTensor(type, Buffer.from(bytes, 'base64'), decoded)
    expect([...decoded].findIndex((value, index) => value !== expected[index])).toBe(-1)
  })

  it('have vectors of every type that is supported', () => {
    expect(vectors.map(({ type }) => type).toSorted()).toEqual(Object.keys(TENSOR_TYPES).toSorted())
  })
})

describe('a model file', () => {
  it('that the reference wrote is read: metadata, names, sizes and places', () => {
    const { metadata, tensors, version } = read(TINY)
    expect({
      version,
      architecture: metadata.get('general.architecture'),
      layers: metadata.get('llama.block_count'),
    }).toEqual({ version: 3, architecture: 'llama', layers: 3 })
    expect(metadata.get('tokenizer.ggml.tokens')).toHaveLength(tensors.get('token_embd.weight')?.dimensions[1] ?? 0)
    expect(tensors.get('blk.2.ffn_down.weight')).toMatchObject({
      type: 'F16',
      dimensions: [352, 128],
      bytes: 352 * 128 * 2,
    })
  })

  it('has its tensors where the header says', () => {
    const path = models.write('whole.gguf', ggufBytes(KEY, [TENSOR, { ...TENSOR, name: 'two' }]))
    const { offset, bytes } = read(path).tensors.get('two') ?? { offset: 0, bytes: 0 }
    expect(readFileSync(path).subarray(offset, offset + bytes)).toEqual(Buffer.from(FLOATS))
  })

  it.each<[string, Uint8Array, string, RegExp]>([
    ['no model file', Buffer.from('PK\x03\x04'.padEnd(64)), 'model_file_invalid', /begin with "GGUF"/],
    ['an empty file', new Uint8Array(), 'model_file_invalid', /begin with "GGUF"/],
    ['another version', ggufBytes(KEY, [], { version: 1 }), 'model_unsupported', /version 1 /],
    ['the other byte order', ggufBytes(KEY, [], { version: 0x03000000 }), 'model_unsupported', /version/],
    ['2^32 tensors', ggufBytes(KEY, [], { tensorCount: 2 ** 32 }), 'model_file_invalid', /number of tensors/],
    ['2^53 keys', ggufBytes(KEY, [], { keyCount: 2 ** 53 - 1 }), 'model_file_invalid', /number of metadata keys/],
    ['more keys than there are', raw(text('a'), uint32(0), Buffer.of(1)), 'model_file_invalid', /ends in the middle/],
    ['a key of 2^63 bytes', raw(uint64(2n ** 63n)), 'model_file_invalid', /beyond any file/],
    ['a key of a gigabyte', raw(uint64(2 ** 30)), 'model_file_invalid', /at most 256 /],
    ['a text longer than the file', raw(text('a'), uint32(8), uint64(1e6)), 'model_file_invalid', /ends in the middle/],
    ['a text of a gigabyte', raw(text('a'), uint32(8), uint64(2 ** 30)), 'model_file_invalid', /at most 1048576/],
    ['a text that is not UTF-8', raw(text('a'), uint32(8), uint64(1), Buffer.of(255)), 'model_file_invalid', /UTF-8/],
    [
      '2^40 list elements',
      raw(text('a'), uint32(9), uint32(0), uint64(2 ** 40)),
      'model_file_invalid',
      /list elements/,
    ],
    ['2^63 list elements', raw(text('a'), uint32(9), uint32(0), uint64(2n ** 63n)), 'model_file_invalid', /beyond any/],
    ['a list of lists', raw(text('a'), uint32(9), uint32(9), uint64(1)), 'model_file_invalid', /list of lists/],
    ['an unknown type of value', raw(text('a'), uint32(13)), 'model_file_invalid', /the type 13/],
    ['a true or false of 7', raw(text('a'), uint32(7), Buffer.of(7)), 'model_file_invalid', /true or false/],
    ['an alignment of 0', ggufBytes({ 'general.alignment': 0 }), 'model_file_invalid', /alignment/],
    ['an alignment of 3', ggufBytes({ 'general.alignment': 3 }), 'model_file_invalid', /alignment/],
    ['an alignment of 2^31', ggufBytes({ 'general.alignment': 2 ** 31 }), 'model_file_invalid', /alignment/],
    ['an alignment that is a text', ggufBytes({ 'general.alignment': 'x' }), 'model_file_invalid', /alignment/],
    ['two tensors of one name', ggufBytes(KEY, [TENSOR, TENSOR]), 'model_file_invalid', /twice/],
    ['an unknown tensor type', ggufBytes(KEY, [{ ...TENSOR, type: 99 }]), 'model_unsupported', /type 99/],
    ['a type that was removed', ggufBytes(KEY, [{ ...TENSOR, type: 4 }]), 'model_unsupported', /type 4;/],
    ['no dimensions', ggufBytes(KEY, [{ ...TENSOR, dimensions: [] }]), 'model_file_invalid', /0 dimensions/],
    ['a million dimensions', tensorHeader(uint32(1e6)), 'model_file_invalid', /1000000 dimensions/],
    [
      'a dimension of 0',
      ggufBytes(KEY, [{ ...TENSOR, dimensions: [0] }]),
      'model_file_invalid',
      /dimension of one is 0/,
    ],
    [
      'an overflowing size',
      ggufBytes(KEY, [{ ...TENSOR, dimensions: [2 ** 31, 2 ** 31] }]),
      'model_file_invalid',
      /elements of one/,
    ],
    ['half a block', ggufBytes(KEY, [{ ...TENSOR, type: 'Q4_K' }]), 'model_file_invalid', /whole blocks/],
    ['a tensor behind the end', ggufBytes(KEY, [{ ...TENSOR, offset: 64 }]), 'model_file_invalid', /ends at byte/],
    [
      'a tensor far behind the end',
      ggufBytes(KEY, [{ ...TENSOR, offset: 2 ** 52 }]),
      'model_file_invalid',
      /ends at byte/,
    ],
    ['a tensor off its alignment', ggufBytes(KEY, [{ ...TENSOR, offset: 4 }]), 'model_file_invalid', /no multiple/],
    [
      'bytes that its header does not describe',
      Buffer.concat([ggufBytes(KEY, [TENSOR]), Buffer.alloc(65_537)]),
      'model_file_invalid',
      /has \d+ bytes; its header describes \d+/,
    ],
    [
      'tensors on each other',
      ggufBytes(KEY, [TENSOR, { ...TENSOR, name: 'two', offset: 32 }]),
      'model_file_invalid',
      /overlap/,
    ],
  ])('is refused for %s', (_, bytes, code, message) => {
    expect(refusalOf(bytes)).toEqual({ code, message: expect.stringMatching(message) })
  })

  it('is refused for a key that comes twice', () => {
    const twice = Buffer.concat([text('a'), uint32(0), Buffer.of(1)])
    expect(refusalOf(raw(twice, twice))).toMatchObject({ message: expect.stringMatching(/"a" twice/) })
  })

  it('cut off anywhere in its header is refused', () => {
    const whole = ggufBytes({ ...KEY, 'general.name': 'cut', 'a.list': ['x', 'y'] }, [TENSOR])
    const headerBytes = whole.length - FLOATS.length
    for (let length = 0; length < whole.length; length += length < headerBytes ? 1 : 16) {
      expect([length, refusalOf(whole.subarray(0, length))?.code]).toEqual([length, 'model_file_invalid'])
    }
  })

  it('with any bytes changed is read or refused, and nothing else happens', () => {
    const whole = readFileSync(TINY).subarray(0, 40_000)
    const numbers = createNumbers(14)
    for (let round = 0; round < 300; round += 1) {
      const changed = Buffer.from(whole)
      for (let change = 0; change <= round % 4; change += 1) {
        const at = Math.floor(numbers() ** 2 * changed.length)
        changed[at] = numbers() < 0.5 ? 255 : Math.floor(numbers() * 256)
      }
      // The data of the file is cut off, so none is read as a whole model.
      expect(refusalOf(changed)?.code).toMatch(/^model_/)
    }
  })

  it('that is a bomb of short texts costs little: the elements of all lists are counted', () => {
    const list = Buffer.concat([uint32(9), uint32(8), uint64(900_000), Buffer.alloc(900_000 * 8)])
    const bomb = raw(text('a'), list, text('b'), list, text('c'), list)
    const before = process.threadCpuUsage().user
    expect(refusalOf(bomb)).toMatchObject({ message: expect.stringMatching(/list elements/) })
    expect(process.threadCpuUsage().user - before).toBeLessThan(5_000_000)
  })
})

/** A file whose metadata is these bytes, as three keys. */
function raw(...parts: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from('GGUF'), uint32(3), uint64(0), uint64(3), ...parts])
}

function tensorHeader(rank: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('GGUF'), uint32(3), uint64(1), uint64(0), text('one'), rank])
}

function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
