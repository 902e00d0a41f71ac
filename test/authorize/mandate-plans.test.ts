// Lists of agents, sessions, mandates and schedules at 60,000 rows: each filter reads about as many rows as its page has,
// also where nearly every row is of another kind.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findAgents } from '#src/agents/registry/rows.ts'
import { findAgentSessions } from '#src/agents/registry/session-rows.ts'
import { countCharges, sumByDay } from '#src/authorize/mandates/spend-rows.ts'
import { findExecuted, listSchedules } from '#src/authorize/schedules/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { readingRows } from '../support/rows-read.ts'

const MANY = 60_000
const PAGE = { before: undefined, limit: 21 }
const FEW_ROWS = 100

let test: TestDatabase
let scope: Scope

/** Ids in the order of `number`. */
const idOf = (prefix: string) => `$3 || lpad(to_hex(${prefix}number), 6, '0')`
const few = <R>(table: string, work: (tx: Tx) => Promise<R>) => readingRows(test.db, scope, table, work)
const first = (type: 'agt' | 'ses' | 'sch' | 'mnd' | 'jti', number: number) =>
  `${prefixes.get(type)}${number.toString(16).padStart(6, '0')}`
const prefixes = new Map<string, string>()

async function fill(table: string, type: 'agt' | 'ses' | 'sch' | 'jti', columns: Record<string, string>, more = '') {
  const prefix = prefixes.get(type) ?? newId(type, 'sandbox').slice(0, -6)
  prefixes.set(type, prefix)
  const names = Object.keys(columns)
  await test.owner(
    `INSERT INTO ${table} (account_id, environment, ${names.join(', ')})
     SELECT $1, $2, ${Object.values(columns).join(', ')} FROM generate_series(1, ${MANY}) AS number WHERE $3::text <> '' ${more}`,
    [scope.accountId, scope.environment, prefix],
  )
}

beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  await fill('agents', 'agt', { id: idOf(''), name: `'a'`, owner: `'o'`, created_by: `'service'` })
  const agent = first('agt', 1)
  await fill('agent_sessions', 'ses', {
    id: idOf(''),
    agent_id: `'${agent}'`,
    created_by: `'service'`,
    ended_by: `CASE WHEN number <= 3 THEN 'service' END`,
    ended_at: 'CASE WHEN number <= 3 THEN now() END',
  })
  for (const [number, cause] of [
    [1, 'manual'],
    [2, 'retired'],
    [3, 'retired'],
    [3, 'manual'],
  ] as const) {
    await test.owner(
      `INSERT INTO agent_suspensions (account_id, environment, agent_id, held_by, suspended_at) VALUES ($1, $2, $3, $4, now())`,
      [scope.accountId, scope.environment, first('agt', number), cause],
    )
  }
  prefixes.set('mnd', newId('mnd', 'sandbox').slice(0, -6))
  await fill('mandate_charges', 'jti', {
    jti: idOf(''),
    mandate_id: `'${first('mnd', 0).slice(0, -1)}' || CASE WHEN number <= 20 THEN 'a' ELSE 'b' END`,
    depth: '1',
    period_start: 'now()',
    amount: '1',
    currency: `'EUR'`,
  })
  await fill('schedules', 'sch', {
    id: idOf(''),
    counterparty: `'c'`,
    amount_type: `'max'`,
    amount: '1',
    currency: `'EUR'`,
    frequency: `'daily'`,
    anchor_at: 'now()',
    timezone: `'UTC'`,
    window_seconds: '60',
    occurrences: '9',
    consume_missed: 'false',
    created_by: `'service'`,
  })
  await test.owner(
    `INSERT INTO schedule_cycles (account_id, environment, schedule_id, cycle, jti, amount, currency, executed_at)
     SELECT account_id, environment, id, 1, 'jti' || id, 1, 'EUR', now() FROM schedules`,
  )
  await test.owner('ANALYZE agents, agent_sessions, agent_suspensions, mandate_charges, schedules, schedule_cycles')
}, 120_000)
afterAll(() => test?.close())

describe('agents', () => {
  it.each([
    [['suspended'], [1]],
    [['retired'], [3, 2]],
    [
      ['suspended', 'retired'],
      [3, 2, 1],
    ],
  ] as const)('are found by the status %j among many that are active', async (status, numbers) => {
    const { answer, most } = await few('agents', (tx) => findAgents(tx, scope, { status }, PAGE))
    expect(answer.map(({ id }) => id)).toEqual(numbers.map((number) => first('agt', number)))
    expect(most).toBeLessThan(FEW_ROWS)
  })

  it('that are active are a page of those read', async () => {
    const { answer, most } = await few('agents', (tx) => findAgents(tx, scope, { status: ['active'] }, PAGE))
    expect([answer.length, answer[0]?.id]).toEqual([21, first('agt', MANY)])
    expect(most).toBeLessThan(FEW_ROWS)
  })
})

describe('the sessions of all agents', () => {
  it.each([
    [{}, 21],
    [{ status: 'open' }, 21],
    [{ status: 'ended' }, 3],
    [{ status: 'ended', from: new Date(0) }, 3],
  ] as const)('by %j are a page of those read', async (filter, count) => {
    const { answer, most } = await few('agent_sessions', (tx) => findAgentSessions(tx, scope, filter, PAGE))
    expect(answer).toHaveLength(count)
    expect(most).toBeLessThan(FEW_ROWS)
  })
})

describe('the charges of a mandate', () => {
  it('are read without those of others', async () => {
    const id = `${first('mnd', 0).slice(0, -1)}a`
    const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) }
    const { answer, most } = await few('mandate_charges', (tx) => sumByDay(tx, id, period))
    expect(answer.map(({ executions, committed }) => [executions, Number(committed)])).toEqual([[20, 20]])
    expect(most).toBeLessThan(FEW_ROWS)
    const counted = await few('mandate_charges', (tx) => countCharges(tx, id, { ...period, most: 5 }))
    expect([counted.answer, counted.most]).toEqual([5, 5])
  })
})

describe('the cycles of schedules', () => {
  it('are read for a page of schedules', async () => {
    const through = first('sch', 1_000)
    const { answer, most } = await few('schedules', (tx) => listSchedules(tx, scope, {}, { ...PAGE, through }))
    expect(answer[0]?.id).toBe(through)
    expect(most).toBeLessThan(FEW_ROWS)
    const cycles = answer.flatMap(({ id }) => [1, 2].map((cycle) => ({ scheduleId: id, cycle })))
    const executed = await few('schedule_cycles', (tx) => findExecuted(tx, cycles))
    expect(executed.answer.size).toBe(21)
    expect(executed.most).toBeLessThan(FEW_ROWS)
  })
})
