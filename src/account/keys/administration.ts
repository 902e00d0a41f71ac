// What users and keys do with the keys of their account: create, list, rotate, revoke. A user with the role developer
// sees only what they created. Every change and its audit entry are one transaction.

import { readActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { TimeRange } from '#src/platform/db/id-ranges.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { again, type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import { LAST_MS } from '#src/platform/http/params.ts'
import { type Acting, actorOf, type Principal } from '#src/platform/http/principal.ts'
import { checkId, type Environment } from '#src/platform/ids.ts'
import { countKeys, findPredecessor, hasAdminKey, listFilteredKeys, markRotated } from './administration-rows.ts'
import { auditChanged, auditCreated, auditRotated } from './audit.ts'
import { type Key, type KeyStatus, toKey, type WORKING } from './key.ts'
import { findBeyond, type Giver, getKeyGiver, type KeyGiver, refuseKey } from './limits.ts'
import { checkKeyChange, drawKey, type NewKey } from './new-key.ts'
import { endKey, lockForRevocation, type RevokedKey } from './revocation.ts'
import { changeKey, findKeyById, insertKey, type KeyListRow, lockKeys } from './rows.ts'

/** Per account and environment. Rotated keys that still work don't count: a rotation adds no active key. */
export const MAX_ACTIVE_KEYS = 200
/** Rotated keys that still work, per account and environment. Without a grace period a rotation is always possible. */
export const MAX_ROTATING_KEYS = 200
export const MAX_GRACE_SECONDS = 86_400

interface AdministrationDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
}

/** A key with the one who made it. */
export type ShownKey<Shown extends Key = Key> = Shown & { creator: ActorView | null }

/** Members that are absent stay as they are. */
export interface KeyChange {
  name?: string | undefined
  /** null: every address. */
  ipAllow?: readonly string[] | null | undefined
  /** The versions that the caller expects to change, from `If-Match`; undefined for any. */
  expected?: readonly number[] | undefined
}

export interface KeyListRequest extends CountedQuery, TimeRange {
  status?: readonly (KeyStatus | typeof WORKING)[] | undefined
}

/** Something that the caller should know about a change that was made. */
export interface KeyWarning {
  code: 'last_admin_key'
  detail: string
}

export type KeyAdministration = ReturnType<typeof createKeyAdministration>

