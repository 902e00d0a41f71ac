// Reads the header of a GGUF model file (versions 2 and 3, little endian): its metadata, and where each tensor is.
// The file is untrusted. Its counts and lengths are bounded before they are used, no tensor lies outside of the file or
// on another one, and the work is proportional to the part of the header that was read.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

import { fstatSync } from 'node:fs'
import { type Cursor, createCursor } from './cursor.ts'
import { modelError } from './model-error.ts'
import { isTensorType, TENSOR_TYPES, type TensorTypeName, tensorTypeOf } from './tensor-types.ts'

export type MetadataValue = number | boolean | string | readonly number[] | readonly boolean[] | readonly string[]

export interface TensorPlace {
  name: string
  type: TensorTypeName
  /** The length of a row first, as the file has it. */
  dimensions: readonly number[]
  /** From the start of the file. */
  offset: number
  bytes: number
}

export interface Gguf {
  version: number
  metadata: ReadonlyMap<string, MetadataValue>
  tensors: ReadonlyMap<string, TensorPlace>
  fileBytes: number
}

// What the largest public Llama models have: 130 metadata keys, 1,100 tensors, 128,256 tokens with 280,147 merges in a
// header of 8 MB, and a chat template of 12 kB. The limits are a few times that.
const MAX = {
  headerBytes: 64 * 1024 * 1024,
  keys: 1_024,
  keyBytes: 256,
  tensors: 8_192,
  nameBytes: 256,
  textBytes: 1024 * 1024,
  listTextBytes: 4_096,
  elements: 2_000_000,
  dimensions: 4,
  tensorElements: 2 ** 40,
}
const MAGIC = 0x46554747
const DEFAULT_ALIGNMENT = 32
const MAX_ALIGNMENT = 65_536

const invalid = (message: string) => modelError('model_file_invalid', message)

/** @throws {ModelError} with what is wrong in the file. */
export function readGguf(descriptor: number): Gguf {
  const fileBytes = fstatSync(descriptor).size
  const cursor = createCursor(descriptor, fileBytes, MAX.headerBytes)
  if (fileBytes < 24 || cursor.uint32() !== MAGIC) throw invalid('This is no GGUF file: it does not begin with "GGUF".')
  const version = cursor.uint32()
  if (version !== 2 && version !== 3) {
    throw modelError('model_unsupported', `GGUF version ${version} is not supported; versions 2 and 3 are.`)
  }
  const tensorCount = bounded(cursor.uint64('The number of tensors'), MAX.tensors, 'The number of tensors')
  const keyCount = bounded(cursor.uint64('The number of metadata keys'), MAX.keys, 'The number of metadata keys')
  const metadata = readMetadata(cursor, keyCount)
  const tensors = readTensors(cursor, tensorCount, alignmentOf(metadata), fileBytes)
  return { version, metadata, tensors, fileBytes }
}

function readMetadata(cursor: Cursor, count: number): Map<string, MetadataValue> {
  const metadata = new Map<string, MetadataValue>()
  let elements = 0
  for (let index = 0; index < count; index += 1) {
    const key = cursor.text(MAX.keyBytes, 'A metadata key')
    if (metadata.has(key)) throw invalid(`The metadata has the key ${JSON.stringify(key)} twice.`)
    const type = cursor.uint32()
    if (type !== LIST) {
      metadata.set(key, readScalar(cursor, type, MAX.textBytes, key))
      continue
    }
    const elementType = cursor.uint32()
    if (elementType === LIST) throw invalid(`${key} is a list of lists, which no Llama model has.`)
    const length = cursor.uint64(`The length of ${key}`)
    elements += length
    bounded(elements, MAX.elements, 'The number of all list elements')
    const list: (number | boolean | string)[] = []
    for (let at = 0; at < length; at += 1) list.push(readScalar(cursor, elementType, MAX.listTextBytes, key))
    metadata.set(key, list as readonly number[])
  }
  return metadata
}

const LIST = 9

