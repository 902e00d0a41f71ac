// Tokens of directories: 256 random bits, shown once, of which the database knows the SHA-256. Two of an account are live, so that one
// can be replaced without an interruption.

import { randomBytes } from 'node:crypto'
import { recordAudit } from '#src/account/audit/record.ts'
import { createLookup } from '#src/account/keys/lookup.ts'
import { readActors } from '#src/account/users/actors.ts'
import { lockTeam } from '#src/account/users/team-rows.ts'
import { Failure } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import type { FindDirectory } from '#src/platform/http/caller.ts'
import { closureOf } from '#src/platform/http/closed.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  createdBetween,
  inBothEnvironments,
  type ListQuery,
  listPage,
  type Pager,
} from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import {
  countLive,
  countTokens,
  findToken,
  insertToken,
  listTokens,
  markRevoked,
  type ScimToken,
  selectByTokens,
  type TokenLookupRow,
  touchToken,
} from './rows.ts'

const MAX_LIVE = 2
const TOUCH_AFTER_MS = 60_000
const TOKEN = /^svc_scim_[A-Za-z0-9_-]{43}$/

export type ShownToken = ScimToken & { creator: ActorView }

interface TokensDeps {
  db: Pick<Database, 'tenant' | 'system' | 'readSystem'>
  pager: Pager
  now: () => Date
  /** Called when `last_used_at` could not be written; requests don't wait for it. */
  onError: (error: unknown) => void
}

export type ScimTokens = ReturnType<typeof createScimTokens>

export function createScimTokens({ db, pager, now, onError }: TokensDeps) {
  const lookUp = createLookup<TokenLookupRow>(db, 'directory look-up', selectByTokens)
  const touching = new Map<string, Promise<void>>()

  async function showAll(tx: Tx, tokens: readonly ScimToken[]): Promise<ShownToken[]> {
    const actor = await readActors(
      tx,
      tokens.map(({ createdBy }) => createdBy),
    )
    return tokens.map((token) => ({ ...token, creator: actor(token.createdBy) }))
  }

  /** @throws {Failure} `not_found` */
  async function get(scope: Scope, id: string): Promise<ShownToken> {
    return db.tenant(scope, (tx) => getIn(tx, scope.accountId, id))
  }

  async function getIn(tx: Tx, accountId: string, id: string): Promise<ShownToken> {
    const found = await findToken(tx, accountId, id)
    const [shown] = found === undefined ? [] : await showAll(tx, [found])
    if (shown !== undefined) return shown
    throw new Failure('not_found', 'There is no such token: GET /v1/auth/scim-tokens lists them.')
  }

  /** @throws {Failure} `limit_reached` */
  async function create(by: Acting, key: IdempotencyKey | undefined): Promise<ShownToken & { token: string }> {
    const { accountId } = by
    const token = `svc_scim_${randomBytes(32).toString('base64url')}`
    const make = async (tx: Tx): Promise<string> => {
      await lockTeam(tx, accountId)
      if ((await countLive(tx, accountId)) >= MAX_LIVE) {
        throw new Failure('limit_reached', {
          detail: `An account has at most ${MAX_LIVE} live tokens of directories: revoke one first.`,
          members: { maximum: MAX_LIVE },
        })
      }
      const id = newAccountId('sct')
      const row = { id, last4: token.slice(-4), createdBy: actorOf(by.principal).id, createdAt: now() }
      await insertToken(tx, { ...row, accountId, tokenHash: sha256(token) })
      await recordAudit(tx, by, { action: 'scim_token.created', subjectId: id, isScoped: false })
      return id
    }
    return db.tenant(by, async (tx) => {
      const id = await once(tx, key, make, (made) => made)
      return { ...(await getIn(tx, accountId, id)), token }
    })
  }

  /** Newest first. */
  async function list(caller: Scope, query: ListQuery): Promise<CountedPage<ShownToken>> {
    const filter = { accountId: caller.accountId, ...createdBetween(query) }
    const list = { ...inBothEnvironments(caller), route: 'GET /v1/auth/scim-tokens', query }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => listTokens(tx, filter, page),
      count: (tx) => countTokens(tx, filter),
      show: showAll,
    })
  }

  /** Revoking a revoked one changes nothing. @throws {Failure} `not_found` */
  async function revoke(by: Acting, id: string, key: IdempotencyKey | undefined): Promise<ShownToken> {
    const { accountId } = by
    const end = async (tx: Tx): Promise<string> => {
      const found = await getIn(tx, accountId, id)
      if (found.revokedAt === null) {
        await markRevoked(tx, accountId, id, now())
        await recordAudit(tx, by, { action: 'scim_token.revoked', subjectId: id, isScoped: false })
      }
      return id
    }
    return db.tenant(by, async (tx) => getIn(tx, accountId, await once(tx, key, end, (ended) => ended)))
  }

  const find: FindDirectory = async (token) => {
    const row = TOKEN.test(token) ? await lookUp(sha256(token)) : undefined
    if (row === undefined) return undefined
    if (row.revoked_at === null) noteUse(row, now())
    return {
      tokenId: row.id,
      accountId: row.account_id,
      plan: row.plan,
      products: row.products,
      closure: closureOf(row),
      suspendedAt: row.suspended_at ?? undefined,
      isRevoked: row.revoked_at !== null,
    }
  }

  function noteUse(row: TokenLookupRow, at: Date): void {
    const isRecent = row.last_used_at !== null && at.getTime() - row.last_used_at.getTime() < TOUCH_AFTER_MS
    if (isRecent || touching.has(row.id)) return
    const written = db
      .system('directory use', (tx) => touchToken(tx, row, at), { isDurable: false })
      .catch(onError)
      .finally(() => touching.delete(row.id))
    touching.set(row.id, written)
  }

  return {
    create,
    get,
    list,
    revoke,
    find,
    /** Resolves when every noted use is written; for an ordered shutdown. */
    settle: async () => void (await Promise.all(touching.values())),
  }
}
