// Entries as they were recorded when an entry named every result: the ledger has them for years. Everything that reads it
// reads a bounded number of bytes at once. Counted are the bytes that statements and requests answer.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChain } from '#src/authorize/decisions/chain.ts'
import { createLedgerExport } from '#src/authorize/decisions/export.ts'
import { createReports } from '#src/authorize/reports/reports.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { createPager } from '#src/platform/http/page.ts'
import { createLedger, type NewDecision } from '#src/platform/ledger/record.ts'
import type { TestCaller } from '../../support/callers.ts'
import { DECISION, decisions } from '../../support/ledger.ts'
import { type LedgerService, startLedgerService } from './fixture.ts'

const KB = 1_024
/** Of one entry. */
const LARGE = 600 * KB
const ruleResults = Array.from({ length: 4_200 }, (_, n) => ({
  rule_id: `${'r'.repeat(50)}${n}`,
  effect: 'deny',
  matched: true,
  met: false,
  shadow: false,
}))

let service: LedgerService

beforeAll(async () => {
  service = await startLedgerService()
})
afterAll(() => service?.close())

/** Small ones around large ones, a second apart. */
function mixed(small: number, large: number): NewDecision[] {
  const all = [...decisions(small), ...decisions(large, { ruleResults }), ...decisions(small)]
  return all.map((one, second) => ({ ...one, at: new Date(DECISION.at.getTime() + second * 1_000) }))
}

/** A database that knows how much its largest statement answered. */
function countingBytes(db: Database): { db: Database; most(): number } {
  let most = 0
  const counting =
    (run: Tx['query']): Tx['query'] =>
    async (text, values) => {
      const rows = await run<never>(text, values)
      const cells = rows.flatMap((row) => Object.values(row as Record<string, unknown>))
      const sizes = cells.map((cell) => (Buffer.isBuffer(cell) ? cell.length : JSON.stringify(cell ?? '').length))
      most = Math.max(
        most,
        sizes.reduce((sum, size) => sum + size, 0),
      )
      return rows
    }
  const tenant: Database['tenant'] = (scope, work, options) =>
    db.tenant(scope, (tx) => work({ ...tx, query: counting(tx.query), adhoc: counting(tx.adhoc) }), options)
  return { db: { ...db, tenant }, most: () => most }
}

describe('large entries', () => {
  it('end a page of the list, which says that more follow', async () => {
    const caller = await service.makeCaller()
    const made = await service.record(caller, mixed(30, 5))
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { text, json } = await list(caller, cursor)
      expect(text.length).toBeLessThan(512 * KB + 2 * LARGE)
      expect(json.has_more).toBe(json.next_cursor !== null)
      pages.push(json.data.map(({ decision_id: id }) => id))
      cursor = json.next_cursor
    }
    expect(pages.flat()).toEqual(made.toReversed())
    expect(pages.map((page) => page.length)).toEqual([31, 1, 1, 1, 1, 30])
  })

  it('end a page of the export, which is whole all the same', async () => {
    const caller = await service.makeCaller()
    await service.decide(caller, mixed(30, 8))
    const { db, most } = countingBytes(service.services.platform.db)
    const lines: string[] = []
    for await (const line of await createLedgerExport({ db })(caller, undefined)) lines.push(JSON.stringify(line))
    expect(await service.judge(lines)).toMatchObject({ findings: [], size: 68, entries: 68, checkpoints: 1 })
    expect(most()).toBeLessThan(2_048 * KB + 2 * LARGE)
  })

  it('end a page of the check, which finds what was changed in any of them', async () => {
    const caller = await service.makeCaller()
    const ids = await service.decide(caller, mixed(30, 8))
    const { platform } = service.services
    const { db, most } = countingBytes(platform.db)
    const check = createChain({ ...platform, db })
    const whole = { from: 0, limit: 10_000 }
    expect(await check(caller, whole)).toMatchObject({ size: 68, to: 68, next: null, leaves: 68, problems: [] })
    expect(most()).toBeLessThan(2_048 * KB + 2 * LARGE)
    await service.test.owner(`UPDATE decisions SET entry = replace(entry, 'true', 'false') WHERE id = ANY($1)`, [
      [ids[33], ids[37], ids[67]],
    ])
    const { problems } = await check(caller, whole)
    expect(problems.map(({ code, position }) => [code, position])).toEqual([
      ['entry_changed', 33],
      ['entry_changed', 37],
      ['entry_changed', 67],
    ])
  })

  it('end a part of the check at the next multiple of 256 leaves', async () => {
    const caller = await service.makeCaller()
    await service.decide(caller, decisions(600))
    const check = createChain({ ...service.services.platform, maxPartBytes: 10 * KB })
    const parts: unknown[] = []
    for (let from: number | null = 0; from !== null; ) {
      const part = await check(caller, { from, limit: 10_000 })
      parts.push([part.from, part.to, part.leaves, part.checkpoints, part.problems])
      from = part.next
    }
    expect(parts).toEqual([
      [0, 512, 512, 0, []],
      [512, 600, 88, 1, []],
    ])
  })

  it('end a page of those who read decisions with their facts, in both orders', async () => {
    const caller = await service.makeCaller()
    const facts = { text: 'f'.repeat(400 * KB) }
    const made = await service.record(caller, [
      ...mixed(30, 3),
      ...decisions(6, { ruleResults, facts, at: new Date() }),
    ])
    const { platform } = service.services
    const { db, most } = countingBytes(platform.db)
    const ledger = createLedger({ ...platform, db })
    const range = { kind: 'verify', from: undefined, to: undefined } as const
    for (const isNewestFirst of [false, true]) {
      const found: [string, unknown][] = []
      for await (const { entry, facts: open } of ledger.listDecisionsBetween(caller, { ...range, isNewestFirst })) {
        found.push([entry.decision_id, open()])
      }
      const expected = made.map((id, index) => [id, index < 63 ? undefined : facts])
      expect(found).toEqual(isNewestFirst ? expected.toReversed() : expected)
    }
    expect(most()).toBeLessThan(4_096 * KB + 2 * (LARGE + 400 * KB))
  })

  it('are read by the report on unexecuted tokens without their results', async () => {
    const caller = await service.makeCaller()
    const [first, second] = ['authorize', 'verify'] as const
    const inputs = { jti: 'jti_test_1', device_id: 'd' }
    const made = await service.record(
      caller,
      [first, second].map((kind) => ({ ...DECISION, kind, ruleResults, inputs })),
    )
    const { db, most } = countingBytes(service.services.platform.db)
    const { now } = service.services.platform
    const reports = createReports({ db, now, pager: createPager({ key: Buffer.alloc(32) }) })
    const range = { from: '2026-11-22T00:00:00.000Z', to: '2026-11-23T00:00:00.000Z' }
    const { data } = await reports.unexecuted(caller, { ...range, limit: 100 })
    expect(data).toMatchObject([
      { entry: { decision_id: made[0], inputs }, last: { decision_id: made[1], valid: true } },
    ])
    expect(most()).toBeLessThan(4 * KB)
  })
})

interface Listed {
  data: { decision_id: string }[]
  has_more: boolean
  next_cursor: string | null
}

async function list({ key }: TestCaller, cursor: string): Promise<{ text: string; json: Listed }> {
  const query = `?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
  const answer = await fetch(`${service.app.url}/v1/decisions${query}`, { headers: { authorization: `Bearer ${key}` } })
  const text = await answer.text()
  expect(answer.status).toBe(200)
  return { text, json: JSON.parse(text) as Listed }
}
