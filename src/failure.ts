// Every error that a caller can see is a row of this table. `code` never changes; statuses are from the specification
// (Errors) or decided here. `retry` tells a client whether the same request can succeed later.

import type { FieldErrorCode } from './field-errors.ts'

type Retry = 'never' | 'later'

export const FAILURES = {
  invalid_json: { status: 400, title: 'Malformed JSON', retry: 'never' },
  invalid_request: { status: 400, title: 'Invalid request', retry: 'never' },
  authentication_required: { status: 401, title: 'Authentication required', retry: 'never' },
  invalid_api_key: { status: 401, title: 'API key not recognized', retry: 'never' },
  api_key_revoked: { status: 401, title: 'API key revoked', retry: 'never' },
  api_key_expired: { status: 401, title: 'API key expired', retry: 'never' },
  session_required: { status: 401, title: 'Session required', retry: 'never' },
  session_expired: { status: 401, title: 'Session expired', retry: 'never' },
  monthly_cap_exceeded: { status: 402, title: 'Monthly cap exceeded', retry: 'never' },
  ip_not_allowed: { status: 403, title: 'Address not allowed', retry: 'never' },
  insufficient_scope: { status: 403, title: 'Insufficient scope', retry: 'never' },
  key_read_only: { status: 403, title: 'API key only reads', retry: 'never' },
  insufficient_role: { status: 403, title: 'Insufficient role', retry: 'never' },
  csrf_token_invalid: { status: 403, title: 'CSRF token invalid', retry: 'never' },
  account_suspended: { status: 403, title: 'Account suspended', retry: 'never' },
  beta_access_required: { status: 403, title: 'Beta access required', retry: 'never' },
  plan_required: { status: 403, title: 'Another plan required', retry: 'never' },
  sso_required: { status: 403, title: 'Single sign-on required', retry: 'never' },
  sso_login_refused: { status: 403, title: 'Single sign-on refused', retry: 'never' },
  role_limit: { status: 403, title: 'Beyond your role', retry: 'never' },
  approver_not_eligible: { status: 403, title: 'Approver not eligible', retry: 'never' },
  confirmer_not_eligible: { status: 403, title: 'Confirmer not eligible', retry: 'never' },
  signer_mismatch: { status: 403, title: 'Another signer', retry: 'never' },
  cosigner_same_user: { status: 403, title: 'Co-signer is the prescriber', retry: 'never' },
  cosigner_same_npi: { status: 403, title: 'Co-signer has the same NPI', retry: 'never' },
  passkey_required: { status: 403, title: 'Passkey required', retry: 'never' },
  prescriber_excluded: { status: 403, title: 'Prescriber excluded', retry: 'never' },
  prescriber_tier_insufficient: { status: 403, title: 'Prescriber tier insufficient', retry: 'never' },
  clinical_policy_denied: { status: 403, title: 'Clinical policy denies', retry: 'never' },
  environment_mismatch: { status: 403, title: 'Environment mismatch', retry: 'never' },
  account_key_required: { status: 403, title: 'Account key required', retry: 'never' },
  not_found: { status: 404, title: 'Not found', retry: 'never' },
  method_not_allowed: { status: 405, title: 'Method not allowed', retry: 'never' },
  conflict: { status: 409, title: 'Conflict', retry: 'never' },
  invalid_state_transition: { status: 409, title: 'Invalid state transition', retry: 'never' },
  challenge_act_mismatch: { status: 409, title: 'Challenge of another act', retry: 'never' },
  challenge_expired: { status: 409, title: 'Challenge expired', retry: 'never' },
  payload_hash_mismatch: { status: 409, title: 'Another content', retry: 'never' },
  agent_session_ended: { status: 409, title: 'Agent session ended', retry: 'never' },
  agent_session_revoked: { status: 409, title: 'Agent session revoked', retry: 'never' },
  device_revoked: { status: 409, title: 'Device revoked', retry: 'never' },
  agent_held_by_lock: { status: 409, title: 'Agent held by a lock', retry: 'never' },
  agent_suspended: { status: 409, title: 'Agent suspended', retry: 'never' },
  canary_tripped: { status: 409, title: 'Canary tripped', retry: 'never' },
  session_canary_locked: { status: 409, title: 'Session locked', retry: 'never' },
  account_stopped: { status: 409, title: 'Account stopped', retry: 'never' },
  idempotency_in_progress: { status: 409, title: 'Request in progress', retry: 'later' },
  case_already_open: { status: 409, title: 'Case already open', retry: 'never' },
  claim_erased: { status: 409, title: 'Claim erased', retry: 'never' },
  consumer_moved: { status: 409, title: 'Event consumer moved', retry: 'never' },
  external_id_reused: { status: 409, title: 'External id reused', retry: 'never' },
  last_owner: { status: 409, title: 'Last owner', retry: 'never' },
  limit_reached: { status: 409, title: 'Limit reached', retry: 'never' },
  not_ready: { status: 409, title: 'Not ready yet', retry: 'later' },
  text_not_kept: { status: 409, title: 'Text not kept', retry: 'never' },
  approval_already_decided: { status: 409, title: 'Approval already decided', retry: 'never' },
  events_expired: { status: 410, title: 'Events expired', retry: 'never' },
  prescriber_exists: { status: 409, title: 'Prescriber exists', retry: 'never' },
  precondition_failed: { status: 412, title: 'Precondition failed', retry: 'never' },
  payload_too_large: { status: 413, title: 'Payload too large', retry: 'never' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', retry: 'never' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable', retry: 'never' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key reused', retry: 'never' },
  backend_capability_missing: { status: 422, title: 'The model can’t do this', retry: 'never' },
  request_timeout: { status: 408, title: 'Request too slow', retry: 'later' },
  precondition_required: { status: 428, title: 'Precondition required', retry: 'never' },
  rate_limited: { status: 429, title: 'Too many requests', retry: 'later' },
  internal_error: { status: 500, title: 'Internal error', retry: 'later' },
  provider_unavailable: { status: 502, title: 'Identity provider unavailable', retry: 'later' },
  service_unavailable: { status: 503, title: 'Service unavailable', retry: 'later' },
} as const satisfies Record<string, { status: number; title: string; retry: Retry }>

export type FailureCode = keyof typeof FAILURES

/**
 * One finding in a request body. `pointer` is an RFC 6901 JSON pointer, or `?name` for a query parameter, or a header's
 * name.
 */
export interface FieldError {
  pointer: string
  code: FieldErrorCode
  detail: string
}

interface FailureOptions {
  /** For the caller: what happened and what to do. Never a secret, a token or a stack. */
  detail: string
  errors?: FieldError[]
  /** Additional RFC 9457 members, such as `required_scope` or `allowed`. */
  members?: Record<string, unknown>
  headers?: Record<string, string>
  /** For the log only. */
  cause?: unknown
}

/** The one error class. Throw it for what a caller did wrong or must wait for; let programmer errors crash. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly status: number
  readonly errors: FieldError[] | undefined
  readonly members: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(code: FailureCode, options: FailureOptions | string) {
    const given: FailureOptions = typeof options === 'string' ? { detail: options } : options
    super(given.detail, { cause: given.cause })
    this.code = code
    this.status = FAILURES[code].status
    this.errors = given.errors
    this.members = given.members ?? {}
    this.headers = given.headers ?? {}
  }
}

/** Refuses one field, for checks that a schema can't express. */
export function invalidField(pointer: string, code: FieldErrorCode, detail: string): Failure {
  return fieldFailure('invalid_request', { pointer, code, detail })
}

/** Refuses for one finding, under the code of the failure. */
export function fieldFailure(code: FailureCode, error: FieldError): Failure {
  return new Failure(code, { detail: sentenceOf(error), errors: [error] })
}

/**
 * A finding as a sentence for people. A detail is a predicate of the field that it is about, such as `is required`, or a
 * whole sentence, which begins with a capital letter.
 */
export function sentenceOf({ pointer, detail }: Pick<FieldError, 'pointer' | 'detail'>): string {
  const subject = /^\p{Lu}/u.test(detail) ? '' : `${SUBJECTS[pointer] ?? pointer} `
  return `${subject}${detail}${/[.!?]$/.test(detail) ? '' : '.'}`
}

const SUBJECTS: Record<string, string> = { '': 'The body', '?': 'The query' }

// With several findings about one request, the first of these codes that occurs names the failure: the body comes
// before the rows that it names.
const OUTWEIGHING = [
  'environment_mismatch',
  'invalid_request',
  'not_found',
  'claim_erased',
  'external_id_reused',
  'conflict',
] as const satisfies FailureCode[]

function failureOf(code: string): (typeof OUTWEIGHING)[number] {
  return OUTWEIGHING.find((known) => known === code) ?? 'invalid_request'
}

/**
 * One failure for several findings about one request. Its code is the first in `OUTWEIGHING` that occurs among them.
 */
export function refusalOf(errors: readonly FieldError[]): Failure {
  const codes = new Set(errors.map(({ code }) => failureOf(code)))
  const code = OUTWEIGHING.find((known) => codes.has(known)) ?? 'invalid_request'
  return new Failure(code, { detail: errors.map(sentenceOf).join(' '), errors: [...errors] })
}
