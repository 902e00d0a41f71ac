// Reads request bodies of strangers: never more in memory than the limit, never slower than minimum-rate.ts says. After a
// refusal the connection can still carry the answer.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { Failure, type FieldError } from '#src/failure.ts'
import { type Json, type JsonLimits, parseJson, parseJsonInSlices } from '#src/platform/crypto/canonical.ts'
import type { Hold } from '#src/platform/fair-budget.ts'
import { freeBytes, joinBytes } from '#src/platform/owned-bytes.ts'
import { createSlice } from '#src/platform/slices.ts'
import type { LongStrings } from './long-strings.ts'
import { createRateJudge, type Kept, type MinimumRate } from './minimum-rate.ts'

export const DEFAULT_BODY_BYTES = 1024 * 1024

/** Media types of JSON bodies and answers, where a route names no others. */
export const JSON_TYPES: readonly [string, ...string[]] = ['application/json']

/**
 * RFC 8259 9 lets a parser limit depth. The deepest member, the payload of an action, may have 32 levels; a recursive
 * reader would overflow at some thousands.
 */
const MAX_DEPTH = 34

/**
 * Most values of a body, counted by the commas outside of its strings. A schema reports every wrong value, and half a
 * million findings (a megabyte of `[1,1,1,...]`) block the event loop for 0.8 s.
 */
export const DEFAULT_BODY_VALUES = 2_000

/**
 * Most members of one object and elements of one array in a body: each may be a finding. No schema has a hundred
 * members, and the longest accepted list, the chunks of a video, has 10,000.
 */
const LENGTHS = { maxMembers: 1_000, maxElements: 10_000 }

/** Bytes of a body without its long strings. The longest manifest of a video has 2.5 MB. */
export const MAX_REST_BYTES = 3 * 1024 * 1024

/** Work on a larger body is cut into slices, and on one with more than DEFAULT_BODY_VALUES commas. */
const LARGE_BODY_BYTES = 64 * 1024

export interface JsonBodyLimits extends JsonLimits {
  maxValues: number
}

export interface BodyOptions {
  maxBytes: number
  pace: MinimumRate
  /** What the caller keeps of the body; a reader that passes a body on keeps nothing. */
  kept?: Kept | undefined
  /** Gets each chunk before the reader: the owner of a chunk may write into it. */
  tap?: { chunk(bytes: Buffer): void; end(): void } | undefined
}

/**
 * @throws {Failure} `unsupported_media_type` for a content coding; `code` unless the request has one of `accepted` (exact
 * types or `image/*`).
 */
export function checkContentType(
  req: IncomingMessage,
  accepted: readonly string[],
  code: 'unsupported_media_type' | 'invalid_request' = 'unsupported_media_type',
): void {
  const coding = req.headers['content-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    throw new Failure('unsupported_media_type', {
      detail: 'Content-Encoding must be identity: send the body as it is.',
      headers: { 'Accept-Encoding': 'identity' },
    })
  }
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='))
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset)
  if (!isUtf8 || !accepted.some((one) => isOfType(type.trim(), one))) {
    throw new Failure(
      code,
      `${type === '' ? 'Content-Type is missing: it' : 'Content-Type'} must be ${accepted.join(' or ')}${isUtf8 ? '' : ' in UTF-8'}.`,
    )
  }
}

/** Media types that the body of a route may have, other than a raw one. */
export function bodyTypesOf(route: { jsonTypes?: readonly string[]; otherBody?: { contentType: string } }): string[] {
  const { jsonTypes = JSON_TYPES, otherBody } = route
  return [...jsonTypes, ...(otherBody === undefined ? [] : [otherBody.contentType])]
}

/** Whether a request has a body of this media type, whatever its parameters. */
export function isOfMediaType({ headers }: Pick<IncomingMessage, 'headers'>, type: string): boolean {
  return (headers['content-type'] ?? '').toLowerCase().split(';', 1)[0]?.trim() === type
}

/** Whether the request says that it carries a body. */
export function hasBody(req: IncomingMessage): boolean {
  const announced = req.headers['content-length']
  return req.headers['transfer-encoding'] !== undefined || (announced !== undefined && Number(announced) > 0)
}

/**
 * The body as a separate stream. Destroying it does not touch the socket. It fails with a Failure (`payload_too_large`,
 * `request_timeout`), or with ECONNRESET when the client went away.
 * @throws {Failure} `payload_too_large` when Content-Length alone shows it, before a byte is read.
 */
