// Reports on the spending of mandates, the times of approvals, and tokens that were never used. They read entries of the
// ledger alone, so that a reader who verifies the ledger can verify a report, and a bounded number of them.

import { invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import {
  type ApprovalAges,
  countApprovals,
  countUpTo,
  findAuthorized,
  type Range,
  type SpendKey,
  type SpendRow,
  scanAuthorized,
  sumSpend,
  type UnexecutedRow,
} from './rows.ts'

export const DEFAULT_DAYS = 30
export const MAX_DAYS = 366
/** Executions, or approvals, of one report: each is read as JSON, all of them in about a second. */
export const MAX_ENTRIES = 25_000
/** Authorizations that one page reads. Where nearly all were executed, it may find few. */
const MAX_SCANNED = 20_000
const SCAN_STEP = 2_000
// A report waits for no lock: only an overloaded machine takes this long.
const STATEMENT_TIMEOUT = '10s'
const DAY_MS = 86_400_000

/** Where the age classes of approvals begin, in seconds: at once, 5 minutes, 1, 4 and 24 hours, 3 days. */
export const AGE_CLASSES = [0, 300, 3_600, 14_400, 86_400, 259_200] as const

/** Range as the routes parse it: ISO 8601. */
export interface RangeQuery {
  from?: string | undefined
  to?: string | undefined
}

export interface PagedQuery extends RangeQuery {
  limit: number
  cursor?: string | undefined
}

export type Ranged<Report> = Report & { range: Range }

interface ReportsDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
  maxEntries?: number
  maxScanned?: number
}

export type Reports = ReturnType<typeof createReports>

export function createReports({ db, pager, now, maxEntries = MAX_ENTRIES, maxScanned = MAX_SCANNED }: ReportsDeps) {
  function read<R>(scope: Scope, work: (tx: Tx) => Promise<R>): Promise<R> {
    return db.tenant(
      scope,
      async (tx) => {
        // Sent together.
        const [, report] = await Promise.all([
          tx.query(`SELECT set_config('statement_timeout', $1, true)`, [STATEMENT_TIMEOUT]),
          work(tx),
        ])
        return report
      },
      { isSnapshot: true },
    )
  }

  async function refuseTooMany(tx: Tx, scope: Scope, range: Range, kind: 'execute' | 'approval'): Promise<void> {
    if ((await countUpTo(tx, scope, { ...range, kinds: [kind] }, maxEntries + 1)) <= maxEntries) return
    const what = kind === 'execute' ? 'executions' : 'approvals'
    throw invalidField('?from', 'range_too_large', `must leave at most ${maxEntries} ${what} until \`to\``)
  }

  return {
    /**
     * Returns the spend by mandate, period and currency, the newest first.
     * @throws {Failure} `invalid_request` at `?from` or `?cursor`.
     */
    async spend(
      scope: Scope,
      { mandate_id: mandateId, ...query }: PagedQuery & { mandate_id?: string | undefined },
    ): Promise<Page<SpendRow>> {
      const range = rangeOf(query, now())
      const binding = { route: 'GET /v1/analytics/mandate-spend', scope, query: { ...query, mandateId } }
      const below = keyOf(pager.decode(query.cursor, binding))
      const rows = await read(scope, async (tx) => {
        await refuseTooMany(tx, scope, range, 'execute')
        return sumSpend(tx, scope, range, { mandateId, below, limit: query.limit + 1 })
      })
      return pager.page(rows, query.limit, textOf, binding)
    },

    /** @throws {Failure} `invalid_request` at `?from`. */
    async approvals(scope: Scope, query: RangeQuery): Promise<Ranged<ApprovalAges>> {
      const range = rangeOf(query, now())
      const ages = await read(scope, async (tx) => {
        await refuseTooMany(tx, scope, range, 'approval')
        return countApprovals(tx, scope, range, AGE_CLASSES.slice(1))
      })
      return { range, ...ages }
    },

    /**
     * Authorized and never executed, newest first. A page may have fewer than `limit` and still a next one.
     * @throws {Failure} `invalid_request` at `?from` or `?cursor`.
     */
    async unexecuted(scope: Scope, query: PagedQuery): Promise<Page<UnexecutedRow>> {
      const range = rangeOf(query, now())
      const binding = { route: 'GET /v1/analytics/unexecuted', scope, query: { ...query } }
      const ids: string[] = []
      let below = pager.decode(query.cursor, binding)
      let hasMore = true
      for (let scanned = 0; hasMore && scanned < maxScanned && ids.length < query.limit; ) {
        const limit = Math.min(SCAN_STEP, maxScanned - scanned)
        const page = { below, limit }
        const found = await read(scope, (tx) => scanAuthorized(tx, scope, range, page))
        const open = found.filter(({ isExecuted }) => !isExecuted)
        const taken = open.slice(0, query.limit - ids.length)
        ids.push(...taken.map(({ id }) => id))
        scanned += found.length
        hasMore = found.length === limit || taken.length < open.length
        below = (taken.length < open.length ? taken : found).at(-1)?.id ?? below
      }
      const data = ids.length === 0 ? [] : await read(scope, (tx) => findAuthorized(tx, ids))
      // The cursor stands where reading stopped, which need not be at a row of the answer.
      const { next_cursor } = pager.page(hasMore ? [below, below] : [], 1, (id) => id ?? '', binding)
      return { object: 'list', data, has_more: hasMore, next_cursor }
    },
  }
}

function rangeOf({ from, to }: RangeQuery, now: Date): Range {
  const end = to === undefined ? now : new Date(to)
  const start = from === undefined ? new Date(end.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(from)
  if (start >= end) throw invalidField('?from', 'out_of_range', 'must be before `to`')
  if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS) {
    throw invalidField('?from', 'out_of_range', `must be at most ${MAX_DAYS} days before \`to\``)
  }
  return { from: start, to: end }
}

// A currency and a mandate's id have no space.
function textOf({ mandateId, periodStart, currency }: SpendKey): string {
  return JSON.stringify([mandateId, periodStart, currency])
}

function keyOf(text: string | undefined): SpendKey | undefined {
  if (text === undefined) return undefined
  const [mandateId = '', periodStart = '', currency = ''] = JSON.parse(text) as string[]
  return { mandateId, periodStart, currency }
}
