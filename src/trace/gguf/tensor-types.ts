// The number formats of tensors, and their values as 32-bit floats. Every step rounds to 32 bits, as the reference
// implementation does, so that the values are equal bit by bit.
// https://github.com/ggml-org/ggml/blob/master/src/ggml-quants.c

export interface TensorType {
  /** Number in the file. */
  code: number
  blockElements: number
  blockBytes: number
  /** Writes the elements of one block. */
  decode(block: DataView, at: number, out: Float32Array, outAt: number): void
}

const round = Math.fround

export const TENSOR_TYPES = {
  F32: scalar(0, 4, (view, at) => view.getFloat32(at, true)),
  F16: scalar(1, 2, readHalf),
  BF16: scalar(30, 2, (view, at) => bitsToFloat(view.getUint16(at, true) << 16)),
  Q4_0: { code: 2, blockElements: 32, blockBytes: 18, decode: nibbles({ at: 2, shift: -8 }) },
  Q4_1: { code: 3, blockElements: 32, blockBytes: 20, decode: nibbles({ at: 4, minAt: 2 }) },
  Q5_0: { code: 6, blockElements: 32, blockBytes: 22, decode: nibbles({ at: 6, highAt: 2, shift: -16 }) },
  Q5_1: { code: 7, blockElements: 32, blockBytes: 24, decode: nibbles({ at: 8, highAt: 4, minAt: 2 }) },
  Q8_0: { code: 8, blockElements: 32, blockBytes: 34, decode: decodeBytes },
  Q4_K: { code: 12, blockElements: 256, blockBytes: 144, decode: decodeQ4K },
  Q6_K: { code: 14, blockElements: 256, blockBytes: 210, decode: decodeQ6K },
} as const satisfies Record<string, TensorType>

export type TensorTypeName = keyof typeof TENSOR_TYPES

const NAMES = new Map<number, TensorTypeName>(
  Object.entries(TENSOR_TYPES).map(([name, { code }]) => [code, name as TensorTypeName]),
)

export function isTensorType(code: number): boolean {
  return NAMES.has(code)
}

/** @throws for a code that `isTensorType` does not know. */
export function tensorTypeOf(code: number): TensorTypeName {
  const name = NAMES.get(code)
  if (name === undefined) throw new Error(`${code} is no supported tensor type`)
  return name
}

/** The elements of whole blocks as 32-bit floats. */
export function decodeTensor(type: TensorTypeName, bytes: Uint8Array, out: Float32Array): void {
  const { blockElements, blockBytes, decode } = TENSOR_TYPES[type]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const blocks = out.length / blockElements
  if (blocks * blockBytes !== bytes.length) throw new Error(`${bytes.length} bytes are not ${out.length} of ${type}`)
  for (let block = 0; block < blocks; block += 1) decode(view, block * blockBytes, out, block * blockElements)
}

function scalar(code: number, blockBytes: number, read: (view: DataView, at: number) => number): TensorType {
  return {
    code,
    blockElements: 1,
    blockBytes,
    decode(view, at, out, outAt) {
      out[outAt] = read(view, at)
    },
  }
}

const conversion = new DataView(new ArrayBuffer(4))

function bitsToFloat(bits: number): number {
  conversion.setUint32(0, bits >>> 0)
  return conversion.getFloat32(0)
}

/** IEEE 754 half precision. `DataView.getFloat16` is not in every supported Node. */
function readHalf(view: DataView, at: number): number {
  const half = view.getUint16(at, true)
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  const sign = half & 0x8000 ? -1 : 1
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** Blocks of 32: a scale, perhaps a minimum, perhaps a fifth bit of each element, then 16 bytes with two elements each. */
function nibbles({
  at: lowAt,
  highAt,
  minAt,
  shift = 0,
}: {
  at: number
  highAt?: number
  minAt?: number
  shift?: number
}): TensorType['decode'] {
  return (view, at, out, outAt) => {
    const scale = readHalf(view, at)
    const min = minAt === undefined ? 0 : readHalf(view, at + minAt)
    const high = highAt === undefined ? 0 : view.getUint32(at + highAt, true)
    for (let index = 0; index < 16; index += 1) {
      const both = view.getUint8(at + lowAt + index)
      const low = (both & 15) | (((high >>> index) & 1) << 4)
      const top = (both >> 4) | (((high >>> (index + 16)) & 1) << 4)
      out[outAt + index] = round(scale * (low + shift)) + min
      out[outAt + index + 16] = round(scale * (top + shift)) + min
    }
  }
}

function decodeBytes(view: DataView, at: number, out: Float32Array, outAt: number): void {
  const scale = readHalf(view, at)
  for (let index = 0; index < 32; index += 1) out[outAt + index] = scale * view.getInt8(at + 2 + index)
}

// 256 elements in 8 groups of 32, each with a scale and a minimum of 6 bits.
function decodeQ4K(view: DataView, at: number, out: Float32Array, outAt: number): void {
  const scale = readHalf(view, at)
  const min = readHalf(view, at + 2)
  const packed = (index: number) => view.getUint8(at + 4 + index)
  for (let group = 0; group < 8; group += 1) {
    const groupScale = group < 4 ? packed(group) & 63 : (packed(group + 4) & 15) | ((packed(group - 4) >> 6) << 4)
    const groupMin = group < 4 ? packed(group + 4) & 63 : (packed(group + 4) >> 4) | ((packed(group) >> 6) << 4)
    const factor = round(scale * groupScale)
    const less = round(min * groupMin)
    const bytesAt = at + 16 + (group >> 1) * 32
    for (let index = 0; index < 32; index += 1) {
      const both = view.getUint8(bytesAt + index)
      out[outAt + group * 32 + index] = round(factor * (group % 2 === 0 ? both & 15 : both >> 4)) - less
    }
  }
}

// 256 elements of 6 bits, in 16 groups of 16 with a signed scale each: the lower 4 bits, the upper 2 bits, the scales.
function decodeQ6K(view: DataView, at: number, out: Float32Array, outAt: number): void {
  const scale = readHalf(view, at + 208)
  for (let index = 0; index < 256; index += 1) {
    const half = index >> 7
    const quarter = (index >> 5) & 3
    const lane = index & 31
    const low = view.getUint8(at + half * 64 + (quarter & 1) * 32 + lane)
    const high = view.getUint8(at + 128 + half * 32 + lane)
    const value = ((quarter < 2 ? low & 15 : low >> 4) | (((high >> (quarter * 2)) & 3) << 4)) - 32
    const factor = round(scale * view.getInt8(at + 192 + (index >> 4)))
    out[outAt + index] = factor * value
  }
}
