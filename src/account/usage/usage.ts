// What an account has used, its plan and its statements. Only the live environment counts, whatever the environment of
// the caller.

import type { Plan } from '#src/catalogue/access.ts'
import { METERED_NAMES, type MeteredOperation } from '#src/catalogue/metered.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { CountedPage, ListQuery, Pager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type NoticeRow, selectNotices } from './notice-rows.ts'
import type { PaymentProcessor, StatementPayment } from './payments.ts'
import {
  countStatements,
  type MonthRow,
  type OwnAccountRow,
  type StatementRow,
  selectAccount,
  selectMonth,
  selectStatements,
} from './rows.ts'

interface UsageDeps {
  db: Pick<Database, 'readTenant'>
  pager: Pager
  processor: PaymentProcessor
}

export interface OperationUse {
  operation: MeteredOperation
  units: number
  /** Days with any. */
  days: { day: string; units: number }[]
}

export interface MonthUse {
  month: string
  resetsAt: Date
  used: number
  /** Undefined for a month that has ended: the plan of that month is not known. */
  allowance: { plan: Plan; cap: number; isHardCap: boolean; remaining: number; percent: number } | undefined
  operations: OperationUse[]
}

export interface MonthStatement extends StatementRow {
  operations: { operation: MeteredOperation; units: number }[]
  total: number
  processor: string
  payment: StatementPayment | undefined
}

export function createUsage({ db, pager, processor }: UsageDeps) {
  /** @throws {Failure} `not_found` */
  async function account(accountId: string): Promise<{ account: OwnAccountRow; notices: NoticeRow[] }> {
    const [[account], notices] = await db.readTenant<[OwnAccountRow, NoticeRow]>(liveOf(accountId), [
      selectAccount(accountId),
      selectNotices(accountId),
    ])
    if (account === undefined) throw new Failure('not_found', 'No such account.')
    return { account, notices }
  }

  /** @param month Undefined: the current one. @throws {Failure} `not_found` */
  async function month(accountId: string, month?: string): Promise<MonthUse> {
    const [[row], [account]] = await db.readTenant<[MonthRow, OwnAccountRow]>(liveOf(accountId), [
      selectMonth(month),
      selectAccount(accountId),
    ])
    if (row === undefined || account === undefined) throw new Failure('not_found', 'No such account.')
    const capped = row.days.reduce((sum, { units }) => sum + units, 0)
    const operations = METERED_NAMES.map((operation) => {
      const days = row.days.filter((one) => one.operation === operation).map(({ day, units }) => ({ day, units }))
      return { operation, units: days.reduce((sum, { units }) => sum + units, 0), days }
    })
    const used = operations.reduce((sum, { units }) => sum + units, 0)
    const allowance = row.isCurrent ? allowanceOf(account.plan, capped) : undefined
    return { month: row.month, resetsAt: row.resetsAt, used, allowance, operations }
  }

  /** @throws {Failure} `invalid_request` at `?cursor`. */
  async function statements(
    accountId: string,
    query: Pick<ListQuery, 'limit' | 'cursor' | 'include'>,
  ): Promise<CountedPage<MonthStatement>> {
    const binding = { route: 'GET /v1/account/invoices', scope: liveOf(accountId) }
    const before = pager.decode(query.cursor, binding)
    const [rows, [all]] = await db.readTenant<[StatementRow, { count: number }]>(liveOf(accountId), [
      selectStatements(accountId, { before, limit: query.limit + 1 }),
      countStatements(accountId),
    ])
    const page = pager.page(rows, query.limit, ({ month }) => month, binding)
    const payments = await processor.findPayments(
      accountId,
      page.data.map((row) => row.month),
    )
    const data = page.data.map((row) => statementOf(row, processor.name, payments.get(row.month)))
    return { ...page, data, ...(query.include !== undefined && { total_count: all?.count ?? 0 }) }
  }

  return { account, month, statements }
}

export type Usage = ReturnType<typeof createUsage>

function allowanceOf(plan: Plan, used: number) {
  const { operations: cap, isHard: isHardCap } = PLAN_LIMITS[plan].monthly
  const percent = Math.max(0, Math.round((used / cap) * 1_000) / 10)
  return { plan, cap, isHardCap, remaining: Math.max(0, cap - used), percent }
}

function statementOf(row: StatementRow, processor: string, payment: StatementPayment | undefined): MonthStatement {
  const operations = METERED_NAMES.map((operation) => ({ operation, units: row.units[operation] ?? 0 }))
  const total = operations.reduce((sum, { units }) => sum + units, 0)
  return { ...row, operations, total, processor, payment }
}

function liveOf(accountId: string): Scope {
  return { accountId, environment: 'live' }
}
