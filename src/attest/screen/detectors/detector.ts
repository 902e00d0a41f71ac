// The interface of all detectors of synthetic media: bytes in, scores or a reason out. Every answer of a detector
// becomes a value. It is validated before use, and no score is ever invented.

import { z } from 'zod'
import { parseJson } from '#src/platform/crypto/canonical.ts'
import { parseRetryAfter } from '#src/platform/net/exchange.ts'
import { OPERATOR, type Outbound, type OutboundAnswer } from '#src/platform/net/outbound.ts'

export interface DetectorInput {
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  contentType: string
  bytes: Uint8Array
  signal: AbortSignal
}

export interface ModelScore {
  model: string
  score: number
}

export type Detection =
  | {
      kind: 'scored'
      genai: number | null
      deepfake: number | null
      /** The detector's scores of single generators, highest first. */
      models: ModelScore[]
      /** The detector's own id of the call. */
      vendorId: string | null
    }
  /** The detector can't read these media, now or later. */
  | { kind: 'unsupported'; detail: string }
  /** Too many calls: the next one no earlier than after this many milliseconds. */
  | { kind: 'limited'; retryAfterMs: number; detail: string }
  /** Credentials, plan or quota: no call succeeds until an operator acts. */
  | { kind: 'refused'; detail: string }
  /** A later call may succeed. */
  | { kind: 'failed'; detail: string }
  | { kind: 'aborted'; detail: string }

export interface Detector {
  name: string
  /** Another version may judge otherwise, so the same bytes are sent again. */
  version: string
  contentTypes: ReadonlySet<string>
  detect(input: DetectorInput): Promise<Detection>
}

export interface DetectorDeps {
  outbound: Pick<Outbound, 'send'>
  url: string
  version: string
  now: () => Date
  timeoutMs?: number
}

// Vendors answer in one to five seconds; a detector that takes longer than this is considered down.
const DETECTOR_TIMEOUT_MS = 30_000
// An answer has a few kilobytes.
const MAX_ANSWER_BYTES = 256 * 1024
const MAX_ANSWER_DEPTH = 32
const RETRY_AFTER_MS = 30_000
const MAX_RETRY_AFTER_MS = 3_600_000
const MAX_MODELS = 100
const MAX_VENDOR_ID = 200

/** A probability given by a model. Not clamped: a number out of range shows that the detector is broken. */
export const score = z.number().min(0).max(1)

interface Call {
  headers: Record<string, string>
  body: Uint8Array
  signal: AbortSignal
}

/** One call; returns the JSON of a success, or what the failure means. `judge` may learn more from a failure's body. */
export async function callDetector(
  { outbound, url, now, timeoutMs = DETECTOR_TIMEOUT_MS }: DetectorDeps,
  { headers, body, signal }: Call,
  judge: (json: unknown, status: number) => Detection | undefined = () => undefined,
): Promise<{ json: unknown } | { detection: Detection }> {
  const answer = await outbound.send({
    account: OPERATOR,
    url,
    // The rules of live apply: https and public addresses, unless the operator allows a loopback one.
    environment: url.startsWith('http:') ? 'sandbox' : 'live',
    method: 'POST',
    headers: { accept: 'application/json', 'user-agent': 'Countersign-Screening/1', ...headers },
    body,
    timeoutMs,
    maxResponseBytes: MAX_ANSWER_BYTES,
    signal,
  })
  if (!answer.ok) return { detection: { kind: answer.code === 'aborted' ? 'aborted' : 'failed', detail: answer.code } }
  const json = jsonOf(answer)
  if (answer.status === 429) return { detection: limited(answer, now()) }
  const known = judge(json, answer.status)
  if (known !== undefined) return { detection: known }
  const { status } = answer
  if (status === 401 || status === 402 || status === 403) {
    return { detection: { kind: 'refused', detail: `status ${status}` } }
  }
  if (status === 413 || status === 415 || status === 422) {
    return { detection: { kind: 'unsupported', detail: `status ${status}` } }
  }
  // Accepted (202), partial (206) and the like are failures: only a 200 holds a score.
  if (status !== 200) return failed(`status ${status}`)
  if (answer.isTruncated) return failed(`the answer has more than ${MAX_ANSWER_BYTES} bytes`)
  if (!isJson(answer)) return failed('the answer is not application/json')
  return json === undefined ? failed('the answer is no JSON') : { json }
}

/** A success with valid scores, or a failure that names the invalid member. */
export function readScores<Shape extends z.ZodType>(
  shape: Shape,
  json: unknown,
  scoresOf: (answer: z.output<Shape>) => Omit<Extract<Detection, { kind: 'scored' }>, 'kind'>,
): Detection {
  const parsed = shape.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    // The first two path segments are our names; deeper ones come from the detector.
    return { kind: 'failed', detail: `the answer has no valid ${issue?.path.slice(0, 2).join('.') || 'shape'}` }
  }
  const { genai, deepfake, models, vendorId } = scoresOf(parsed.data)
  if (genai === null && deepfake === null) return { kind: 'failed', detail: 'the answer has no score' }
  return {
    kind: 'scored',
    genai,
    deepfake,
    models: [...models].sort((a, b) => b.score - a.score || (a.model < b.model ? -1 : 1)).slice(0, MAX_MODELS),
    vendorId: vendorId?.slice(0, MAX_VENDOR_ID).replaceAll('\0', '') ?? null,
  }
}

function limited(answer: Extract<OutboundAnswer, { ok: true }>, now: Date): Detection {
  const asked = parseRetryAfter(answer.headers.get('retry-after'), now) ?? RETRY_AFTER_MS
  return { kind: 'limited', retryAfterMs: Math.min(MAX_RETRY_AFTER_MS, Math.max(1_000, asked)), detail: 'status 429' }
}

function failed(detail: string): { detection: Detection } {
  return { detection: { kind: 'failed', detail } }
}

function isJson({ headers }: Extract<OutboundAnswer, { ok: true }>): boolean {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return type === 'application/json' || /^application\/[a-z0-9.-]+\+json$/.test(type)
}

function jsonOf(answer: Extract<OutboundAnswer, { ok: true }>): unknown {
  if (answer.isTruncated || !isJson(answer)) return undefined
  try {
    // If two members had one name, a detector and we might read different ones.
    return parseJson(answer.body, { maxBytes: MAX_ANSWER_BYTES, maxDepth: MAX_ANSWER_DEPTH })
  } catch {
    return undefined
  }
}
