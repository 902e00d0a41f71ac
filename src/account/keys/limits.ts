// How far a new key may go: no key and no user gives more than they have. A rotation is a grant too, because its answer
// shows the raw successor.

import type { GrantableScope, Role } from '#src/catalogue/access.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import type { Environment } from '#src/platform/ids.ts'
import { isRangeWithin } from './ranges.ts'

export interface Grant {
  scopes: readonly GrantableScope[]
  /** null: never. */
  expiresAt: Date | null
  /** null: every address. */
  ipAllow: readonly string[] | null
}

/** Who gives: a user by role, or a key by what it is itself. */
export type Giver = { kind: 'session'; role: Role } | ({ kind: 'key' } & Grant)

// The scopes that a role may give, undefined: any. Who may not touch keys at all is in src/catalogue/permissions.ts.
const GIVEN_IN_LIVE: Partial<Record<Role, readonly GrantableScope[]>> = {
  developer: ['attest', 'verify', 'intent', 'screen'],
}

/**
 * @throws {Failure} `role_limit`; `insufficient_scope` for scopes that the calling key lacks.
 */
export function checkGrant(giver: Giver, grant: Grant, environment: Environment): void {
  if (giver.kind === 'session') checkRole(giver.role, grant, environment)
  else checkKey(giver, grant)
}

function checkRole(role: Role, { scopes }: Grant, environment: Environment): void {
  const given = environment === 'live' ? GIVEN_IN_LIVE[role] : undefined
  if (given === undefined) return
  const errors = scopes.flatMap((name, index) => {
    const detail = `a ${role} gives live keys only ${given.join(', ')}`
    return given.includes(name) ? [] : [{ pointer: `/scopes/${index}`, code: 'role_limit', detail }]
  })
  if (errors.length === 0) return
  throw beyond(`The role ${role} can't give a live key these scopes; it can give ${given.join(', ')}.`, errors)
}

function checkKey(own: Grant, grant: Grant): void {
  const lacking = grant.scopes.filter((name) => !own.scopes.includes(name) && !own.scopes.includes('all'))
  if (lacking.length > 0) {
    throw new Failure('insufficient_scope', {
      detail: `This API key can't give what it lacks: ${lacking.join(', ')}. It has ${own.scopes.join(', ')}.`,
      errors: lacking.map((name) => {
        const detail = `the calling key lacks the scope "${name}"`
        return { pointer: `/scopes/${grant.scopes.indexOf(name)}`, code: 'insufficient_scope', detail }
      }),
      members: { required_scope: lacking[0] },
    })
  }
  const { expiresAt: end, ipAllow: ranges } = own
  if (end !== null && (grant.expiresAt === null || grant.expiresAt > end)) {
    const detail = `must not be after the end of the calling key, ${end.toISOString()}`
    throw beyond(`The new key would outlive the calling key, which ends at ${end.toISOString()}.`, [
      { pointer: '/expires_at', code: 'role_limit', detail },
    ])
  }
  if (ranges === null) return
  const wider = grant.ipAllow?.filter((range) => !isRangeWithin(range, ranges))
  if (wider?.length === 0) return
  throw beyond(
    'The new key would be accepted from more addresses than the calling key.',
    (wider ?? []).map((range) => {
      const detail = `${range} is not within the ip_allow of the calling key`
      return { pointer: '/ip_allow', code: 'role_limit', detail }
    }),
  )
}

function beyond(detail: string, errors: FieldError[]): Failure {
  return new Failure('role_limit', { detail, ...(errors.length > 0 && { errors }) })
}