function readScalar(cursor: Cursor, type: number, maxTextBytes: number, key: string): number | boolean | string {
  switch (type) {
    case 0:
      return cursor.uint8()
    case 1:
      return cursor.int8()
    case 2:
      return cursor.uint16()
    case 3:
      return cursor.int16()
    case 4:
      return cursor.uint32()
    case 5:
      return cursor.int32()
    case 6:
      return cursor.float32()
    case 7:
      return cursor.boolean()
    case 8:
      return cursor.text(maxTextBytes, `A text of ${key}`)
    case 10:
      return cursor.uint64(key)
    case 11:
      return cursor.int64(key)
    case 12:
      return cursor.float64()
    default:
      throw invalid(`${key} has the type ${type}, which GGUF does not have.`)
  }
}

function alignmentOf(metadata: ReadonlyMap<string, MetadataValue>): number {
  const alignment = metadata.get('general.alignment') ?? DEFAULT_ALIGNMENT
  const isPowerOfTwo = typeof alignment === 'number' && Number.isInteger(Math.log2(alignment))
  if (!isPowerOfTwo || alignment < 8 || alignment > MAX_ALIGNMENT) {
    throw invalid(`general.alignment is ${String(alignment).slice(0, 40)}; a power of two from 8 to 65,536 is needed.`)
  }
  return alignment
}

function readTensors(cursor: Cursor, count: number, alignment: number, fileBytes: number): Map<string, TensorPlace> {
  const found: TensorPlace[] = []
  const names = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const name = cursor.text(MAX.nameBytes, 'The name of a tensor')
    if (names.has(name)) throw invalid(`The file has the tensor ${JSON.stringify(name)} twice.`)
    names.add(name)
    const rank = cursor.uint32()
    if (rank < 1 || rank > MAX.dimensions) throw invalid(`${name} has ${rank} dimensions; 1 to 4 are possible.`)
    const dimensions = Array.from({ length: rank }, () => cursor.uint64(`A dimension of ${name}`))
    const code = cursor.uint32()
    if (!isTensorType(code)) {
      throw modelError('model_unsupported', `${name} has the tensor type ${code}; supported are ${SUPPORTED}.`)
    }
    const type = tensorTypeOf(code)
    const bytes = bytesOf(name, type, dimensions)
    const offset = cursor.uint64(`The offset of ${name}`)
    if (offset % alignment !== 0) throw invalid(`The offset of ${name}, ${offset}, is no multiple of ${alignment}.`)
    found.push({ name, type, dimensions, offset, bytes })
  }
  const dataAt = Math.ceil(cursor.position / alignment) * alignment
  const placed = found.map((tensor) => ({ ...tensor, offset: dataAt + tensor.offset }))
  const end = Math.max(dataAt, checkPlaces(placed, fileBytes))
  // Writers pad the last tensor to the alignment. Whatever is longer is not what the header describes, and is not hashed.
  if (fileBytes > end + MAX_ALIGNMENT) {
    throw invalid(`The file has ${fileBytes} bytes; its header describes ${end}.`)
  }
  return new Map(placed.map((tensor) => [tensor.name, tensor]))
}

const SUPPORTED = Object.keys(TENSOR_TYPES).join(', ')

function bytesOf(name: string, type: TensorTypeName, dimensions: readonly number[]): number {
  const { blockElements, blockBytes } = TENSOR_TYPES[type]
  const [columns = 0] = dimensions
  let elements = 1
  for (const size of dimensions) {
    if (size < 1 || size > MAX.tensorElements) throw invalid(`A dimension of ${name} is ${size}.`)
    elements *= size
    bounded(elements, MAX.tensorElements, `The number of elements of ${name}`)
  }
  if (columns % blockElements !== 0) {
    throw invalid(`A row of ${name} has ${columns} elements, which are no whole blocks of ${type} (${blockElements}).`)
  }
  return (elements / blockElements) * blockBytes
}

/** Returns the end of the last tensor. */
function checkPlaces(tensors: readonly TensorPlace[], fileBytes: number): number {
  let end = 0
  let before = ''
  for (const { name, offset, bytes } of tensors.toSorted((one, other) => one.offset - other.offset)) {
    if (offset < end) throw invalid(`The tensors ${before} and ${name} overlap.`)
    end = offset + bytes
    before = name
    if (end > fileBytes) throw invalid(`${name} ends at byte ${end} of a file of ${fileBytes} bytes.`)
  }
  return end
}

function bounded(value: number, max: number, what: string): number {
  if (value > max) throw invalid(`${what} is ${value}; at most ${max} are read.`)
  return value
}
