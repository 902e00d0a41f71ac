// Turns every error into one format: RFC 9457 problem+json with a stable code. `detail` is for the caller; causes and
// stacks stay in the log.

import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import { FAILURES, Failure, type FailureCode, type FieldError } from '#src/failure.ts'
import { redactTokens } from '#src/platform/log.ts'
import { isLockTimeout, isUnavailable } from '#src/platform/unavailable.ts'

export const SERVICE_VERSION = '2026-11-01'

/** Seconds. Long enough for a Postgres restart, short enough that a caller hardly notices two of them. */
const RETRY_AFTER = '2'

export interface Problem {
  status: number
  headers: Record<string, string>
  text: string
}

/**
 * What a caller is told of an error. A Failure is returned unchanged; a store that can't be reached is
 * `service_unavailable`; any other error is `internal_error`, and the caller of this function logs it.
 */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (isLockTimeout(error)) {
    return new Failure('service_unavailable', {
      detail: 'Another request is changing the same records at this moment. Nothing was changed; try again.',
      cause: error,
    })
  }
  if (isUnavailable(error)) {
    return new Failure('service_unavailable', {
      detail: 'A part of the service can not be reached at the moment. Nothing was changed; try again.',
      cause: error,
    })
  }
  return new Failure('internal_error', {
    detail: 'Something went wrong on our side. If it persists, tell us the request_id.',
    cause: error,
  })
}

/**
 * A name that the caller chose, such as that of an agent session, is quoted in `detail`. If it is a secret that was put in
 * the wrong place, it must not get into the logs of the client with the answer.
 * @param baseUrl Without a trailing slash; `type` is a page under it.
 */
export function problemOf(failure: Failure, { baseUrl, requestId }: { baseUrl: string; requestId: string }): Problem {
  const { title, status } = FAILURES[failure.code]
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json' }
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (status === 503) headers['Retry-After'] = RETRY_AFTER
  return {
    status,
    headers: { ...headers, ...failure.headers },
    text: JSON.stringify({
      ...failure.members,
      type: problemType(baseUrl, failure.code),
      title,
      status,
      code: failure.code,
      detail: redactTokens(failure.message),
      request_id: requestId,
      ...(failure.errors === undefined ? {} : { errors: failure.errors.map(quotingNoSecret) }),
    }),
  }
}

/** The form of an error's body, where a protocol of others prescribes another one than RFC 9457. */
export interface ErrorForm {
  contentType: string
  /** Shape of the body, for the OpenAPI document. */
  view: z.ZodType
  /** Whether a request asks for this form, where its route has both. Absent: every request to the route. */
  isFor?: (headers: IncomingHttpHeaders) => boolean
  /** The body. `detail` is the sentence for the caller, without secrets. */
  show(failure: Failure, detail: string): object
}

/** An error as the caller gets it. Status and headers are the same in every form. */
export function formatted(
  failure: Failure,
  form: ErrorForm | undefined,
  { headers, ...place }: { baseUrl: string; requestId: string; headers: IncomingHttpHeaders },
): Problem {
  const problem = problemOf(failure, place)
  if (form === undefined || form.isFor?.(headers) === false) return problem
  const { detail }: { detail: string } = JSON.parse(problem.text)
  return {
    ...problem,
    headers: { ...problem.headers, 'Content-Type': form.contentType },
    text: JSON.stringify(form.show(failure, detail)),
  }
}

function quotingNoSecret({ pointer, code, detail }: FieldError): FieldError {
  return { pointer: redactTokens(pointer), code, detail: redactTokens(detail) }
}

export function problemType(baseUrl: string, code: FailureCode): string {
  return `${baseUrl}/docs/errors#${code}`
}

const MAX_OWN_ID = 200

/** The caller's own id of its request is returned as it came (AuthZEN Authorization API 1.0, 10.1.3). */
export function echoOf(ownId: string): Record<string, string> {
  return ownId.length <= MAX_OWN_ID && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(ownId)
    ? { 'X-Request-ID': ownId }
    : {}
}

// A year, as browsers' own lists of such hosts demand. Without subdomains: they may be others' services.
const STRICT_TRANSPORT = 'max-age=31536000'

/**
 * Sent with every answer. A route's own headers override them, so that a public document may be cached.
 * @param isSecure The public address is https: browsers then never ask for it by http (RFC 6797).
 */
export function commonHeaders(
  requestId: string,
  { path, isSecure }: { path: string; isSecure: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {
    'Request-Id': requestId,
    'Service-Version': SERVICE_VERSION,
    'X-Content-Type-Options': 'nosniff',
    // Uploaded media is served from this origin: a browser that renders it may load and run nothing.
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  }
  if (/^\/(access\/)?v1\//.test(path)) headers['Cache-Control'] = 'no-store'
  if (isSecure) headers['Strict-Transport-Security'] = STRICT_TRANSPORT
  return headers
}
