// Reads the rows of an uploaded list from a local file: CSV, or a ZIP with one CSV. The file is a stranger's: its size when
// unpacked, its number of entries, the length of a row and its encoding are bounded or checked, and what is wrong is a refusal
// with a code.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { CsvError, parse } from 'csv-parse'
import * as yauzl from 'yauzl'
import { refusalIn, refuseList } from './formats.ts'

export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024
// The longest comments of SAM have some thousand characters.
const MAX_ROW_CHARACTERS = 64 * 1024
const LINE_FEED = 0x0a

/**
 * The rows, the header first. @throws a refusal (`refuseList`) when the file can't be read to its end; the caller must not keep what it
 * got before.
 */
export async function* readRows(path: string, { maxBytes = MAX_UNPACKED_BYTES } = {}): AsyncGenerator<string[]> {
  const bytes = (await isZip(path)) ? unzip(path, maxBytes) : createReadStream(path)
  const parser = parse({
    bom: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_CHARACTERS,
    // The header of LEIE is not quoted and its rows are.
    relax_column_count: false,
  })
  const feeding = feed(bytes, parser, maxBytes)
  // It is awaited below, after the last row.
  feeding.catch((error: unknown) => parser.destroy(error as Error))
  try {
    for await (const row of parser) yield row as string[]
  } catch (error) {
    await feeding.catch((refusal: unknown) => {
      if (refusalIn(refusal) !== undefined) throw refusal
    })
    if (error instanceof CsvError) throw refuseList('unreadable_csv', `The file is no CSV (RFC 4180): ${error.message}`)
    throw error
  } finally {
    parser.destroy()
  }
  await feeding
}

type Sink = ReturnType<typeof parse>

async function feed(bytes: AsyncIterable<Buffer>, parser: Sink, maxBytes: number): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let size = 0
  let last: number | undefined
  for await (const chunk of bytes) {
    size += chunk.byteLength
    if (size > maxBytes) throw refuseList('unreadable_csv', `The file has more than ${maxBytes} bytes.`)
    last = chunk.at(-1) ?? last
    if (!parser.write(decode(decoder, chunk, true))) await drained(parser)
    if (parser.destroyed) return
  }
  decode(decoder, Buffer.alloc(0), false)
  if (size === 0) throw refuseList('no_rows', 'The file is empty.')
  if (last !== LINE_FEED) throw refuseList('unfinished_line', 'The last line of the file has no end: the file was cut.')
  parser.end()
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array, stream: boolean): string {
  try {
    return decoder.decode(chunk, { stream })
  } catch {
    throw refuseList('invalid_encoding', 'The file is no UTF-8.')
  }
}

function drained(parser: Sink): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      parser.off('drain', done)
      parser.off('close', done)
      resolve()
    }
    parser.on('drain', done)
    parser.on('close', done)
  })
}

async function isZip(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.readUInt16BE(0) === 0x504b && buffer.readUInt16LE(2) < 0x0909
  } finally {
    await file.close()
  }
}

const refuseZip = (detail: string) => refuseList('unreadable_zip', detail)

async function* unzip(path: string, maxBytes: number): AsyncGenerator<Buffer> {
  // The library refuses names that leave the folder (`../`), and content longer than it declares.
  const zip = await opened(path)
  try {
    const entry = await onlyEntry(zip)
    if (!/^[^/]+\.csv$/i.test(entry.fileName)) throw refuseZip('The ZIP file must contain one .csv file, in no folder.')
    if (entry.isEncrypted()) throw refuseZip('The ZIP file is encrypted.')
    if (entry.uncompressedSize > maxBytes) throw refuseZip(`The file has more than ${maxBytes} bytes when unpacked.`)
    const stream = await new Promise<Readable>((resolve, reject) =>
      zip.openReadStream(entry, (error, found) => (error ? reject(refuseZip(sentence(error))) : resolve(found))),
    )
    let sum = 0
    try {
      for await (const chunk of stream) {
        sum = crc32(chunk as Buffer, sum)
        yield chunk as Buffer
      }
    } catch (error) {
      throw refusalIn(error) !== undefined ? error : refuseZip(sentence(error))
    } finally {
      stream.destroy()
    }
    if (sum !== entry.crc32) throw refuseZip('The content does not match its checksum.')
  } finally {
    zip.close()
  }
}

function opened(path: string): Promise<yauzl.ZipFile> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true }
  return new Promise((resolve, reject) =>
    yauzl.open(path, options, (error, zip) => (error ? reject(refuseZip(sentence(error))) : resolve(zip))),
  )
}

function onlyEntry(zip: yauzl.ZipFile): Promise<yauzl.Entry> {
  if (zip.entryCount !== 1) {
    return Promise.reject(refuseZip(`The ZIP file must contain one file, and has ${zip.entryCount}.`))
  }
  return new Promise((resolve, reject) => {
    zip.once('error', (error: Error) => reject(refuseZip(sentence(error))))
    zip.once('end', () => reject(refuseZip('The ZIP file has no entry.')))
    zip.once('entry', resolve)
    zip.readEntry()
  })
}

function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return `The ZIP file can't be read: ${text.slice(0, 200)}.`
}
