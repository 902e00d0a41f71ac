// Sends requests: headers, time-outs, retries and errors. A change is sent again only where the service knows that it is the same
// one, by its Idempotency-Key, or where it says that nothing was done (429).

import { ConnectionError, CountersignError, type ErrorDetails, errorOf, type Problem, TimeoutError } from './errors.ts'
import {
  type CallOptions,
  type ClientOptions,
  checkBaseUrl,
  checkKey,
  type Fetch,
  isBrowser,
  readEnvironment,
} from './options.ts'
import { type Progress, sendWatched } from './watched.ts'

const TIMEOUT_MS = 30_000
const MAX_RETRIES = 4
const BASE_DELAY_MS = 500
// A longer wait is the caller's decision.
const MAX_RETRY_AFTER_MS = 60_000
const MAX_PROBLEM_CHARACTERS = 1_000_000

/** What fetch takes. Types of Node have no name for it. */
export type BodyContent = NonNullable<RequestInit['body']>

export interface Body {
  /** Called for each attempt. */
  open(): BodyContent | Promise<BodyContent>
  contentType: string
  /** false: it is a stream that is read once. */
  isRepeatable: boolean
}

export interface Request {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  body?: Body | undefined
  /** Reading, or with an Idempotency-Key. */
  isRepeatable: boolean
  /** The body of the answer is read after the call: then the time-out ends with the headers. */
  isStreamed?: boolean
  onProgress?: Progress | undefined
}

/** Reads an answer within the time-out of its attempt. */
export type ReadAnswer<Answer> = (response: Response) => Answer | Promise<Answer>

export interface Sent<Answer> {
  answer: Answer
  response: Response
}

export interface Transport {
  send<Answer>(request: Request, read: ReadAnswer<Answer>, options: CallOptions): Promise<Sent<Answer>>
  timeoutMsOf(options: CallOptions): number
  /** For errors of bodies that are read after the call. */
  connectionError(cause: unknown): ConnectionError
}