export function createKeyAdministration({ db, pager, now }: AdministrationDeps) {
  /**
   * In the environment of `acting`. A key that names no end, no addresses and no products gives its own.
   * @returns the key, and its raw form, which can't be shown again.
   * @throws {Failure} `invalid_request`; `role_limit`, `insufficient_scope`; `limit_reached` beyond `MAX_ACTIVE_KEYS`.
   */
  async function create(
    acting: Acting,
    wanted: Omit<NewKey, 'raw' | 'isAccountBearing'>,
    idempotencyKey?: IdempotencyKey,
  ): Promise<{ key: ShownKey; raw: string }> {
    const at = now()
    const make = async (tx: Tx) => {
      // Sent together, here and below: the connection pipelines the queries.
      const [, giver, active] = await Promise.all([
        lockKeys(tx, acting),
        findGiver(tx, acting.principal, at),
        countKeys(tx, { at, status: ['active'] }),
      ])
      const asked = giver.kind === 'session' ? wanted : { ...limitsOf(giver), ...definedOf(wanted) }
      const { key: raw, row } = drawKey(acting, asked, {
        at,
        createdBy: actorOf(acting.principal).id,
        judge: (grant) => findBeyond(giver, grant, acting.environment),
      })
      if (active >= MAX_ACTIVE_KEYS) {
        throw new Failure('limit_reached', {
          detail: `There can be ${MAX_ACTIVE_KEYS} active keys in an environment. Revoke one first.`,
          members: { maximum: MAX_ACTIVE_KEYS },
        })
      }
      const [, , created] = await Promise.all([insertKey(tx, row), auditCreated(tx, acting, row), getRow(tx, row.id)])
      return { key: await shown(tx, toKey(created, at)), raw }
    }
    return db.tenant(acting, (tx) => once(tx, idempotencyKey, make, ({ key }) => key.id))
  }

  /** Newest first. */
  async function list(acting: Acting, request: KeyListRequest): Promise<CountedPage<ShownKey>> {
    const { status, from, to } = request
    const createdBy = visibleTo(acting.principal)
    const at = now()
    const filter = { at, status, createdBy, from, to }
    const list = { route: 'GET /v1/account/keys', scope: acting, query: { ...request, createdBy } }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => listFilteredKeys(tx, filter, page),
      count: (tx) => countKeys(tx, filter),
      show: (tx, rows) =>
        shownAll(
          tx,
          rows.map((row) => toKey(row, at)),
        ),
    })
  }

  /** @throws {Failure} `environment_mismatch`, `not_found` */
  async function get(acting: Acting, id: string): Promise<ShownKey> {
    checkId(id, 'key', acting.environment)
    return db.tenant(acting, async (tx) => shown(tx, toKey(await getVisible(tx, acting, id), now())))
  }

  /**
   * Takes effect on the key's next request, permanently, and revokes the pending invites that it sent. Revoking again
   * changes nothing.
   * @throws {Failure} `environment_mismatch`, `not_found`
   */
  async function revoke(
    acting: Acting,
    id: string,
    idempotencyKey?: IdempotencyKey,
  ): Promise<{ key: ShownKey<RevokedKey>; warnings: KeyWarning[] }> {
    checkId(id, 'key', acting.environment)
    const at = now()
    return db.tenant(acting, (tx) =>
      again(tx, idempotencyKey, async () => {
        await lockForRevocation(tx, acting)
        const key = await endKey(tx, acting, await getVisible(tx, acting, id), at)
        return { key: await shown(tx, key), warnings: await warningsOf(tx, key, at) }
      }),
    )
  }

  /**
   * Makes a successor with the same name, scopes, addresses and products. The old key works on until the grace period is over.
   * @returns both, and the successor's raw form, which can't be shown again.
   * @throws {Failure} `environment_mismatch`, `not_found`; `role_limit`, `insufficient_scope`;
   * `invalid_state_transition` for a key that is not active; `limit_reached` beyond `MAX_ROTATING_KEYS`.
   */
  async function rotate(
    acting: Acting,
    id: string,
    { graceSeconds }: { graceSeconds: number },
    idempotencyKey?: IdempotencyKey,
  ): Promise<{ key: ShownKey; predecessor: ShownKey; raw: string }> {
    checkId(id, 'key', acting.environment)
    const at = now()
    const make = async (tx: Tx) => {
      const [, giver, found] = await Promise.all([
        lockKeys(tx, acting),
        findGiver(tx, acting.principal, at),
        getVisible(tx, acting, id),
      ])
      const before = toKey(found, at)
      if (before.status !== 'active') throw notActive(before)
      if (graceSeconds > 0 && (await countKeys(tx, { at, status: ['rotating'] })) >= MAX_ROTATING_KEYS) {
        throw new Failure('limit_reached', {
          detail:
            `There can be ${MAX_ROTATING_KEYS} rotated keys in their grace period in an environment. Revoke one of them first, or ` +
            'rotate with grace_period_seconds 0.',
          members: { maximum: MAX_ROTATING_KEYS },
        })
      }
      const isOwn = acting.principal.kind === 'key' && acting.principal.keyId === id
      const { key: raw, row } = drawKey(
        acting,
        {
          name: before.name,
          scopes: before.scopes,
          isAccountBearing: before.isAccountBearing,
          expiresAt: isOwn ? (before.expiresAt ?? undefined) : endOfSuccessor(before, at),
          ipAllow: before.ipAllow ?? undefined,
          products: before.products ?? undefined,
          isReadOnly: before.isReadOnly,
        },
        {
          at,
          createdBy: actorOf(acting.principal).id,
          keepsName: true,
          judge: (grant) => findBeyond(giver, grant, acting.environment),
        },
      )
      const graceExpiresAt = new Date(at.getTime() + graceSeconds * 1_000)
      const [, rotated, created] = await Promise.all([
        insertKey(tx, row),
        markRotated(tx, id, { successorId: row.id, graceExpiresAt }),
        getRow(tx, row.id),
      ])
      if (rotated === undefined) throw notFound(id)
      const [key, predecessor] = [toKey(created, at), toKey(rotated, at)]
      await Promise.all([
        auditRotated(tx, acting, { before, after: predecessor, successor: key }),
        auditCreated(tx, acting, row, id),
      ])
      const [shownKey, shownPredecessor] = await shownPair(tx, key, predecessor)
      return { key: shownKey, predecessor: shownPredecessor, raw }
    }
    return db.tenant(acting, (tx) => once(tx, idempotencyKey, make, ({ key }) => key.id))
  }

  /**
   * Changes the name of a key, or the addresses from which it is accepted, from its next request on. Other addresses take the same authority
   * as creating such a key.
   * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request`; `role_limit`, `insufficient_scope`;
   * `precondition_failed`; `invalid_state_transition` for a key that no longer works.
   */
  async function change(
    acting: Acting,
    id: string,
    wanted: KeyChange,
    idempotencyKey?: IdempotencyKey,
  ): Promise<ShownKey> {
    checkId(id, 'key', acting.environment)
    const at = now()
    const make = async (tx: Tx) => {
      const [, giver, found] = await Promise.all([
        lockKeys(tx, acting),
        findGiver(tx, acting.principal, at),
        getVisible(tx, acting, id),
      ])
      const before = toKey(found, at)
      checkVersion(wanted.expected, before)
      if (before.status === 'revoked' || before.status === 'expired') throw hasEnded(before)
      const ipAllow = wanted.ipAllow === undefined ? before.ipAllow : wanted.ipAllow
      const set = checkKeyChange(
        acting,
        { name: wanted.name ?? before.name, scopes: before.scopes, ipAllow: ipAllow ?? undefined },
        { at, keepsName: wanted.name === undefined },
      )
      if (wanted.ipAllow !== undefined) {
        const beyond = findBeyond(giver, { ...before, ipAllow: set.ipAllow }, acting.environment)
        if (beyond.length > 0) throw refuseKey(beyond, before.scopes)
      }
      const row = await changeKey(tx, id, set)
      if (row === undefined) throw notFound(id)
      const after = toKey(row, at)
      await auditChanged(tx, acting, before, after)
      return shown(tx, after)
    }
    return db.tenant(acting, (tx) => once(tx, idempotencyKey, make, ({ id }) => id))
  }

  /** A key that a rotation made, with the key that it replaced. @throws {Failure} `not_found` */
  async function getRotation(acting: Acting, id: string): Promise<{ key: ShownKey; predecessor: ShownKey }> {
    const at = now()
    return db.tenant(acting, async (tx) => {
      const row = await getVisible(tx, acting, id)
      const predecessor = await findPredecessor(tx, id)
      if (predecessor === undefined) throw notFound(id)
      const [key, before] = await shownPair(tx, toKey(row, at), toKey(predecessor, at))
      return { key, predecessor: before }
    })
  }

  return { create, list, get, change, revoke, rotate, getRotation }
}

