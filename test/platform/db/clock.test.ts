import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '#src/platform/db/clock.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const MINUTE = 60_000

describe('the clock', () => {
  let test: TestDatabase
  beforeAll(async () => {
    test = await createTestDatabase()
  })
  afterAll(() => test.close())

  it.each([10 * MINUTE, -10 * MINUTE])('equals that of Postgres on a machine that is %i ms off', async (offMs) => {
    const told: number[] = []
    const machine = () => Date.now() + offMs
    const clock = createClock({ db: test.db, machine, onOffset: (offsetMs) => void told.push(offsetMs) })
    await clock.sync()
    await clock.sync()
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(2_000)
    expect(told).toHaveLength(1)
    expect(Math.abs((told[0] ?? 0) + offMs)).toBeLessThan(2_000)
  })

  it("does not correct an accurate machine's clock", async () => {
    const clock = createClock({ db: test.db, machine: () => Date.now() + 300 })
    await clock.sync()
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(Date.now() + 250)
  })

  it('keeps the last value while Postgres is unavailable', async () => {
    let isAway = false
    const db: TestDatabase['db'] = {
      ...test.db,
      readSystem: (...given) => (isAway ? Promise.reject(new Error('away')) : test.db.readSystem(...given)),
    }
    const clock = createClock({ db, machine: () => Date.now() + 10 * MINUTE })
    await clock.sync()
    isAway = true
    await expect(clock.sync()).rejects.toThrow('away')
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(2_000)
  })
})
