// Stops all agents of an account in one environment: authorize issues no token, and verify accepts none, until a person
// resumes them. Decisions hold the lock of the stop shared, so that none commits after a stop that it has not read.

import { readActors } from '#src/account/users/actors.ts'
import { lockExclusive, subjectLock } from '#src/platform/db/advisory.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { endStop, findLastStop, insertStop, type StopRow } from './stop-rows.ts'

export interface StopDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
}

/** A stop with who made and who lifted it. */
export type ShownStop = StopRow & { stopper: ActorView; resumer: ActorView | null }

export type Stops = ReturnType<typeof createStops>

export function createStops({ db, ledger }: StopDeps) {
  // What changes nothing (a second stop, a resume where nothing is stopped) is on no record.
  function change(acting: Acting, key: IdempotencyKey | undefined, work: (tx: Tx) => Promise<void>) {
    return db.tenant(acting, async (tx) => {
      await lockExclusive(tx, [subjectLock(acting, 'stop', '')])
      return once(
        tx,
        key,
        async () => {
          await work(tx)
          return readLastStop(tx)
        },
        () => 'stop',
      )
    })
  }

  return {
    /** The last stop, in force or lifted. */
    get: (scope: Scope): Promise<ShownStop | undefined> => db.tenant(scope, (tx) => readLastStop(tx)),

    /** While a stop is in force, it stays as it is. */
    stop(acting: Acting, reason: string, key?: IdempotencyKey): Promise<ShownStop | undefined> {
      return change(acting, key, async (tx) => {
        const row = await insertStop(tx, acting, reason)
        if (row === undefined) return
        await ledger.record(tx, acting, {
          kind: 'stop',
          at: row.stoppedAt,
          actor: actorOf(acting.principal),
          subject: row.id,
          reason: null,
          valid: null,
          inputs: {},
          facts: { reason },
        })
      })
    },

    resume(acting: Acting, key?: IdempotencyKey): Promise<ShownStop | undefined> {
      return change(acting, key, async (tx) => {
        const row = await endStop(tx, acting)
        if (row === undefined) return
        await ledger.record(tx, acting, {
          kind: 'resume',
          at: row.resumedAt ?? row.stoppedAt,
          actor: actorOf(acting.principal),
          subject: row.id,
          reason: null,
          valid: null,
          inputs: {},
        })
      })
    },
  }
}

async function readLastStop(tx: Tx): Promise<ShownStop | undefined> {
  const row = await findLastStop(tx)
  if (row === undefined) return undefined
  const { stoppedBy, resumedBy } = row
  const actors = await readActors(tx, [stoppedBy, resumedBy])
  return { ...row, stopper: actors(stoppedBy), resumer: actors(resumedBy) }
}
