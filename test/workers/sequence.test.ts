import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emit } from '#src/account/webhooks/emit.ts'
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

  it('loses and doubles nothing when it is killed between any two steps, and its log is signed', async () => {
    const { database, scope } = system
    const log = makeLedger(database)
    let recorded = 0
    let emitted = 0
    const deaths = () => system.warnings.filter((line) => /sequence/.test(line)).length
    await until(
      async () => {
        await log.record(scope, decisions(7))
        recorded += 7
        await database.db.tenant(scope, (tx) => emit(tx, scope, { type: 'ping', data: { endpoint_id: 'whe_test_x' } }))
        emitted += 1
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
    await until(async () => (await count('SELECT max(size) AS count FROM ledger_checkpoints')) > 0, {
      what: 'clock has signed a checkpoint',
    })
  })
})
