// The calls of a submission. A call that can be repeated is retried until the service has been away for too long.

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import type { Batch, BatchLine, RejectedLine, ResultsEnd, SubmittedBatch } from '../../capture-kit/client.ts'
import { reasonOf } from '../sentence.ts'
import type { DuplicatesRow } from './duplicates.ts'
import type { Finding } from './files.ts'
import { createPace } from './pace.ts'

export interface ServiceOptions {
  url: string
  key: string
  connections: number
  /** How long calls may only fail before the submission gives up. */
  patienceMs: number
  signal: AbortSignal
  /** Why a call is retried; undefined when calls succeed again. */
  onTrouble(reason: string | undefined): void
}

/** A refusal by the service, for a reason in the request. */
export interface Refused {
  status: number
  code: string
  detail: string
  errors: Finding[]
  rejected: RejectedLine[]
}

export type Answer<Value> = { value: Value } | { refused: Refused }

export interface Photo {
  contentType: string
  size: number
  /** base64 of its SHA-256. */
  digest: string
  /** Opened again for each try. */
  open(): Buffer | Readable
}

export type Service = ReturnType<typeof createService>

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
const LONGEST_RETRY_AFTER_MS = 10 * 60_000
// When a photo breaks its connection each time while others pass, the photo is at fault.
const TRIES_WHILE_OTHERS_PASS = 6
const GREETING = '/v1/claims/batches?limit=1'
// Before anything is sent, a short wait is enough: the address may be a typing error.
const GREETING_MS = 10_000
const NDJSON = 'application/x-ndjson'
const PAGE = 100

/** Why a submission can't continue now. Work already done stays done. */
export function stopped(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: 'ERR_STOPPED' })
}

export function isStopped(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STOPPED'
}