export function createTransport(options: ClientOptions): Transport {
  const { session, random = Math.random, sleep = wait, timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES } = options
  const isSession = session !== undefined
  const key = checkKey(options.apiKey ?? (isSession ? undefined : readEnvironment('COUNTERSIGN_API_KEY')), options)
  const origin =
    isSession && isBrowser() ? (globalThis as { location?: { origin: string } }).location?.origin : undefined
  const baseUrl = checkBaseUrl(options.baseUrl ?? readEnvironment('COUNTERSIGN_BASE_URL') ?? origin)
  // Called as a plain function: browsers refuse another `this`.
  const fetch: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  let csrfToken: Promise<string> | undefined

  function timeoutMsOf(call: CallOptions): number {
    return call.timeoutMs ?? timeoutMs
  }

  async function send<Answer>(request: Request, read: ReadAnswer<Answer>, call: CallOptions): Promise<Sent<Answer>> {
    const retries = call.maxRetries ?? maxRetries
    let hasRenewed = false
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await sendOnce(request, read, call)
      } catch (error) {
        call.signal?.throwIfAborted()
        if (!(error instanceof CountersignError)) throw error
        // The session was renewed by another page: once more with its new token.
        if (isSession && error.code === 'csrf_token_invalid' && !hasRenewed && request.body?.isRepeatable !== false) {
          hasRenewed = true
          csrfToken = undefined
          continue
        }
        if (attempt >= retries || !isRetried(error, request)) throw error
        await sleep(error.retryAfterMs ?? random() * BASE_DELAY_MS * 2 ** attempt, call.signal)
        call.signal?.throwIfAborted()
      }
    }
  }

  async function sendOnce<Answer>(request: Request, read: ReadAnswer<Answer>, call: CallOptions) {
    call.signal?.throwIfAborted()
    const headers: Record<string, string> = {
      ...request.headers,
      ...(await accessHeaders(request, call)),
      ...call.headers,
    }
    if (request.body !== undefined) headers['Content-Type'] ??= request.body.contentType
    const limits = { milliseconds: timeoutMsOf(call), outer: call.signal, isStreamed: request.isStreamed === true }
    return withTimeout(limits, async (signal) => {
      const body = await request.body?.open()
      const init: RequestInit & { duplex?: 'half' } = { method: request.method, headers, signal, redirect: 'error' }
      if (body !== undefined) init.body = body
      if (body instanceof ReadableStream) init.duplex = 'half'
      if (isSession) init.credentials = 'include'
      const url = `${baseUrl}${request.path}`
      // fetch of browsers tells nothing of what was sent.
      const isWatched = request.onProgress !== undefined && isBrowser() && options.fetch === undefined
      const response = await (isWatched ? sendWatched(url, init, request.onProgress) : fetch(url, init))
      if (!response.ok) throw await problemOf(response)
      return { answer: await read(response), response }
    })
  }

  async function accessHeaders({ method }: Request, call: CallOptions): Promise<Record<string, string>> {
    if (session === undefined) return key === undefined ? {} : { Authorization: `Bearer ${key}` }
    const environment = { 'Service-Environment': session.environment }
    if (method === 'GET') return environment
    csrfToken ??= readCsrfToken(call)
    try {
      return { ...environment, 'X-CSRF-Token': await csrfToken }
    } catch (error) {
      csrfToken = undefined
      // Signing in needs no session yet: the call itself says what it lacks.
      if (error instanceof CountersignError && error.status === 401) return environment
      throw error
    }
  }

  // Other calls wait for the same token, so it does not end with the signal of the one that asked first.
  async function readCsrfToken({ timeoutMs }: CallOptions): Promise<string> {
    const request = {
      method: 'GET',
      path: '/v1/auth/session',
      headers: { Accept: 'application/json' },
      isRepeatable: true,
    }
    const { answer } = await send(request, (response) => response.json(), { timeoutMs })
    return String((answer as { csrf_token?: unknown }).csrf_token ?? '')
  }

  /** Runs an attempt; what it throws is an error of this library, or the reason of the caller's signal. */
  async function withTimeout<Result>(
    { milliseconds, outer, isStreamed }: { milliseconds: number; outer: AbortSignal | undefined; isStreamed: boolean },
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    let isOpen = false
    const controller = new AbortController()
    const end = () => controller.abort(outer?.reason)
    outer?.addEventListener('abort', end, { once: true })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      controller.abort()
    }, milliseconds)
    try {
      const result = await run(controller.signal)
      isOpen = isStreamed
      return result
    } catch (error) {
      outer?.throwIfAborted()
      if (isLate) throw new TimeoutError(0, { code: 'timeout', detail: `no answer within ${milliseconds} ms` })
      throw error instanceof CountersignError ? error : connectionError(error)
    } finally {
      clearTimeout(timer)
      // An answer that is read later still ends with the caller's signal.
      if (!isOpen) outer?.removeEventListener('abort', end)
    }
  }

  async function problemOf(response: Response): Promise<CountersignError> {
    const details: ErrorDetails = {
      requestId: response.headers.get('Request-Id') ?? undefined,
      retryAfterMs: retryAfterOf(response.headers),
    }
    const text = (await response.text()).slice(0, MAX_PROBLEM_CHARACTERS)
    return errorOf(response.status, parseProblem(text) ?? { title: response.statusText }, details)
  }

  function connectionError(error: unknown): ConnectionError {
    // Not where the cause could repeat the key: fetch is the caller's.
    const cause = key !== undefined && describe(error).includes(key) ? undefined : error
    return new ConnectionError(0, { code: 'connection_failed', detail: 'the service did not answer' }, { cause })
  }

  return { send, timeoutMsOf, connectionError }
}

function isRetried(error: CountersignError, { isRepeatable, body }: Request): boolean {
  if (body?.isRepeatable === false) return false
  if (error.retryAfterMs !== undefined && error.retryAfterMs > MAX_RETRY_AFTER_MS) return false
  if (error.status === 429) return true
  return isRepeatable && (error.status >= 500 || error instanceof ConnectionError)
}

/** Retry-After is a number of seconds or a time (RFC 9110 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')
  if (text === null) return undefined
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds)
}

// A proxy in between answers something else than JSON.
function parseProblem(text: string): Problem | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Problem) : undefined
  } catch {
    return undefined
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.message} ${error.stack} ${error.cause === undefined ? '' : describe(error.cause)}`
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', end, { once: true })
  })
}
