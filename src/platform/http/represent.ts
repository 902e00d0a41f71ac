// The last step before an answer is sent: conditional GET (does the caller have it already) and compression. Bodies
// carry weak entity tags: one state has several encodings, and a strong tag would tell them apart.

import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  constants as zlib,
} from 'node:zlib'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Answer } from './endpoint.ts'

type Coding = 'br' | 'gzip'

// A smaller body fits one TCP segment anyway, so compressing it gains nothing.
const MIN_BYTES = 1024
// Up to this size compression takes a fifth of a millisecond at most; moving it to another thread and back takes as
// long.
const MAX_SYNC_BYTES = 32 * 1024
// The fastest settings. Our JSON is ids, digests and signatures: better settings take three times as long for a few
// percent.
const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 1, [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT } }
const GZIP = { level: 1 }
// Photos and videos are compressed already.
const COMPRESSIBLE = /^(?:text\/|application\/(?:[a-z.-]+\+)?json\b|application\/(?:x-ndjson|statuslist\+jwt)\b)/
const ABOUT_THE_BODY = ['Content-Type', 'Content-Length', 'Content-Range', 'Content-Disposition', 'Content-Encoding']

/** The representation of an answer that the request's headers ask for. */
export async function represent(req: IncomingMessage, answer: Answer): Promise<Answer> {
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (isRead && answer.status === 200 && 'text' in answer) {
    answer.headers.ETag ??= `W/"${sha256Base64url(answer.text)}"`
  }
  const canShrink = isWorthIt(answer)
  if (canShrink) answer.headers.Vary = listOf(answer.headers.Vary, 'Accept-Encoding')
  if (isRead && isUnchanged(req.headers['if-none-match'], answer)) return notModified(answer)
  const coding = canShrink ? chooseCoding(req.headers['accept-encoding']) : undefined
  return coding === undefined ? answer : encode(answer, coding)
}

/**
 * RFC 9110 12.5.3: the coding that the header allows and we support, by its weights. Among equals brotli, which is
 * faster here and compresses better. Undefined where the body is sent unencoded. Exported for tests.
 */
export function chooseCoding(header: string | string[] | undefined): Coding | undefined {
  if (header === undefined) return undefined
  const weights = new Map<string, number>()
  for (const part of String(header).toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim())
    const q = parameters.find((one) => one.startsWith('q='))
    const weight = q === undefined ? 1 : Number(q.slice(2))
    if (name !== '' && weight >= 0 && weight <= 1) weights.set(name === 'x-gzip' ? 'gzip' : name, weight)
  }
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

// RFC 9110 13.1.2: tags are compared weakly, and `*` matches any current representation.
function isUnchanged(condition: string | undefined, { status, headers }: Answer): boolean {
  if (condition === undefined || headers.ETag === undefined || (status !== 200 && status !== 206)) return false
  if (condition.trim() === '*') return true
  const opaque = headers.ETag.replace(/^W\//, '')
  const tags: string[] = condition.match(/"[\x21\x23-\x7e\x80-\xff]*"/g) ?? []
  return tags.includes(opaque)
}

function notModified(answer: Answer): Answer {
  if ('stream' in answer) answer.stream.destroy()
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !ABOUT_THE_BODY.includes(name)))
  return { status: 304, headers, text: '' }
}

function isWorthIt(answer: Answer): boolean {
  const { headers } = answer
  if (!COMPRESSIBLE.test(headers['Content-Type'] ?? '') || headers['Content-Encoding'] !== undefined) return false
  if ('text' in answer) return Buffer.byteLength(answer.text) >= MIN_BYTES
  return answer.status === 200 && Number(headers['Content-Length'] ?? MIN_BYTES) >= MIN_BYTES
}

async function encode(answer: Answer, coding: Coding): Promise<Answer> {
  const { 'Content-Length': _length, ...kept } = answer.headers
  const headers = { ...kept, 'Content-Encoding': coding }
  if ('stream' in answer) return { ...answer, headers, stream: encodeStream(answer.stream, coding) }
  const isSmall = answer.text.length <= MAX_SYNC_BYTES
  const text = isSmall ? encodeNow(answer.text, coding) : await encodeAside(answer.text, coding)
  return { ...answer, headers, text }
}

function encodeNow(text: string | Buffer, coding: Coding): Buffer {
  return coding === 'br' ? brotliCompressSync(text, BROTLI) : gzipSync(text, GZIP)
}

const brotliAside = promisify(brotliCompress)
const gzipAside = promisify<string | Buffer, typeof GZIP, Buffer>(gzip)

function encodeAside(text: string | Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'br' ? brotliAside(text, BROTLI) : gzipAside(text, GZIP)
}

// Flushed after each piece: a client that reads results as they arrive must not wait until a window is full.
function encodeStream(stream: Readable, coding: Coding): Readable {
  const encoder =
    coding === 'br'
      ? createBrotliCompress({ ...BROTLI, flush: zlib.BROTLI_OPERATION_FLUSH })
      : createGzip({ ...GZIP, flush: zlib.Z_SYNC_FLUSH })
  // An error of either stream surfaces on the encoder, whose reader handles it.
  pipeline(stream, encoder, () => {})
  return encoder
}

function listOf(...names: (string | undefined)[]): string {
  return [...new Set(names.filter((name) => name !== undefined))].join(', ')
}
