// A thin client of the API for captures. Bodies have the API's own form, in snake_case.
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import type { AttestBody } from './device.ts'

export interface ClientOptions {
  /** Base address, for example http://127.0.0.1:8080. */
  url: string
  key: string
  /** Connections at once. */
  connections?: number
  signal?: AbortSignal
}

export interface UploadedMedia {
  media_id: string
  sha256: string
  size: number
  content_type: string
}

export interface EnrolledDevice {
  device_id: string
  hardware_tier: string
}

export interface CaptureSession {
  capture_session_id: string
  session_nonce: string
  expires_at: string
}

export interface Factor {
  code: string
  points?: number
  evidence?: unknown
}

/** An attestation; it has its findings once it has `succeeded`. */
export interface Attestation {
  attestation_id: string
  claim_id: string
  external_id: string | null
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  provenance_status?: string
  risk_status?: string
  risk_score?: number
  factors?: Factor[]
  advisory_factors?: Factor[]
  hardware_tier?: string
  evaluated_at?: string
  rules_version?: string
  /** The result, signed by the service (compact JWS, ES256). */
  result_jws?: string
  /** Why the evaluation ended without a result. */
  failure: { code: string; detail: string } | null
}

export interface Batch {
  batch_id: string
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  /** Lines that were accepted. At `settled` = `accepted` the batch is done. */
  accepted: number
  settled: number
  counts: { queued: number; running: number; succeeded: number; failed: number; cancelled: number }
  rate_per_second: number | null
  estimated_finish_at: string | null
}

/** A line of a batch that was refused, from 1; the others run. */
export interface RejectedLine {
  line: number
  errors: { pointer: string; code: string; detail: string }[]
}

export interface SubmittedBatch extends Batch {
  rejected: RejectedLine[]
}

/** One line of a batch's results. */
export interface BatchLine extends Attestation {
  /** Line in the input, from 1. */
  line: number
  /** Resumes after this line. */
  cursor: string
  is_repeat: boolean
}

/** The end of a batch's results: where to continue, when not all lines have settled. */
export interface ResultsEnd {
  object: 'cursor'
  next_cursor: string | null
  is_complete: boolean
}

/** The error of a refused call. `code` is the API's, or `unreadable_answer`. */
export interface ApiError extends Error {
  status: number
  code: string
  requestId: string | undefined
  /** The problem document (RFC 9457), or the text received instead. */
  problem: unknown
}

export type Client = ReturnType<typeof createClient>

const MAX_SESSIONS_PER_CALL = 1000
const TRIES = 5
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000

export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && 'status' in error && 'problem' in error
}

