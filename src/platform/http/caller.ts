// Who calls, and whether they may. The key alone decides: account, environment, scopes; no field of a request adds to
// it. Order (no step reveals anything about the next): key -> suspension of its account -> environment of the path's ids
// -> scope -> account-bearing.

import type { IncomingMessage } from 'node:http'
import type { GrantableScope, KeyScope, Plan, Product } from '#src/catalogue/access.ts'
import { Failure } from '#src/failure.ts'
import { requestActivity } from '#src/platform/bulk-pace.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { Caller, Route } from './endpoint.ts'
import { hasScope, type Principal } from './principal.ts'

/** What the database knows of a key, valid or not. */
export interface KeyRow {
  keyId: string
  accountId: string
  environment: Environment
  scopes: readonly GrantableScope[]
  isAccountBearing: boolean
  plan: Plan
  products: readonly Product[]
  expiresAt: Date | undefined
  revokedAt: Date | undefined
  /** Of the key's account. */
  suspendedAt: Date | undefined
}

export type FindKey = (rawKey: string) => Promise<KeyRow | undefined>

// Our keys have 41 characters; a configured key may be longer.
const MAX_KEY_LENGTH = 256
// RFC 6750 2.1, wider: every printable value is looked up, and not found.
const BEARER = /^bearer +([\x21-\x7e]+)$/i
const SCOPED_ID = /^[a-z]{3}_(test|live)_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/**
 * @throws {Failure} `invalid_request` (two different keys), `authentication_required`, `invalid_api_key`,
 * `api_key_revoked`, `api_key_expired`, `account_suspended`.
 */
export function createAuthenticator({ findKey, now = () => new Date() }: { findKey: FindKey; now?: () => Date }) {
  return async (req: IncomingMessage): Promise<Caller> => {
    const row = await findKey(readKey(req))
    if (row === undefined)
      throw new Failure(
        'invalid_api_key',
        'This API key is not known here. Compare it with where you got it: each deployment has keys of its own.',
      )
    if (row.revokedAt !== undefined) {
      throw new Failure('api_key_revoked', `This API key was revoked at ${row.revokedAt.toISOString()}.`)
    }
    if (row.expiresAt !== undefined && row.expiresAt <= now()) {
      throw new Failure('api_key_expired', `This API key expired at ${row.expiresAt.toISOString()}.`)
    }
    if (row.suspendedAt !== undefined) {
      throw new Failure(
        'account_suspended',
        `This account was suspended at ${row.suspendedAt.toISOString()}. Ask the operator of the service.`,
      )
    }
    const { keyId, scopes, accountId, environment, isAccountBearing, plan, products } = row
    requestActivity.note(accountId)
    return { accountId, environment, principal: { kind: 'key', keyId, scopes }, isAccountBearing, plan, products }
  }
}

/** @throws {Failure} `environment_mismatch`, `insufficient_scope`, `insufficient_role`, `account_key_required`. */
export function authorize(
  route: Pick<Route, 'scope' | 'needsAccountKey'>,
  caller: Caller,
  params: Record<string, string>,
): void {
  const word = caller.environment === 'live' ? 'live' : 'test'
  for (const value of Object.values(params)) {
    const named = SCOPED_ID.exec(value)?.[1]
    if (named !== undefined && named !== word) {
      throw new Failure(
        'environment_mismatch',
        `The id is of the ${named} environment, and this is a ${word} key: use a key that begins with svc_${named}_.`,
      )
    }
  }
  const { scope } = route
  if (scope !== undefined && !hasScope(caller.principal, scope)) throw lacking(scope, caller.principal)
  if (route.needsAccountKey === true && !caller.isAccountBearing) {
    throw new Failure(
      'account_key_required',
      'The publishable sandbox keys share one account and can not do this: use a key of an account of your own.',
    )
  }
}

// No route names the roles that it admits, so a session may not use those that take a key.
function lacking(scope: KeyScope, principal: Principal): Failure {
  if (principal.kind === 'session') {
    return new Failure('insufficient_role', `This address takes an API key with the scope "${scope}", and no session.`)
  }
  return new Failure('insufficient_scope', {
    detail: `This API key lacks the scope "${scope}"; it has ${principal.scopes.join(', ')}.`,
    members: { required_scope: scope },
  })
}

/**
 * Reads every place where a key may stand, including repeated headers: a proxy in front may use a different one than we
 * would. Exported for tests.
 */
export function readKey(req: Pick<IncomingMessage, 'headersDistinct'>): string {
  const keys = new Set<string>()
  for (const value of req.headersDistinct.authorization ?? []) {
    const match = BEARER.exec(value.trim())
    if (match?.[1] === undefined) throw unauthenticated('The Authorization header must be "Bearer <API_KEY>".')
    keys.add(match[1])
  }
  for (const value of req.headersDistinct['x-api-key'] ?? []) {
    if (value.trim() === '') throw unauthenticated('The X-API-Key header is empty.')
    keys.add(value.trim())
  }
  const [key] = keys
  if (key === undefined) {
    throw unauthenticated('Send an API key: "Authorization: Bearer <API_KEY>" or "X-API-Key: <API_KEY>".')
  }
  if (keys.size > 1) {
    throw new Failure('invalid_request', {
      detail: 'The request carries two different API keys.',
      errors: [
        { pointer: 'X-API-Key', code: 'conflicting_keys', detail: 'must be the key of the Authorization header' },
      ],
    })
  }
  if (key.length > MAX_KEY_LENGTH)
    throw new Failure(
      'invalid_api_key',
      'This API key is not known here. Compare it with where you got it: each deployment has keys of its own.',
    )
  return key
}

function unauthenticated(detail: string): Failure {
  return new Failure('authentication_required', detail)
}
