// Writes GGUF files for tests: whole ones, and the bytes of damaged ones.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TENSOR_TYPES, type TensorTypeName } from '#src/trace/gguf/tensor-types.ts'

export interface TestTensor {
  name: string
  dimensions: number[]
  type?: TensorTypeName | number
  data?: Uint8Array
  offset?: number
}

type Value = number | boolean | string | readonly string[] | readonly number[] | { type: number; bytes: Buffer }

export const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
export const uint64 = (value: number | bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
const float32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}
export const text = (value: string) => Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)])

/** The bytes of a file with this metadata and these tensors. Whole numbers become uint32, others float32. */
export function ggufBytes(
  metadata: Record<string, Value>,
  tensors: readonly TestTensor[] = [],
  { version = 3, tensorCount = tensors.length, keyCount = Object.keys(metadata).length } = {},
): Buffer {
  const data: Uint8Array[] = []
  let dataBytes = 0
  const places = tensors.map(
    ({ name, dimensions, type = 'F32', data: bytes = new Uint8Array(), offset = dataBytes }) => {
      const padded = Math.ceil(bytes.length / 32) * 32
      data.push(bytes, new Uint8Array(padded - bytes.length))
      dataBytes += padded
      const code = typeof type === 'number' ? type : TENSOR_TYPES[type].code
      return Buffer.concat([
        text(name),
        uint32(dimensions.length),
        ...dimensions.map(uint64),
        uint32(code),
        uint64(offset),
      ])
    },
  )
  const keys = Object.entries(metadata).map(([key, value]) => Buffer.concat([text(key), valueBytes(value)]))
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(version),
    uint64(tensorCount),
    uint64(keyCount),
    ...keys,
    ...places,
  ])
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), ...data])
}

function valueBytes(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([uint32(8), text(value)])
  if (typeof value === 'boolean') return Buffer.concat([uint32(7), Buffer.of(value ? 1 : 0)])
  if (typeof value === 'number') {
    return Number.isInteger(value)
      ? Buffer.concat([uint32(4), uint32(value)])
      : Buffer.concat([uint32(6), float32(value)])
  }
  if ('bytes' in value) return Buffer.concat([uint32(value.type), value.bytes])
  const isText = value.length === 0 || typeof value[0] === 'string'
  const elements = value.map((element) => (typeof element === 'string' ? text(element) : uint32(element)))
  return Buffer.concat([uint32(9), uint32(isText ? 8 : 4), uint64(value.length), ...elements])
}

/** A folder for files of one test file; `close` removes it. */
export function createModelFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-model-'))
  return {
    folder,
    write(name: string, bytes: Uint8Array): string {
      const path = join(folder, name)
      writeFileSync(path, bytes)
      return path
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