export function createService({ url, key, connections, patienceMs, signal, onTrouble }: ServiceOptions) {
  const base = new URL(url)
  const prefix = base.pathname.replace(/\/+$/, '')
  // An upload of a hundred megabytes may be slow, and so may the acceptance of a large batch in a busy hour.
  const pool = new Pool(base.origin, { connections, headersTimeout: 180_000, bodyTimeout: 120_000 })
  const pace = createPace({ connections })
  let answeredAt = 0

  async function send<Value>(call: Call<Value>): Promise<Answer<Value>> {
    let failingSince: number | undefined
    let failedAlone = 0
    for (let attempt = 1; ; attempt += 1) {
      const begunAt = performance.now()
      let pauseMs = 0
      let isShortage = false
      let reason: string
      try {
        const outcome = await attemptOnce(call)
        if (!('again' in outcome)) {
          if (attempt > 1) onTrouble(undefined)
          return outcome
        }
        pauseMs = outcome.afterMs
        reason = outcome.again
        isShortage = outcome.isShortage
        // 429 is an answer: the client waits, and its patience does not run out.
        if (outcome.isThrottle) failingSince = undefined
      } catch (error) {
        if (signal.aborted || isStopped(error) || isOurs(error)) throw error
        if (error instanceof SyntaxError)
          throw stopped(`${base.origin} answers what is no JSON of this service.`, error)
        reason = reasonOf(error)
      }
      const now = performance.now()
      failingSince ??= now
      if (call.isSolitary) {
        const isAlone = !isShortage && (answeredAt > begunAt || (await isAnswering()))
        failedAlone = isAlone ? failedAlone + 1 : 0
        if (failedAlone >= TRIES_WHILE_OTHERS_PASS) {
          return { refused: { status: 0, code: 'upload_failed', detail: reason, errors: [], rejected: [] } }
        }
      }
      if (now - failingSince >= Math.min(patienceMs, call.patienceMs ?? patienceMs)) {
        const seconds = Math.round((now - failingSince) / 1_000)
        throw stopped(`${base.origin} can't be used, tried for ${seconds} s: ${reason}.`)
      }
      onTrouble(reason)
      const backoffMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2)
      await sleep(Math.max(pauseMs, backoffMs), undefined, { signal })
    }
  }

  // A service that is away fails every request, however long it takes: no photo is at fault then.
  async function isAnswering(): Promise<boolean> {
    const outcome = await attemptOnce({ method: 'GET', path: () => GREETING, read: (body) => body.dump() }).catch(
      () => undefined,
    )
    return outcome !== undefined && !('again' in outcome)
  }

  async function attemptOnce<Value>(call: Call<Value>): Promise<Answer<Value> | Again> {
    await pace.turn(signal)
    const response = await pool.request({
      method: call.method,
      path: prefix + call.path(),
      headers: { authorization: `Bearer ${key}`, accept: 'application/json', ...call.headers },
      body: call.body?.() ?? null,
      signal,
    })
    pace.learn(response.headers)
    const { statusCode: status } = response
    if (status < 300) {
      const value = await call.read(response.body)
      answeredAt = performance.now()
      return { value }
    }
    const refused = await readRefusal(response)
    if (status >= 500 || status === 408 || status === 429 || refused.code === 'idempotency_in_progress') {
      const afterMs = retryAfterMs(response.headers['retry-after'])
      const isThrottle = status === 429
      return { again: `${status} ${refused.detail}`, afterMs, isThrottle, isShortage: isThrottle || status === 503 }
    }
    answeredAt = performance.now()
    const isAllowed = call.isOptional === true && refused.code === 'insufficient_scope'
    if ((status === 401 || status === 403) && !isAllowed) {
      throw stopped(`The key is refused: ${refused.detail} (${status} ${refused.code})`)
    }
    if (status < 400) throw stopped(`${base.origin} redirects (${status}): is --url the address of the service?`)
    return { refused }
  }

  async function get<Value>(
    path: string,
    more: Pick<Call<Value>, 'patienceMs' | 'isOptional'> = {},
  ): Promise<Answer<Value>> {
    return send({ method: 'GET', path: () => path, read: async (body) => (await body.json()) as Value, ...more })
  }

  async function readList<Row>(path: string, more: Pick<Call<Page<Row>>, 'isOptional'> = {}): Promise<Answer<Row[]>> {
    const rows: Row[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `?limit=${PAGE}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      const answer: Answer<Page<Row>> = await get(`${path}${query}`, more)
      if ('refused' in answer) return answer
      rows.push(...answer.value.data)
      cursor = answer.value.next_cursor
    }
    return { value: rows }
  }

  return {
    /** @throws an error for which `isStopped` is true: the key is refused, or the service does not answer. */
    async greet(): Promise<void> {
      const answer = await get<{ object?: string }>(GREETING, { patienceMs: GREETING_MS })
      if ('refused' in answer || answer.value?.object !== 'list') {
        const said = 'refused' in answer ? answer.refused.detail : 'its answer is none of ours'
        throw stopped(`${url} does not look like this service: ${said}`)
      }
    },

    upload(photo: Photo): Promise<Answer<{ media_id: string }>> {
      return send({
        method: 'POST',
        path: () => '/v1/media',
        headers: {
          'content-type': photo.contentType,
          'content-length': String(photo.size),
          'content-digest': `sha-256=:${photo.digest}:`,
        },
        body: photo.open,
        read: async (body) => (await body.json()) as { media_id: string },
        isSolitary: true,
      })
    },

    submitBatch(lines: Buffer, idempotencyKey: string): Promise<Answer<SubmittedBatch>> {
      return send({
        method: 'POST',
        path: () => '/v1/claims/batches',
        headers: { 'content-type': NDJSON, 'idempotency-key': idempotencyKey },
        body: () => lines,
        read: async (body) => (await body.json()) as SubmittedBatch,
      })
    },

    getBatch: (id: string) => get<Batch>(`/v1/claims/batches/${encodeURIComponent(id)}`),

    /**
     * Reads the settled lines from `cursor` on, up to the first unsettled one. A download that breaks off continues
     * after its last line.
     */
    readResults(id: string, from: string | undefined, onLine: (line: BatchLine) => void): Promise<Answer<ResultsEnd>> {
      let cursor = from
      return send({
        method: 'GET',
        path: () =>
          `/v1/claims/batches/${encodeURIComponent(id)}/results${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`,
        headers: { accept: NDJSON },
        async read(body) {
          for await (const text of createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })) {
            const line: BatchLine | ResultsEnd = JSON.parse(text)
            if ('object' in line) return line
            onLine(line)
            cursor = line.cursor
          }
          throw Object.assign(new Error('the results broke off'), { code: 'ECONNRESET' })
        },
      })
    },

    /** Reads the duplicates of all captures of a claim. Refused when the key lacks the scope for it. */
    listDuplicates: (claimId: string): Promise<Answer<DuplicatesRow[]>> =>
      readList(`/v1/claims/${encodeURIComponent(claimId)}/duplicates`, { isOptional: true }),

    listRejected: (id: string): Promise<Answer<RejectedLine[]>> =>
      readList(`/v1/claims/batches/${encodeURIComponent(id)}/rejected`),

    /** Time between two requests while the rate limit of the key is near; otherwise 0. */
    intervalMs: pace.intervalMs,

    close: (): Promise<void> => pool.destroy(),
  }
}

interface Call<Value> {
  method: 'GET' | 'POST'
  path(): string
  headers?: Record<string, string>
  body?: () => Buffer | Readable
  read(body: Dispatcher.ResponseData['body']): Promise<Value>
  /** The failure may be that of this request alone. */
  isSolitary?: boolean
  /** Longest wait; less than the submission's patience. */
  patienceMs?: number
  /** The submission goes on where the key lacks the scope for it. */
  isOptional?: boolean
}

interface Page<Row> {
  data: Row[]
  next_cursor: string | null
}

interface Again {
  again: string
  afterMs: number
  isThrottle: boolean
  /** The service reports a cause of its own: too many requests, a full disk, a part that is away. */
  isShortage: boolean
}

async function readRefusal({ statusCode: status, body }: Dispatcher.ResponseData): Promise<Refused> {
  const text = await body.text()
  const problem = parseProblem(text)
  return {
    status,
    code: problem.code ?? `http_${status}`,
    detail: problem.detail ?? text.slice(0, 200).replaceAll(/\s+/g, ' '),
    errors: problem.errors ?? [],
    rejected: problem.rejected ?? [],
  }
}

function parseProblem(text: string): Partial<Refused> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

// RFC 9110 10.2.3: seconds, or a date.
function retryAfterMs(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return 0
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS) : 0
}

// An error of this program, or a file that broke while it was sent, is not a network error.
function isOurs(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  const hasCode = 'code' in error
  return (hasCode && 'path' in error) || (!hasCode && /^(?:Type|Range|Reference)Error$/.test(error.name))
}
