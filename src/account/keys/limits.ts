// How far a new key, or the role that a key grants, may go: no key and no user gives more than they have. A rotation is a grant
// too, because its answer shows the raw successor.

import { type GrantableScope, KEY_SCOPES, type KeyScope, type Product, type Role } from '#src/catalogue/access.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'
import type { Environment } from '#src/platform/ids.ts'
import { endOf, toKey } from './key.ts'
import { isRangeWithin } from './ranges.ts'
import { findKeyById } from './rows.ts'

export interface Grant {
  scopes: readonly GrantableScope[]
  /** null: never. */
  expiresAt: Date | null
  /** null: every address. */
  ipAllow: readonly string[] | null
  /** null: every product. */
  products: readonly Product[] | null
}

/** Who gives: a user by role, or a key by what it is itself. */
export type Giver = { kind: 'session'; role: Role } | KeyGiver
export type KeyGiver = { kind: 'key' } & Grant

// The scopes that a role may give, undefined: any. Who may not touch keys at all is in src/catalogue/permissions.ts.
const DEVELOPERS_GIVE = ['attest', 'verify', 'intent', 'screen'] as const satisfies KeyScope[]
const GIVEN_IN_LIVE: Partial<Record<Role, readonly GrantableScope[]>> = { developer: DEVELOPERS_GIVE }

// The scopes without which a key can't grant a role: those of the keys that its users create, and of the approvals that they
// decide. undefined: any key with the scope admin grants it. Users with the role analyst only read; no key grants owner.
const GRANTED_WITH: Partial<Record<Role, readonly KeyScope[]>> = {
  admin: KEY_SCOPES,
  approver: ['escalate'],
  developer: DEVELOPERS_GIVE,
}

/**
 * Read again under the lock of what it changes: the key may have ended since the request was authenticated.
 * @throws {Failure} `invalid_api_key`, `api_key_revoked`, `api_key_expired`
 */
export async function getKeyGiver(tx: Tx, keyId: string, at: Date): Promise<KeyGiver> {
  const row = await findKeyById(tx, keyId)
  if (row === undefined) throw new Failure('invalid_api_key', 'The service does not know this API key.')
  const { revokedAt, status } = toKey(row, at)
  if (revokedAt !== null) {
    throw new Failure('api_key_revoked', `This API key was revoked at ${revokedAt.toISOString()}.`)
  }
  if (status === 'expired') throw new Failure('api_key_expired', 'This API key has expired.')
  return { kind: 'key', scopes: row.scopes, expiresAt: endOf(row), ipAllow: row.ip_allow, products: row.products }
}

/** Why a key can't grant a role, for people. Empty: it can. A user has no end, works from every address and with every product. */
export function findBeyondRole(own: Grant, role: Role): string[] {
  const needed = GRANTED_WITH[role]
  if (needed === undefined) return []
  const lacking = needed.filter((name) => !own.scopes.includes(name) && !own.scopes.includes('all'))
  return [
    ...(lacking.length === 0 ? [] : [`lacks ${lacking.join(', ')}`]),
    ...(own.expiresAt === null ? [] : [`ends at ${own.expiresAt.toISOString()}`]),
    ...(own.ipAllow === null ? [] : ['is limited to addresses']),
    ...(own.products === null ? [] : [`is narrowed to ${own.products.join(', ')}`]),
  ]
}

/** Everything that the giver can't give: `insufficient_scope` for what the calling key lacks, otherwise `role_limit`. */
export function findBeyond(giver: Giver, grant: Grant, environment: Environment): FieldError[] {
  return giver.kind === 'session' ? beyondRole(giver.role, grant, environment) : beyondKey(giver, grant)
}

/**
 * The one failure for all findings about a new key: what is wrong with it comes before what may not be given.
 * @param scopes As the caller sent them.
 */
export function refuseKey(errors: FieldError[], scopes: readonly GrantableScope[]): Failure {
  const codes = new Set(errors.map(({ code }) => code))
  const lacking = errors.find(({ code }) => code === 'insufficient_scope')
  const invalid = invalidRequest(errors)
  if ([...codes].some((code) => code !== 'insufficient_scope' && code !== 'role_limit')) return invalid
  const options = { detail: invalid.message, errors }
  if (lacking === undefined) return new Failure('role_limit', options)
  const [, index] = /^\/scopes\/(\d+)$/.exec(lacking.pointer) ?? []
  const members = index === undefined ? {} : { required_scope: scopes[Number(index)] }
  return new Failure('insufficient_scope', { ...options, members })
}

function beyondRole(role: Role, { scopes }: Grant, environment: Environment): FieldError[] {
  const given = environment === 'live' ? GIVEN_IN_LIVE[role] : undefined
  if (given === undefined) return []
  const detail = `can't be granted: a ${role} grants live keys only ${given.join(', ')}`
  return scopes.flatMap((name, index) =>
    given.includes(name) ? [] : [{ pointer: `/scopes/${index}`, code: 'role_limit', detail }],
  )
}

function beyondKey(own: Grant, grant: Grant): FieldError[] {
  const errors = grant.scopes.flatMap((name, index) => {
    if (own.scopes.includes(name) || own.scopes.includes('all')) return []
    const detail = `can't be granted: the calling key lacks "${name}", and has ${own.scopes.join(', ')}`
    return [{ pointer: `/scopes/${index}`, code: 'insufficient_scope' as FieldErrorCode, detail }]
  })
  const refuse = (pointer: string, detail: string, code: FieldErrorCode = 'role_limit') =>
    void errors.push({ pointer, code, detail })
  const { expiresAt: end, ipAllow: ranges, products } = own
  if (products !== null && !(grant.products?.every((name) => products.includes(name)) ?? false)) {
    refuse('/products', `must be products of the calling key: ${products.join(', ')}`, 'insufficient_scope')
  }
  if (end !== null && (grant.expiresAt === null || grant.expiresAt > end)) {
    refuse('/expires_at', `must not be after the end of the calling key, ${end.toISOString()}`)
  }
  if (ranges === null) return errors
  if (grant.ipAllow === null) refuse('/ip_allow', 'must name addresses that are within the ip_allow of the calling key')
  for (const range of grant.ipAllow ?? []) {
    if (!isRangeWithin(range, ranges)) refuse('/ip_allow', `${range} is not within the ip_allow of the calling key`)
  }
  return errors
}