export function createClient({ url, key, connections = 16, signal }: ClientOptions) {
  const base = new URL(url)
  const prefix = base.pathname.replace(/\/+$/, '')
  // An upload of a hundred megabytes may be slow; a response may take 30 s with `Prefer`.
  const pool = new Pool(base.origin, { connections, headersTimeout: 120_000, bodyTimeout: 120_000 })

  async function reach(call: Call): Promise<Dispatcher.ResponseData> {
    try {
      return await pool.request({
        method: call.method ?? 'GET',
        path: prefix + call.path,
        headers: { authorization: `Bearer ${key}`, accept: 'application/json', ...call.headers },
        body: call.body?.() ?? null,
        signal: signal ?? null,
      })
    } catch (cause) {
      if (signal?.aborted === true) throw cause
      const reason = cause instanceof Error ? cause.message || ('code' in cause ? cause.code : cause.name) : cause
      throw new Error(`${call.method ?? 'GET'} ${call.path}: no answer from ${base.origin}: ${reason}`, { cause })
    }
  }

  async function send(call: Call): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await reach(call)
      if (response.statusCode < 300) return response
      const error = await errorOf(call, response)
      // Both mean that nothing was done. After any other failure the effect is unknown, and the caller decides.
      const isRepeatable = response.statusCode === 429 || response.statusCode === 503
      if (!isRepeatable || attempt === TRIES) throw error
      await sleep(pauseMs(attempt, response.headers['retry-after']), undefined, signal === undefined ? {} : { signal })
    }
  }

  async function json<Answer>(call: Call): Promise<Answer> {
    const response = await send(call)
    return (await response.body.json()) as Answer
  }

  function post<Answer>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const text = JSON.stringify(body)
    return json({ method: 'POST', path, headers: { 'content-type': 'application/json', ...headers }, body: () => text })
  }

  async function* readBatchResults(batchId: string, cursor?: string): AsyncGenerator<BatchLine, ResultsEnd> {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`
    const { body } = await send({
      path: `/v1/claims/batches/${encodeURIComponent(batchId)}/results${query}`,
      headers: { accept: 'application/x-ndjson' },
    })
    for await (const text of createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line: BatchLine | ResultsEnd = JSON.parse(text)
      if ('object' in line) return line
      yield line
    }
    throw new Error(`the results of ${batchId} broke off: go on after the last line's cursor`)
  }

  return {
    /** `POST /v1/media`. The digest makes the server refuse bytes damaged in transit. */
    upload(photo: Uint8Array, contentType: string): Promise<UploadedMedia> {
      const headers = { 'content-type': contentType, 'content-digest': digestOf(photo) }
      return json({ method: 'POST', path: '/v1/media', headers, body: () => photo })
    },

    /** `POST /v1/admin/root-cas`. */
    registerRoot(name: string, certificate: Buffer): Promise<Record<string, unknown>> {
      return post('/v1/admin/root-cas', { name, certificate: certificate.toString('base64') })
    },

    /** `POST /v1/admin/devices`; `chain` is DER, leaf first. */
    enroll(name: string, chain: readonly Buffer[], attestation?: unknown): Promise<EnrolledDevice> {
      const certificates = chain.map((der) => der.toString('base64'))
      return post('/v1/admin/devices', { name, certificate_chain: certificates, attestation })
    },

    /** `POST /v1/admin/devices/challenges`: the challenge that hardware evidence must answer. */
    async openChallenge(): Promise<string> {
      const answer = await post<{ challenges: { challenge: string }[] }>('/v1/admin/devices/challenges', { count: 1 })
      const [first] = answer.challenges
      if (first === undefined) throw new Error('no challenge was issued')
      return first.challenge
    },

    revoke(deviceId: string, reason: string): Promise<Record<string, unknown>> {
      return post(`/v1/admin/devices/${encodeURIComponent(deviceId)}/revoke`, { reason })
    },

    /** `POST /v1/claims/attest/sessions`, in as many calls as the count needs. */
    async openSessions(count: number): Promise<CaptureSession[]> {
      const opened: CaptureSession[] = []
      while (opened.length < count) {
        const step = Math.min(MAX_SESSIONS_PER_CALL, count - opened.length)
        const { sessions } = await post<{ sessions: CaptureSession[] }>('/v1/claims/attest/sessions', { count: step })
        opened.push(...sessions)
      }
      return opened
    },

    /** `PUT /v1/claims/attest/sessions/{id}/chunks/{index}`, of an MP4. */
    sendChunk(sessionId: string, index: number, chunk: Uint8Array): Promise<Record<string, unknown>> {
      const path = `/v1/claims/attest/sessions/${encodeURIComponent(sessionId)}/chunks/${index}`
      const headers = { 'content-type': 'video/mp4', 'content-digest': digestOf(chunk) }
      return json({ method: 'PUT', path, headers, body: () => chunk })
    },

    /**
     * `POST /v1/claims/attest`. Returns the result, or the queued attestation when the evaluation took longer than the
     * wait.
     */
    attest(body: AttestBody, waitSeconds = 10): Promise<Attestation> {
      return post('/v1/claims/attest', body, { prefer: `wait=${waitSeconds}` })
    },

    getAttestation(attestationId: string, waitSeconds = 0): Promise<Attestation> {
      return json({ path: `/v1/attestations/${encodeURIComponent(attestationId)}?wait=${waitSeconds}` })
    },

    /** `POST /v1/claims/batches` as NDJSON, streamed: up to 10,000 lines, whose media were uploaded before. */
    submitBatch(lines: Iterable<AttestBody>): Promise<SubmittedBatch> {
      const body = (): Readable => Readable.from(ndjson(lines))
      return json({
        method: 'POST',
        path: '/v1/claims/batches',
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
    },

    getBatch(batchId: string): Promise<Batch> {
      return json({ path: `/v1/claims/batches/${encodeURIComponent(batchId)}` })
    },

    /** The settled lines in input order, up to the first unsettled one. @throws when the response is incomplete. */
    readBatchResults,

    close: (): Promise<void> => pool.close(),
  }
}

interface Call {
  method?: 'GET' | 'POST' | 'PUT'
  path: string
  headers?: Record<string, string>
  /** Called for each attempt, because a stream can be read only once. */
  body?: () => Uint8Array | string | Readable
}

// RFC 9530.
function digestOf(bytes: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
}

function* ndjson(lines: Iterable<AttestBody>): Generator<string> {
  for (const line of lines) yield `${JSON.stringify(line)}\n`
}

// Retry-After in seconds where the server sends it; otherwise doubling, with jitter so that many clients don't return
// at once.
function pauseMs(attempt: number, retryAfter: string | string[] | undefined): number {
  const seconds = Number(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.min(seconds * 1000, LONGEST_PAUSE_MS)
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS) * Math.random()
}

async function errorOf(call: Call, response: Dispatcher.ResponseData): Promise<ApiError> {
  const text = await response.body.text()
  const problem = parseProblem(text)
  const detail = problem === undefined ? text.slice(0, 200) : describe(problem)
  const requestId = response.headers['request-id']
  const message = `${call.method ?? 'GET'} ${call.path}: ${response.statusCode} ${detail}`
  return Object.assign(new Error(message), {
    status: response.statusCode,
    code: problem?.code ?? 'unreadable_answer',
    requestId: Array.isArray(requestId) ? requestId[0] : requestId,
    problem: problem ?? text,
  })
}

interface Problem {
  code: string
  detail?: string
  errors?: { pointer: string; detail: string }[]
}

function parseProblem(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isProblem(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
}

function describe({ code, detail, errors }: Problem): string {
  const fields = (errors ?? []).map((error) => `${error.pointer} ${error.detail}`).join('; ')
  return [code, detail, fields === detail ? undefined : fields].filter(Boolean).join(': ')
}