export function openBody(req: IncomingMessage, res: ServerResponse, options: BodyOptions): Readable {
  let stop = () => {}
  const body = new Readable({
    highWaterMark: 64 * 1024,
    read: () => void req.resume(),
    destroy(error, done) {
      stop()
      done(error)
    },
  })
  stop = receive(req, res, options, {
    chunk: (bytes) => body.push(bytes),
    end: () => void body.push(null),
    fail: (error) => void body.destroy(error),
  })
  return body
}

interface Sink {
  /** false: no more until `req.resume()`. */
  chunk(bytes: Buffer): boolean
  /** Waited for between the chunks of a large body. A fast sender's come dozens in one turn of the event loop. */
  turn?(): Promise<void>
  end(): void
  fail(error: Error): void
}

/**
 * Gives a body to its reader, with the checks of `openBody`. Returns a function that stops it.
 * @throws {Failure} `payload_too_large` when Content-Length alone shows it.
 */
function receive(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, pace, kept = 'nothing', tap }: BodyOptions,
  sink: Sink,
): () => void {
  const announcedBytes = Number(req.headers['content-length'] ?? 0)
  if (announcedBytes > maxBytes) throw tooLarge(maxBytes)
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue()

  const judgeWindow = createRateJudge(pace, { kept, announcedBytes })
  let received = 0
  let judged = 0
  let wasPaused = false
  let isStopped = false
  const onData = (chunk: Buffer) => {
    received += chunk.length
    if (received > maxBytes) return sink.fail(tooLarge(maxBytes))
    tap?.chunk(chunk)
    if (!sink.chunk(chunk)) {
      wasPaused = true
      req.pause()
    } else if (sink.turn !== undefined && received > LARGE_BODY_BYTES) {
      req.pause()
      void sink.turn().then(() => isStopped || req.resume())
    }
  }
  const onEnd = () => {
    clearInterval(timer)
    tap?.end()
    sink.end()
  }
  const onClose = () => {
    if (!req.complete) sink.fail(Object.assign(new Error('the client went away'), { code: 'ECONNRESET' }))
  }
  const timer = setInterval(() => {
    // A pause is ours (a slow disk), and the sender is not at fault.
    const failure = wasPaused ? undefined : judgeWindow({ inWindow: received - judged, received })
    if (failure !== undefined) sink.fail(failure)
    judged = received
    wasPaused = req.isPaused()
  }, pace.windowMs)

  if (req.destroyed && !req.complete) process.nextTick(onClose)
  // An aborted request also emits its own error; the close event that follows is enough.
  req.on('error', () => {})
  req.on('data', onData).once('end', onEnd).once('close', onClose)
  return () => {
    isStopped = true
    clearInterval(timer)
    req.off('data', onData).off('end', onEnd).off('close', onClose)
  }
}

type BodyHold = Pick<Hold, 'take' | 'mayBeEvicted' | 'begin'>

/** Gives each chunk to `take`, until the end. What `take` throws ends it. A stream would cost more than a short body does. */
function receiveEach(
  req: IncomingMessage,
  res: ServerResponse,
  { hold, ...options }: BodyOptions & { hold: BodyHold },
  take: (chunk: Buffer) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    let stop = () => {}
    const fail = (error: unknown) => {
      stop()
      reject(error)
    }
    // A body that still arrives must not keep other accounts' bodies out.
    hold.mayBeEvicted(() => fail(tooManyBodies()))
    stop = receive(req, res, options, {
      turn: createSlice().next,
      chunk(bytes) {
        try {
          take(bytes)
        } catch (error) {
          fail(error)
        }
        return true
      },
      end() {
        stop()
        if (hold.begin()) resolve()
      },
      fail,
    })
  })
}

/** Reads a body whose bytes the route reads itself. Throws as `readJson`. */
export async function readBytes(
  req: IncomingMessage,
  res: ServerResponse,
  options: Omit<BodyOptions, 'kept'> & { hold: BodyHold },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  await receiveEach(req, res, { ...options, kept: 'json' }, (chunk) => {
    if (!options.hold.take(chunk.length)) throw tooManyBodies()
    chunks.push(chunk)
  })
  return Buffer.concat(chunks)
}