async function shownAll<Shown extends Key>(tx: Tx, keys: readonly Shown[]): Promise<ShownKey<Shown>[]> {
  const actor = await readActors(
    tx,
    keys.map(({ createdBy }) => createdBy),
  )
  return keys.map((key) => ({ ...key, creator: actor(key.createdBy) }))
}

async function shown<Shown extends Key>(tx: Tx, key: Shown): Promise<ShownKey<Shown>> {
  const actor = await readActors(tx, [key.createdBy])
  return { ...key, creator: actor(key.createdBy) }
}

async function shownPair(tx: Tx, key: Key, other: Key): Promise<[ShownKey, ShownKey]> {
  const actor = await readActors(tx, [key.createdBy, other.createdBy])
  return [
    { ...key, creator: actor(key.createdBy) },
    { ...other, creator: actor(other.createdBy) },
  ]
}

/**
 * Where a key is created. A key creates keys of its own environment; a session chooses.
 * @throws {Failure} `environment_mismatch`
 */
export function actingInEnvironment(acting: Acting, environment: Environment = acting.environment): Acting {
  if (environment === acting.environment) return acting
  const { principal } = acting
  if (principal.kind === 'key') {
    throw new Failure(
      'environment_mismatch',
      `This is a ${acting.environment} key, and it creates no ${environment} keys.`,
    )
  }
  if (principal.isSandboxOnly) {
    throw new Failure(
      'environment_mismatch',
      'The link of this session was shown and not mailed, so it creates no live keys: sign in with a mailed link, or with one that ' +
        'the operator prints.',
    )
  }
  return { ...acting, environment }
}

/** The creator whose keys a principal may see; undefined: all of the account. */
function visibleTo(principal: Principal): string | undefined {
  return principal.kind === 'session' && principal.role === 'developer' ? principal.userId : undefined
}

async function getVisible(tx: Tx, { principal }: Acting, id: string): Promise<KeyListRow> {
  const row = await getRow(tx, id)
  const creator = visibleTo(principal)
  if (creator !== undefined && row.created_by !== creator) throw notFound(id)
  return row
}

async function getRow(tx: Tx, id: string): Promise<KeyListRow> {
  const row = await findKeyById(tx, id)
  if (row === undefined) throw notFound(id)
  return row
}

async function findGiver(tx: Tx, principal: Principal, at: Date): Promise<Giver> {
  if (principal.kind === 'session') return { kind: 'session', role: principal.role }
  return getKeyGiver(tx, principal.keyId, at)
}

function limitsOf({ expiresAt, ipAllow, products }: KeyGiver): Partial<NewKey> {
  return { expiresAt: expiresAt ?? undefined, ipAllow: ipAllow ?? undefined, products: products ?? undefined }
}

function definedOf<Members extends object>(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members
}

// As long as the old key was made to live: keys of 90 days that are rotated each 60 stay keys of 90 days.
function endOfSuccessor({ createdAt, expiresAt }: Key, at: Date): Date | undefined {
  if (expiresAt === null) return undefined
  return new Date(Math.min(at.getTime() + expiresAt.getTime() - createdAt.getTime(), LAST_MS))
}

async function warningsOf(tx: Tx, { scopes }: Key, at: Date): Promise<KeyWarning[]> {
  const managed = scopes.includes('admin') || scopes.includes('all')
  if (!managed || (await hasAdminKey(tx, at))) return []
  const detail =
    'No active key with the scope admin is left in this environment: from now on a user who signs in, or the operator, ' +
    'creates keys.'
  return [{ code: 'last_admin_key', detail }]
}

function notActive({ status, id }: Key): Failure {
  return new Failure('invalid_state_transition', {
    detail: `Only an active key can be rotated, and ${id} is ${status}.`,
    members: { current_status: status, allowed: ['active'] },
  })
}

function hasEnded({ status, id }: Key): Failure {
  return new Failure('invalid_state_transition', {
    detail: `Only a key that works can be changed, and ${id} is ${status}.`,
    members: { current_status: status, allowed: ['active', 'rotating'] },
  })
}

function notFound(id: string): Failure {
  return new Failure('not_found', `There is no API key ${id}.`)
}
