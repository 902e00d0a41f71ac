// What waits for a caller, part by part. A part is read by those who may call the route that lists its rows, so that the
// overview shows nothing which that route would refuse.

import type { Database, Tx } from '#src/platform/db/database.ts'
import { mayCall } from '#src/platform/http/caller.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { FromProducts } from '../overview.ts'
import {
  COUNT_CAP,
  cappedAt,
  countAgents,
  countCaptures,
  countCases,
  countExpiring,
  countKeys,
  countLocks,
  countScreenings,
  countTraceJobs,
  countWebhooks,
  findStop,
  findUsageNotice,
} from './rows.ts'

interface Part<Found> {
  /** Route that lists the rows. */
  route: string
  read(tx: Tx, caller: Caller, products: FromProducts): Promise<Found>
}

const part = <Found>(route: string, read: Part<Found>['read']): Part<Found> => ({ route, read })

const userOf = ({ principal }: Caller) => (principal.kind === 'session' ? principal.userId : null)

const PARTS = {
  cases: part('GET /v1/cases', (tx, caller) => countCases(tx, userOf(caller))),
  approvals: part('GET /v1/approvals', async (tx, caller, { approvals }) =>
    cappedAt(await approvals.countAwaiting(tx, caller, COUNT_CAP + 1)),
  ),
  captures: part('GET /v1/claims/batches', (tx, { accountId }) => countCaptures(tx, accountId)),
  screenings: part('GET /v1/media/screenings', (tx, { accountId }) => countScreenings(tx, accountId)),
  traces: part('GET /v1/trace/jobs', countTraceJobs),
  webhooks: part('GET /v1/webhook-endpoints', countWebhooks),
  devices: part('GET /v1/admin/devices', countExpiring),
  agents: part('GET /v1/agents', countAgents),
  locks: part('GET /v1/trace/session-locks', countLocks),
  stop: part('GET /v1/intent/stop', findStop),
  keys: part('GET /v1/account/keys', countKeys),
  usage: part('GET /v1/account/usage', findUsageNotice),
}

type Parts = typeof PARTS
export type PartName = keyof Parts
export const PART_NAMES = Object.keys(PARTS) as [PartName, ...PartName[]]

/** A part that the caller may not read is absent. `stop` and `usage` may be null where nothing waits. */
export type WaitingParts = { [Name in PartName]?: Awaited<ReturnType<Parts[Name]['read']>> }

export type OverviewCounts = ReturnType<typeof createWaiting>

export function createWaiting({ db, ...products }: { db: Pick<Database, 'tenant'> } & FromProducts) {
  return {
    async find(caller: Caller): Promise<WaitingParts> {
      const readable = PART_NAMES.filter((name) => mayCall(products.routeOf(PARTS[name].route), caller))
      const found = await db.tenant(
        caller,
        (tx) =>
          Promise.all(readable.map(async (name) => [name, await PARTS[name].read(tx, caller, products)] as const)),
        { isSnapshot: true },
      )
      return Object.fromEntries(found) as WaitingParts
    },
  }
}
