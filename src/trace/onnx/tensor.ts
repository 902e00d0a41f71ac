// Tensors of an ONNX file, and what it says of inputs and outputs.

import { modelError } from '../gguf/model-error.ts'
import {
  bytesOf,
  type EncodedParts,
  integerOf,
  integersOf,
  readFields,
  textOf,
  writeBytes,
  writeInteger,
  writeText,
} from './wire.ts'

/** Types of elements, by their number in the format. */
export const ELEMENT = {
  float: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  double: 11,
  bfloat16: 16,
} as const

export interface OnnxTensor {
  name: string
  /** One of `ELEMENT`, or another number of the format. */
  element: number
  dims: readonly number[]
  data: TensorData
}

export type TensorData =
  /** Little-endian, in the order of the rows. */
  | { kind: 'raw'; bytes: Uint8Array }
  /** Integers that stand one by one in the file; also the bits of half floats. */
  | { kind: 'integers'; values: readonly number[] }
  /** In another file, as the model names it: not checked. */
  | { kind: 'external'; location: string; offset: number; length: number | undefined }
  /** A kind that is passed on and not read, such as texts. */
  | { kind: 'other' }

/** An input or output of a graph. */
export interface OnnxValue {
  name: string
  /** undefined: no tensor. */
  element: number | undefined
  /** A name is a size that the caller chooses; undefined: nothing is known. */
  dims: readonly (number | string | undefined)[] | undefined
}

export interface TensorCount {
  tensors: number
}

const MAX = { tensors: 100_000, dims: 16, size: 2 ** 40, integers: 1_000_000 }
const EXTERNAL = 1

/** The bytes that an object was read from. An object that was made or changed has none, and is written anew. */
const SOURCE = new WeakMap<object, Uint8Array>()

export function remember<O extends object>(object: O, source: Uint8Array): O {
  SOURCE.set(object, source)
  return object
}

export function sourceOf<O extends object>(object: O, encode: (object: O) => EncodedParts): EncodedParts {
  const source = SOURCE.get(object)
  return source === undefined ? encode(object) : [source]
}

/** The number of elements. */
export const sizeOf = ({ dims }: Pick<OnnxTensor, 'dims'>): number => dims.reduce((product, dim) => product * dim, 1)

export function decodeTensor(bytes: Uint8Array, counts: TensorCount): OnnxTensor {
  counts.tensors += 1
  if (counts.tensors > MAX.tensors) throw invalid(`it has more than ${MAX.tensors} tensors`)
  const dims: number[] = []
  const integers: number[] = []
  const external = new Map<string, string>()
  const floats: Uint8Array[] = []
  let [name, element, place] = ['', 0, 0]
  let raw: Uint8Array | undefined
  readFields(bytes, (field) => {
    if (field.number === 1) dims.push(...integersOf(field, MAX.dims - dims.length))
    else if (field.number === 2) element = integerOf(field)
    else if (field.number === 4 || field.number === 10) floats.push(field.bytes)
    else if (field.number === 5 || field.number === 7) {
      for (const one of integersOf(field, MAX.integers - integers.length)) integers.push(one)
    } else if (field.number === 8) name = textOf(field)
    else if (field.number === 9) raw = bytesOf(field)
    else if (field.number === 13) {
      const [key, value] = decodeEntry(bytesOf(field))
      external.set(key, value)
    } else if (field.number === 14) place = integerOf(field)
  })
  if (dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0) || !(sizeOf({ dims }) <= MAX.size)) {
    throw invalid(`the tensor ${quoted(name)} has impossible sizes`)
  }
  const data: TensorData =
    place === EXTERNAL || external.size > 0
      ? externalOf(external)
      : raw !== undefined
        ? { kind: 'raw', bytes: raw }
        : integers.length > 0
          ? { kind: 'integers', values: integers }
          : // Floats in a list of their own have the bytes that raw ones have.
            floats.length > 0
            ? { kind: 'raw', bytes: floats.length === 1 ? (floats[0] ?? new Uint8Array()) : Buffer.concat(floats) }
            : { kind: 'other' }
  return remember({ name, element, dims, data }, bytes)
}

