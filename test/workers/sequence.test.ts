import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEvents } from '#src/account/events/events.ts'
import { findMoved } from '#src/account/events/rows.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { PRODUCTS } from '#src/catalogue/access.ts'
import { createPager } from '#src/platform/http/page.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { actingIn } from '../support/callers.ts'
import { decisions, makeLedger } from '../support/ledger.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

// At which step a launch of the process dies.
const DEATHS = [
  'sequence:read',
  'sequence:appending',
  'sequence:positioning@2',
  'sequence:appending@3',
  'sequence:read@2',
]

describe('the process sequence', () => {
  let system: System

  beforeAll(async () => {
    system = await startSystem({
      engine: 'postgres',
      only: ['sequence', 'clock'],
      environmentOf: (name, launch): Record<string, string> => {
        const point = name === 'sequence' ? DEATHS[launch - 1] : undefined
        return point === undefined ? {} : { FAILPOINT: point }
      },
    })
  }, 120_000)
  afterAll(() => system?.close())

  it('loses and doubles nothing when it is killed between any two steps, its log is signed, and a reader gets every event once and in order', async () => {
    const { database, scope } = system
    const log = makeLedger(database)
    let recorded = 0
    let emitted = 0
    // A reader of the pull API, from before the first event to after the last death.
    const waits = createPolledWaits({ db: database.db, reason: 'test', find: findMoved })
    const { pull } = createEvents({ db: database.db, waits, pager: createPager({ key: Buffer.alloc(32) }) })
    const seen: { id: string; position: number }[] = []
    let isWhole = false
    const reading = (async () => {
      for (let after = 0; !isWhole || seen.length < emitted; ) {
        const request = { after, limit: 3, waitSeconds: 1 }
        const page = await pull({ ...actingIn(scope), products: PRODUCTS }, request, new AbortController().signal)
        seen.push(...page.events.map((event) => ({ id: event.event_id, position: event.position })))
        after = page.nextAfter
      }
    })()
    const ping = { type: 'ping', data: { webhook_endpoint_id: 'whe_test_x' } } as const
    const deaths = () => system.warnings.filter((line) => /sequence/.test(line)).length
    await until(
      async () => {
        await log.record(scope, decisions(7))
        recorded += 7
        // The first to write is the last to commit.
        const inner = Promise.withResolvers<void>()
        const outer = database.db.tenant(scope, async (tx) => {
          await emit(tx, scope, ping)
          await inner.promise
        })
        await database.db.tenant(scope, (tx) => emit(tx, scope, ping))
        inner.resolve()
        await outer
        emitted += 2
        return deaths() >= DEATHS.length
      },
      { everyMs: 50, what: 'every launch has died' },
    )
    const count = async (text: string) => Number((await database.owner<{ count: string }>(text))[0]?.count)
    await until(async () => (await count('SELECT count(*) FROM ledger_pending')) === 0, { what: 'all have leaves' })
    await until(async () => (await count('SELECT count(*) FROM events WHERE position IS NULL')) === 0, {
      what: 'all have positions',
    })
    expect(await count('SELECT count(*) FROM decisions')).toBe(recorded)
    expect(await count('SELECT count(*) FROM ledger_leaves')).toBe(recorded)
    expect(await count('SELECT max(position) + 1 AS count FROM ledger_leaves')).toBe(recorded)
    expect(await count('SELECT size AS count FROM ledger_heads')).toBe(recorded)
    expect(await count('SELECT max(position) AS count FROM events')).toBe(emitted)
    isWhole = true
    await reading
    waits.close()
    expect(seen.map(({ position }) => position)).toEqual(Array.from({ length: emitted }, (_, index) => index + 1))
    const stored = await database.owner<{ id: string }>('SELECT id FROM events')
    expect(seen.map(({ id }) => id).sort()).toEqual(stored.map(({ id }) => id).sort())
    await until(async () => (await count('SELECT max(size) AS count FROM ledger_checkpoints')) > 0, {
      what: 'clock has signed a checkpoint',
    })
  })
})
