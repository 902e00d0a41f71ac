// Writes the incident report of each day that has ended, and shows reports. A report is written once and never changes.

import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { reportOf } from './report.ts'
import {
  type DueReport,
  findDueReports,
  findReport,
  type IncidentReportRow,
  insertReport,
  listEntriesOf,
  listReports,
} from './rows.ts'

interface IncidentsDeps {
  db: Pick<Database, 'tenant' | 'system'>
  pager: Pager
  now(): Date
}

const DAY_MS = 86_400_000
/** Transactions that began before midnight have committed by then. */
const SETTLE_MS = 10 * 60_000
/** Days that are made up for after the process stood still. */
const DAYS_BACK = 7
/** Reports of one round of the task. */
const REPORTS = 500

export type Incidents = ReturnType<typeof createIncidents>

export function createIncidents({ db, pager, now }: IncidentsDeps) {
  async function write({ day, ...scope }: DueReport): Promise<void> {
    const from = new Date(`${day}T00:00:00.000Z`)
    const to = new Date(from.getTime() + DAY_MS)
    await db.tenant(scope, async (tx) => {
      const report = reportOf(await listEntriesOf(tx, scope, { from, to }))
      await insertReport(tx, scope, { day, report, createdAt: now() })
    })
  }

  return {
    /** Writes what is missing, also for days on which nothing happened. Returns how many reports. */
    async writeDue(signal: AbortSignal): Promise<number> {
      const last = now().getTime() - SETTLE_MS - DAY_MS
      const days = [dayOf(last - (DAYS_BACK - 1) * DAY_MS), dayOf(last)] as const
      const due = await db.system('incident reports that are due', (tx) => findDueReports(tx, days, { limit: REPORTS }))
      let written = 0
      for (const one of due) {
        if (signal.aborted) break
        await write(one)
        written += 1
      }
      return written
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: PageQuery): Promise<CountedPage<IncidentReportRow>> {
      return listPage(
        { db, pager },
        { route: 'GET /v1/clinical/incident-reports', scope, query },
        { rows: (tx, page) => listReports(tx, scope, page), keyOf: ({ day }: IncidentReportRow) => day },
      )
    },

    /** @throws {Failure} `not_found`. */
    async get(scope: Scope, day: string): Promise<IncidentReportRow> {
      const row = await db.tenant(scope, async (tx) => (isDay(day) ? findReport(tx, scope, day) : undefined))
      if (row === undefined) throw new Failure('not_found', `There is no incident report of the day ${day}.`)
      return row
    },
  }
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00.000Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(ms) && dayOf(ms) === text
}
