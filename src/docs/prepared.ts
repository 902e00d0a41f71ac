// Texts that are the same for all callers: their ETag is computed once, and they are compressed once for each requested
// coding.

import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import type { Answer } from '#src/platform/http/endpoint.ts'
import { chooseCoding } from '#src/platform/http/represent.ts'

export interface Prepared {
  /** Digest of the bytes, 16 hexadecimal digits. */
  digest: string
  answer(acceptEncoding: string | string[] | undefined): Promise<Answer>
}

const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 9, [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT } }
// Below this, compressing saves no TCP packet.
const MIN_BYTES = 1024

const brotliAside = promisify<Buffer, typeof BROTLI, Buffer>(brotliCompress)
const gzipAside = promisify<Buffer, Buffer>(gzip)

export function prepare(content: string | Buffer, headers: Record<string, string>): Prepared {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const digest = sha256Hex(bytes).slice(0, 16)
  const common = { ...headers, ETag: `W/"${digest}"`, Vary: 'Accept-Encoding' }
  const encoded: { br?: Promise<Buffer>; gzip?: Promise<Buffer> } = {}
  return {
    digest,
    async answer(acceptEncoding) {
      const coding = bytes.length < MIN_BYTES ? undefined : chooseCoding(acceptEncoding)
      if (coding === undefined) return { status: 200, headers: { ...common }, text: bytes }
      // The largest takes a third of a second, once per process.
      encoded[coding] ??= coding === 'br' ? brotliAside(bytes, BROTLI) : gzipAside(bytes)
      return { status: 200, headers: { ...common, 'Content-Encoding': coding }, text: await encoded[coding] }
    },
  }
}