/**
 * Reads and parses a JSON body.
 * @param options.hold Takes the bytes while they come; to be released at the end of the request.
 * @returns the value, and whether work on it must be cut into slices.
 * @throws {Failure} `payload_too_large`, `request_timeout`, `invalid_json`, `invalid_request`, `service_unavailable`.
 */
export async function readJson(
  req: IncomingMessage,
  res: ServerResponse,
  options: Omit<BodyOptions, 'kept'> & {
    hold: BodyHold
    maxValues: number
    longStrings?: LongStrings | undefined
  },
): Promise<{ value: Json; isLarge: boolean }> {
  const { maxBytes, maxValues, hold, longStrings } = options
  const chunks: Buffer[] = []
  try {
    await receiveEach(req, res, { ...options, kept: 'json' }, (chunk) => {
      if (!hold.take(chunk.length)) throw tooManyBodies()
      if (longStrings === undefined) chunks.push(chunk)
      else if (longStrings.push(chunk) > MAX_REST_BYTES) throw restTooLarge()
    })
    const limits = { maxBytes, maxValues, maxDepth: MAX_DEPTH, offsetOf: longStrings?.offsetOf }
    const bytes = longStrings?.end() ?? joinBytes(chunks)
    chunks.push(bytes)
    const isLarge = isLargeBody(bytes)
    const value = isLarge ? await parseInSlices(bytes, limits) : parseJsonBody(bytes, limits)
    freeBytes(bytes)
    return { value, isLarge }
  } catch (error) {
    longStrings?.discard()
    for (const chunk of chunks) freeBytes(chunk)
    throw error
  }
}

/** `parseJsonBody`, in slices where the body is large. */
export async function parseWholeBody(bytes: Buffer, limits: JsonBodyLimits): Promise<Json> {
  return isLargeBody(bytes) ? parseInSlices(bytes, limits) : parseJsonBody(bytes, limits)
}

// Commas in strings count too: slices cost little where they were not needed.
const isLargeBody = (bytes: Buffer): boolean =>
  bytes.length > LARGE_BODY_BYTES || countCommas(bytes, DEFAULT_BODY_VALUES) === DEFAULT_BODY_VALUES

/**
 * Parses the JSON of a stranger, in a body, a line or an element of one: `parseJson`, a bound on its values, no U+0000.
 * @throws {Failure} as `parseJson`; `invalid_request` with one of the codes `too_many_values`, `invalid_character`.
 */
export function parseJsonBody(bytes: Buffer, limits: JsonBodyLimits): Json {
  const characters = createCharacterCheck()
  const value = parseJson(bytes, { ...LENGTHS, ...limits, onNul: characters.onNul })
  characters.end()
  return value
}

async function parseInSlices(bytes: Buffer, limits: JsonBodyLimits): Promise<Json> {
  const characters = createCharacterCheck()
  const value = await parseJsonInSlices(bytes, { ...LENGTHS, ...limits, onNul: characters.onNul })
  characters.end()
  return value
}

function isOfType(type: string, accepted: string): boolean {
  return accepted.endsWith('/*')
    ? type.startsWith(accepted.slice(0, -1)) && type.length > accepted.length - 1
    : type === accepted
}

/** Counts to `most`. */
function countCommas(bytes: Buffer, most: number): number {
  let count = 0
  for (let at = bytes.indexOf(0x2c); at !== -1 && count < most; at = bytes.indexOf(0x2c, at + 1)) count += 1
  return count
}

// Postgres stores U+0000 neither in text nor in jsonb: without this check it would be our error and not the caller's.
function createCharacterCheck() {
  const errors: FieldError[] = []
  return {
    onNul(pointer: string, isName: boolean): void {
      if (errors.length >= 10) return
      const detail = isName ? 'has a name with U+0000' : 'must not contain U+0000'
      errors.push({ pointer, code: 'invalid_character', detail })
    },
    end(): void {
      if (errors.length > 0) throw new Failure('invalid_request', { detail: 'Text must not contain U+0000.', errors })
    },
  }
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('payload_too_large', `The body must not be larger than ${maxBytes} bytes.`)
}

function restTooLarge(): Failure {
  const detail = `Beside its media the body must not have more than ${MAX_REST_BYTES} bytes.`
  return new Failure('payload_too_large', detail)
}

function tooManyBodies(): Failure {
  return new Failure('service_unavailable', 'Too many large bodies of this account at once. Try again.')
}