export function encodeTensor({ name, element, dims, data }: OnnxTensor): EncodedParts {
  if (data.kind === 'other') throw new TypeError(`the tensor ${name} can not be written`)
  return [
    ...dims.flatMap((dim) => writeInteger(1, dim)),
    ...writeInteger(2, element),
    ...writeText(8, name),
    ...encodeData(data, element),
  ]
}

function encodeData(data: Exclude<TensorData, { kind: 'other' }>, element: number): EncodedParts {
  switch (data.kind) {
    case 'raw':
      return writeBytes(9, [data.bytes])
    case 'integers':
      return data.values.flatMap((value) => writeInteger(element === ELEMENT.int64 ? 7 : 5, value))
    case 'external':
      return [
        ...writeEntry('location', data.location),
        ...writeEntry('offset', String(data.offset)),
        ...(data.length === undefined ? [] : writeEntry('length', String(data.length))),
        ...writeInteger(14, EXTERNAL),
      ]
  }
}

const writeEntry = (key: string, value: string): EncodedParts =>
  writeBytes(13, [...writeText(1, key), ...writeText(2, value)])

export function decodeValue(bytes: Uint8Array): OnnxValue {
  let name = ''
  let type: Pick<OnnxValue, 'element' | 'dims'> = { element: undefined, dims: undefined }
  readFields(bytes, (field) => {
    if (field.number === 1) name = textOf(field)
    else if (field.number === 2) {
      readFields(bytesOf(field), (kind) => {
        if (kind.number === 1) type = decodeTensorType(bytesOf(kind))
      })
    }
  })
  return remember({ name, ...type }, bytes)
}

export function encodeValue({ name, element, dims }: OnnxValue): EncodedParts {
  const shape = (dims ?? []).flatMap((dim) =>
    writeBytes(1, dim === undefined ? [] : typeof dim === 'number' ? writeInteger(1, dim) : writeText(2, dim)),
  )
  const type = [...writeInteger(1, element ?? 0), ...(dims === undefined ? [] : writeBytes(2, shape))]
  return [...writeText(1, name), ...writeBytes(2, writeBytes(1, type))]
}

function decodeTensorType(bytes: Uint8Array): Pick<OnnxValue, 'element' | 'dims'> {
  let element: number | undefined
  let dims: (number | string | undefined)[] | undefined
  readFields(bytes, (field) => {
    if (field.number === 1) element = integerOf(field)
    else if (field.number === 2) {
      const read: (number | string | undefined)[] = []
      readFields(bytesOf(field), (dim) => {
        if (read.length >= MAX.dims) throw invalid(`a shape has more than ${MAX.dims} sizes`)
        if (dim.number === 1) read.push(decodeDim(bytesOf(dim)))
      })
      dims = read
    }
  })
  return { element, dims }
}

function decodeDim(bytes: Uint8Array): number | string | undefined {
  let dim: number | string | undefined
  readFields(bytes, (field) => {
    if (field.number === 1) dim = integerOf(field)
    else if (field.number === 2) dim = textOf(field)
  })
  return dim
}

function decodeEntry(bytes: Uint8Array): [string, string] {
  const entry: [string, string] = ['', '']
  readFields(bytes, (field) => {
    if (field.number === 1) entry[0] = textOf(field)
    else if (field.number === 2) entry[1] = textOf(field)
  })
  return entry
}

function externalOf(entries: ReadonlyMap<string, string>): TensorData {
  const number = (key: string) => {
    const text = entries.get(key)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!/^\d{1,15}$/.test(text)) throw invalid(`the ${key} of external data is no number`)
    return value
  }
  const location = entries.get('location')
  if (location === undefined) throw invalid('external data has no location')
  return { kind: 'external', location, offset: number('offset') ?? 0, length: number('length') }
}

const invalid = (reason: string) => modelError('model_file_invalid', `The file is no valid ONNX: ${reason}.`)
const quoted = (text: string) => JSON.stringify(text.slice(0, 60))
