// The bytes of a packet's PDF. Its last line is a comment for PDF readers and a seal for us: a JWS over the SHA-256 of
// all bytes before it, because the packet's own signature covers the attachment and not the visible pages.

import { inflateSync } from 'node:zlib'
import { sha256Hex } from '#src/platform/crypto/digest.ts'

const SEAL = '%countersign-seal '
// PDF 32000-1 7.5.5, implementation note 18: readers search for the end of the file in its last 1,024 bytes.
const MAX_SEAL_BYTES = 900
const MAX_PACKET_BYTES = 64 * 1024 * 1024

/** Appends the seal that `sign` makes over the file's digest (hex). */
export async function sealPdf(pdf: Uint8Array, sign: (sha256: string) => Promise<string>): Promise<Buffer> {
  const seal = Buffer.from(`${SEAL}${await sign(sha256Hex(pdf))}\n`)
  if (seal.byteLength > MAX_SEAL_BYTES) throw new Error(`the seal has ${seal.byteLength} bytes, too many for a reader`)
  return Buffer.concat([pdf, seal])
}

/** The sealed bytes and the seal; undefined without a seal at its position. */
export function splitSeal(file: Buffer): { sealed: Buffer; jws: string } | undefined {
  const at = file.lastIndexOf(SEAL)
  if (at === -1 || file.byteLength - at > MAX_SEAL_BYTES || file.at(-1) !== 0x0a) return undefined
  return { sealed: file.subarray(0, at), jws: file.subarray(at + SEAL.length, -1).toString('latin1') }
}

export function isPdf(file: Buffer): boolean {
  return file.subarray(0, 5).toString('latin1') === '%PDF-'
}

/** The first attached file; undefined when none can be read. Reads only PDFs that this service wrote. */
export function readAttachment(pdf: Buffer): Buffer | undefined {
  const at = pdf.indexOf('/Type /EmbeddedFile')
  if (at === -1) return undefined
  const start = pdf.indexOf('stream\n', at)
  if (start === -1 || start - at > 2_000) return undefined
  const head = pdf.subarray(at, start).toString('latin1')
  const length = Number(/\/Length (\d{1,9})\b/.exec(head)?.[1])
  const body = pdf.subarray(start + 'stream\n'.length, start + 'stream\n'.length + length)
  if (!Number.isSafeInteger(length) || body.byteLength !== length) return undefined
  if (!head.includes('/FlateDecode')) return Buffer.from(body)
  try {
    return inflateSync(body, { maxOutputLength: MAX_PACKET_BYTES })
  } catch {
    return undefined
  }
}
