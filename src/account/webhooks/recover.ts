// The work of a recovery: it walks in pages over failed deliveries, or over events, and sends again what the endpoint
// lacks. Each page is one transaction with the cursor after it, so a walk goes on where it stopped, and sends nothing twice.

import { isEntitled } from '#src/account/webhooks/emit.ts'
import { type EventType, isEventType } from '#src/catalogue/events.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { idsBefore, newId, type Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { retentionDaysOf } from '#src/platform/ledger/retention.ts'
import { DAY_MS, HOUR_MS } from '#src/platform/retention.ts'
import { insertDeliveries } from './emit.ts'
import {
  advanceWalk,
  endWalk,
  findEvents,
  findFailed,
  lockWalk,
  type RecoveryWalk,
  reopenWalk,
} from './recovery-rows.ts'
import { MAX_RESENT_ATTEMPTS, sendAgain } from './redelivery.ts'

/** `idsBefore` lies an hour above its time, and the clocks of processes may differ by as much. */
export const SLACK_MS = 2 * HOUR_MS
// Some tens of milliseconds.
const PAGE_ROWS = 500

interface Step {
  /** After the last row that was examined. */
  cursor: string
  examined: number
  sent: number
}

export function createRecover({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    async run({ recoveryId }: { recoveryId: string }, job: RunningJob): Promise<JobOutcome> {
      for (;;) {
        if (job.signal.aborted) return { kind: 'retry', error: 'another worker has the walk', delayMs: 0 }
        if (await db.tenant(job.scope, (tx) => stepOrEnd(tx, recoveryId, job))) return { kind: 'settled' }
        failpoint('deliver:recovering')
      }
    },
    onDead: (tx: Tx, recoveryId: string) => endWalk(tx, recoveryId, 'failed'),
    onRedrive: reopenWalk,
  }
}

/** Whether the walk has ended. */
async function stepOrEnd(tx: Tx, id: string, job: RunningJob): Promise<boolean> {
  const walk = await lockWalk(tx, id)
  const step = walk?.isLive === true ? await PAGES[walk.which](tx, job.scope, walk) : undefined
  if (step !== undefined) await advanceWalk(tx, id, step)
  if (step?.examined === PAGE_ROWS) return false
  await endWalk(tx, id, walk?.isLive === false ? 'cancelled' : 'finished')
  await job.settle(tx)
  return true
}

const PAGES: Record<RecoveryWalk['which'], (tx: Tx, scope: Scope, walk: RecoveryWalk) => Promise<Step>> = {
  async failed(tx, scope, walk) {
    const page = await findFailed(tx, walk, idsBefore('whd', scope.environment, walk.until), PAGE_ROWS)
    const { endpointId } = walk
    const again = page.flatMap(({ id, hasEvent, attempts }) =>
      hasEvent && attempts < MAX_RESENT_ATTEMPTS ? [{ id, endpointId }] : [],
    )
    await sendAgain(tx, scope, again, { isDirect: false })
    return { cursor: page.at(-1)?.id ?? walk.cursor, examined: page.length, sent: again.length }
  },

  async missing(tx, scope, walk) {
    const { endpointId, eventTypes, products } = walk
    const since = new Date(Math.max(walk.since.getTime(), oldestKnown(scope, walk)))
    // Ids are compared first: without both bounds, a page would read all events that are older, or younger.
    const from = idsBefore('evt', scope.environment, new Date(since.getTime() - SLACK_MS))
    const upTo = idsBefore('evt', scope.environment, walk.until)
    const page = await findEvents(tx, { ...walk, since }, { from, upTo, limit: PAGE_ROWS })
    const isWanted = (type: string): type is EventType =>
      isEventType(type) &&
      type !== 'ping' &&
      isEntitled(type, products) &&
      (eventTypes.includes('*') || eventTypes.includes(type))
    const again: { id: string; endpointId: string }[] = []
    const first: Parameters<typeof insertDeliveries>[2][number][] = []
    for (const { id, type, deliveryId, attempts, isMissing } of page) {
      if (!isMissing || !isWanted(type) || attempts >= MAX_RESENT_ATTEMPTS) continue
      if (deliveryId !== null) again.push({ id: deliveryId, endpointId })
      else first.push({ id: newId('whd', scope.environment), eventId: id, eventType: type, endpointId })
    }
    await sendAgain(tx, scope, again, { isDirect: false })
    await insertDeliveries(tx, scope, first, 'bulk')
    return { cursor: page.at(-1)?.id ?? walk.cursor, examined: page.length, sent: again.length + first.length }
  },
}

// No row says whether the endpoint took an event that is older than the retention of deliveries (a week in the
// sandbox). The additional hour outlasts the walk's next page.
function oldestKnown({ environment }: Scope, { plan }: RecoveryWalk): number {
  return Date.now() - retentionDaysOf(plan, environment) * DAY_MS + HOUR_MS
}
