// Closing an account. From then on its keys and its other users are refused and its jobs wait; its owners may still
// read, export, and undo the closure. After 30 days the process clock erases it (erase.ts).

import { recordAudit } from '#src/account/audit/record.ts'
import { checkFreshSession } from '#src/account/sessions/own-sessions.ts'
import { readActors } from '#src/account/users/actors.ts'
import type { QueueName } from '#src/catalogue/queues.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { isOver } from '#src/platform/http/closed.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { holdJobs, releaseJobs } from '#src/platform/jobs/hold.ts'
import type { Log } from '#src/platform/log.ts'
import { type ClosureRow, findClosure, lockClosure, setClosed } from '../keys/account-rows.ts'

interface ClosureDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  log: Log
}

export interface ShownClosure extends ClosureRow {
  closer: ActorView | null
}

export type Closure = ReturnType<typeof createClosure>

const ENVIRONMENTS = ['sandbox', 'live'] as const

export function createClosure({ db, now, log }: ClosureDeps) {
  /** Jobs that are enqueued or tried again later are held by the process clock. */
  async function hold(accountId: string): Promise<void> {
    // The owner may export everything until the erasure begins, which an export must not write into.
    const exceptFor = (erasedAfter: Date): QueueName[] => (isOver(erasedAfter, now()) ? [] : ['export'])
    await inSteps(accountId, (tx) => holdJobs(tx, exceptFor))
  }

  /** Does nothing while the account is closed. */
  async function release(accountId: string): Promise<void> {
    await inSteps(accountId, releaseJobs)
  }

  async function inSteps(accountId: string, step: (tx: Tx) => Promise<boolean>): Promise<void> {
    for (const environment of ENVIRONMENTS) {
      while (await db.tenant({ accountId, environment }, step)) {}
    }
  }

  return {
    find: (scope: Scope): Promise<ShownClosure> => db.tenant(scope, async (tx) => shown(tx, await findClosure(tx))),

    hold,

    release,

    /**
     * @param confirm The name or the id of the account.
     * @throws {Failure} `invalid_request` at `/confirm`; `conflict` when it is closed already; `session_required`, `session_expired`.
     */
    async close(by: Acting, confirm: string, key?: IdempotencyKey): Promise<ShownClosure> {
      const close = async (tx: Tx) => {
        await checkFreshSession(tx, by, now(), 'An account is closed')
        const account = await lockClosure(tx)
        if (confirm !== account.accountId && confirm !== account.name) {
          throw invalidField('/confirm', 'mismatch', 'must be the name or the id of the account')
        }
        if (account.closedAt !== null) throw new Failure('conflict', 'The account is closed already.')
        const row = await setClosed(tx, actorOf(by.principal).id, now())
        const after = { erased_after: row.erasedAfter?.toISOString() ?? null }
        await recordAudit(tx, by, { action: 'account.closed', subjectId: row.accountId, after, isScoped: false })
        return shown(tx, row)
      }
      const row = await db.tenant(by, (tx) => once(tx, key, close, () => 'closure'))
      log.info({ account: by.accountId, actor: actorOf(by.principal).id }, 'account closed')
      await hold(by.accountId)
      return row
    },

    /**
     * Repeated, it releases what an earlier one that failed has left.
     * @throws {Failure} `conflict` when it is not closed, or is being erased; `session_required`, `session_expired`.
     */
    async reopen(by: Acting, key?: IdempotencyKey): Promise<ShownClosure> {
      await release(by.accountId)
      const reopen = async (tx: Tx) => {
        await checkFreshSession(tx, by, now(), 'A closure is undone')
        const { row, closedAt } = await undo(tx)
        const before = { closed_at: closedAt.toISOString() }
        await recordAudit(tx, by, { action: 'account.reopened', subjectId: row.accountId, before, isScoped: false })
        return shown(tx, row)
      }
      const row = await db.tenant(by, (tx) => once(tx, key, reopen, () => 'closure'))
      log.info({ account: by.accountId, actor: actorOf(by.principal).id }, 'account reopened')
      await release(by.accountId)
      return row
    },

    /**
     * For operators, with the same conditions. A suspended account stays suspended.
     * @param record Called in the transaction that opens the account.
     * @throws {Failure} `conflict` as `reopen`.
     */
    async reopenFor(accountId: string, record: (tx: Tx, closedAt: Date) => Promise<void>): Promise<ClosureRow> {
      const row = await db.tenant({ accountId, environment: 'live' }, async (tx) => {
        const { row, closedAt } = await undo(tx)
        await record(tx, closedAt)
        return row
      })
      await release(accountId)
      return row
    },
  }

  /** @throws {Failure} `conflict` */
  async function undo(tx: Tx): Promise<{ row: ClosureRow; closedAt: Date }> {
    const { closedAt, erasedAfter, erasedAt, suspendedAt } = await lockClosure(tx)
    if (closedAt === null) throw new Failure('conflict', 'The account is not closed.')
    // A suspended account is never erased, whatever the time.
    if (erasedAt !== null || (isOver(erasedAfter, now()) && suspendedAt === null)) {
      throw new Failure('conflict', 'The time to undo the closure is over: the account is being erased or is erased.')
    }
    return { row: await setClosed(tx, null, null), closedAt }
  }
}

async function shown(tx: Tx, row: ClosureRow): Promise<ShownClosure> {
  const actor = await readActors(tx, [row.closedBy])
  return { ...row, closer: actor(row.closedBy) }
}
