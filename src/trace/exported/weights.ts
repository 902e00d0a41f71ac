// Weights of an exported decoder, as 32-bit floats, a row or column at a time.

import { ELEMENT, type OnnxTensor, sizeOf } from '../onnx/tensor.ts'

export interface WeightMatrix {
  /** The numbers that it reads, and that it makes. */
  rows: number
  columns: number
  /** What it makes of one number. */
  row(index: number): Float32Array
  /** What it reads for one result. */
  column(index: number): Float32Array
}

export interface WeightVector {
  length: number
  values(): Float32Array
}

/** Undefined: its numbers are of a kind that is not read, such as quantized ones. */
export function matrixOf(tensor: OnnxTensor, isTransposed: boolean): WeightMatrix | undefined {
  const [first = 0, second = 0] = tensor.dims
  if (tensor.dims.length !== 2 || !isReadable(tensor)) return undefined
  const straight = (index: number) => readFloats(tensor, index * second, second, 1)
  const across = (index: number) => readFloats(tensor, index, first, second)
  return isTransposed
    ? { rows: second, columns: first, row: across, column: straight }
    : { rows: first, columns: second, row: straight, column: across }
}

/** A tensor of one number. */
export function numberOf(tensor: OnnxTensor): number | undefined {
  return sizeOf(tensor) === 1 && isReadable(tensor) ? readFloats(tensor, 0, 1, 1)[0] : undefined
}

export function vectorOf(tensor: OnnxTensor): WeightVector | undefined {
  const length = sizeOf(tensor)
  // Leading sizes of 1 change nothing.
  if (tensor.dims.at(-1) !== length || !isReadable(tensor)) return undefined
  return { length, values: () => readFloats(tensor, 0, length, 1) }
}

const BYTES: Readonly<Record<number, number>> = { [ELEMENT.float]: 4, [ELEMENT.float16]: 2, [ELEMENT.bfloat16]: 2 }

function isReadable(tensor: OnnxTensor): boolean {
  const bytes = BYTES[tensor.element]
  return tensor.data.kind === 'raw' && bytes !== undefined && tensor.data.bytes.length === sizeOf(tensor) * bytes
}

function readFloats({ element, data }: OnnxTensor, from: number, count: number, stride: number): Float32Array {
  if (data.kind !== 'raw') throw new TypeError('the numbers of a weight are not there')
  const { buffer, byteOffset, byteLength } = data.bytes
  const view = new DataView(buffer, byteOffset, byteLength)
  const values = new Float32Array(count)
  for (let index = 0; index < count; index += 1) {
    const place = from + index * stride
    if (element === ELEMENT.float) values[index] = view.getFloat32(place * 4, true)
    else if (element === ELEMENT.float16) values[index] = view.getFloat16(place * 2, true)
    else values[index] = floatOfBits(view.getUint16(place * 2, true) * 0x10000)
  }
  return values
}

const scratch = new DataView(new ArrayBuffer(4))

function floatOfBits(bits: number): number {
  scratch.setUint32(0, bits)
  return scratch.getFloat32(0)
}
