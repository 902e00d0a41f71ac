// One error for each way in which a call fails. No message, member or cause contains the API key.

/** The body of a problem (RFC 9457), as it came. */
export interface Problem {
  type?: string
  title?: string
  status?: number
  code?: string
  detail?: string
  request_id?: string
  errors?: readonly FieldError[]
  [member: string]: unknown
}

/** One finding about a request. */
export interface FieldError {
  /** Where in the body (RFC 6901), or the name of a parameter or header. */
  pointer: string
  code: string
  detail: string
}

/** What every error of a call has in common. */
export class CountersignError extends Error {
  /** 0 where there was no answer. */
  readonly status: number
  /** Stable: branch on it. `connection_failed`, `timeout` and `unexpected_response` are of this library. */
  readonly code: string
  /** For people: it may change. */
  readonly detail: string
  /** Every finding about the request at once. */
  readonly errors: readonly FieldError[]
  /** Tell it to whoever runs the service. */
  readonly requestId: string | undefined
  /** When the service asks to try again. */
  readonly retryAfterMs: number | undefined
  /** The whole problem, with the members that belong to its code. */
  readonly problem: Problem

  constructor(status: number, problem: Problem, more: ErrorDetails = {}) {
    const { code = 'unexpected_response', detail = problem.title ?? '' } = problem
    super(`${status === 0 ? '' : `${status} `}${code}${detail === '' ? '' : `: ${detail}`}`, more)
    this.name = new.target.name
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = Array.isArray(problem.errors) ? problem.errors : []
    this.requestId = problem.request_id ?? more.requestId
    this.retryAfterMs = more.retryAfterMs
    this.problem = problem
  }
}

export interface ErrorDetails {
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

export class InvalidRequestError extends CountersignError {}
export class AuthenticationError extends CountersignError {}
export class CapError extends CountersignError {}
export class PermissionError extends CountersignError {}
export class NotFoundError extends CountersignError {}
export class ConflictError extends CountersignError {}
export class RateLimitError extends CountersignError {}
export class ServerError extends CountersignError {}
/** No answer, or one that broke off. */
export class ConnectionError extends CountersignError {}
/** An attempt took longer than `timeoutMs`. */
export class TimeoutError extends ConnectionError {}
/** A success whose body is not what it must be: something else than the service answered. */
export class UnexpectedResponseError extends CountersignError {}

const BY_STATUS: Record<number, typeof CountersignError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: CapError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
}

/** The error of an answer that is no success. */
export function errorOf(status: number, problem: Problem, details: ErrorDetails): CountersignError {
  const Class = status >= 500 ? ServerError : (BY_STATUS[status] ?? CountersignError)
  return new Class(status, problem, details)
}
