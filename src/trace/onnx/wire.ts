// Protocol buffers of untrusted files. The library reads numbers and texts; where each field ends is decided
// here, since it believes every length. Encoding works on lists of pieces, so that a weight is copied once.

import { PbfReader, PbfWriter } from 'pbf'
import { modelError } from '../gguf/model-error.ts'

export type EncodedParts = Uint8Array[]

/** The value of one field, as it stands in the file. */
export interface Field {
  number: number
  type: number
  /** Bytes without the tag, and for a length-delimited field without the length. */
  bytes: Uint8Array
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

// Beyond it, a tag and a length take three bytes to make a value of nothing.
const MAX_FIELDS = 4_000_000

/** Calls `visit` for each field of a message. @throws {ModelError} when a field does not end within it. */
export function readFields(message: Uint8Array, visit: (field: Field) => void): void {
  const reader = new PbfReader(message)
  let count = 0
  while (reader.pos < message.length) {
    const tag = readVarint(reader)
    const [number, type] = [Math.floor(tag / 8), tag % 8]
    count += 1
    if (number < 1 || count > MAX_FIELDS) throw invalid('a field has no number, or there are too many')
    const start = type === WIRE.bytes ? startOfBytes(reader) : { from: reader.pos, to: endOf(reader, type) }
    if (!(start.to <= message.length)) throw invalid('a field is longer than what contains it')
    visit({ number, type, bytes: message.subarray(start.from, start.to) })
    reader.pos = start.to
  }
}

/** A message, a text or bytes. */
export function bytesOf({ type, bytes }: Field): Uint8Array {
  if (type !== WIRE.bytes) throw invalid('a field has another type than it must')
  return bytes
}

export function textOf(field: Field, maxBytes = 4_096): string {
  const bytes = bytesOf(field)
  if (bytes.length > maxBytes) throw invalid(`a text has more than ${maxBytes} bytes`)
  return new TextDecoder().decode(bytes)
}

export function integerOf({ type, bytes }: Field): number {
  if (type !== WIRE.varint) throw invalid('a field has another type than it must')
  return readVarint(new PbfReader(bytes), true)
}

export function floatOf({ type, bytes }: Field): number {
  if (type !== WIRE.fixed32) throw invalid('a field has another type than it must')
  return new PbfReader(bytes).readFloat()
}

/** Returns the integers of a repeated field, which may be packed or separate. */
export function integersOf(field: Field, most: number): number[] {
  if (field.type === WIRE.varint) return [integerOf(field)]
  const reader = new PbfReader(bytesOf(field))
  const values: number[] = []
  while (reader.pos < field.bytes.length) {
    if (values.length >= most) throw invalid(`a list has more than ${most} numbers`)
    values.push(readVarint(reader, true))
  }
  return values
}

export function writeBytes(number: number, pieces: EncodedParts): EncodedParts {
  const writer = new PbfWriter()
  writer.writeTag(number, WIRE.bytes)
  writer.writeVarint(lengthOf(pieces))
  return [writer.finish(), ...pieces]
}

export const writeText = (number: number, text: string): EncodedParts => writeBytes(number, [Buffer.from(text, 'utf8')])

export function writeInteger(number: number, value: number): EncodedParts {
  const writer = new PbfWriter()
  writer.writeTag(number, WIRE.varint)
  writer.writeVarint(value)
  return [writer.finish()]
}

export function writeFloat(number: number, value: number): EncodedParts {
  const writer = new PbfWriter()
  writer.writeTag(number, WIRE.fixed32)
  writer.writeFloat(value)
  return [writer.finish()]
}

/** Writes a field that `readFields` returned. */
export function writeField({ number, type, bytes }: Field): EncodedParts {
  if (type === WIRE.bytes) return writeBytes(number, [bytes])
  const writer = new PbfWriter()
  writer.writeTag(number, type)
  return [writer.finish(), bytes]
}

export const lengthOf = (pieces: EncodedParts): number => pieces.reduce((sum, { length }) => sum + length, 0)

const invalid = (reason: string) => modelError('model_file_invalid', `The file is no valid ONNX: ${reason}.`)

function readVarint(reader: PbfReader, isSigned = false): number {
  let end = reader.pos
  // 64 bits are ten bytes.
  while ((reader.buf[end] ?? 0) > 0x7f && end - reader.pos < 10) end += 1
  if (end - reader.pos >= 10 || end >= reader.buf.length) throw invalid('a number does not end')
  return reader.readVarint(isSigned)
}

function startOfBytes(reader: PbfReader): { from: number; to: number } {
  const length = readVarint(reader)
  return { from: reader.pos, to: reader.pos + length }
}

function endOf(reader: PbfReader, type: number): number {
  if (type === WIRE.fixed32) return reader.pos + 4
  if (type === WIRE.fixed64) return reader.pos + 8
  if (type !== WIRE.varint) throw invalid('a field has an unknown type')
  const from = reader.pos
  readVarint(reader)
  const to = reader.pos
  reader.pos = from
  return to
}
