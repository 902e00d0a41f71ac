// The small form: real processes, an attack by another account, a kill of each kind, Redis killed, Postgres restarted
// during the load, while two insurers submit, cancel and submit again. The large one is `npm run faults`.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { check } from '../../faults/check.ts'
import { measure } from '../../faults/figures.ts'
import { ofEachKind, planFaults, planSmall } from '../../faults/plan.ts'
import { runFaults } from '../../faults/run.ts'
import { hasRedis } from '../../faults/stores.ts'

const SEED = 1
const engine = hasRedis() ? 'redis' : 'postgres'
const directory = mkdtempSync(join(tmpdir(), 'countersign-faults-'))
// As root, Postgres runs as another user. Where that one can't enter, it gets a folder that outlives the test.
chmodSync(directory, 0o711)

afterAll(() => {
  if (!process.env.KEEP) rmSync(directory, { recursive: true, force: true })
})

it('the service keeps every invariant while each kind of process, Redis and Postgres die', {
  timeout: 400_000,
}, async () => {
  const faults = planSmall(SEED, engine)
  const { evidence, injected, left } = await runFaults({
    engine,
    seed: SEED,
    faults,
    directory,
    processes: { ...ofEachKind(1), attest: 2 },
    accounts: 2,
    openTarget: 60,
    batchSize: 30,
    pauseMs: 800,
    batchPauseMs: 1_500,
    maxCaptures: 1_000,
    gapMs: 1_000,
    calmMs: 1_500,
    pace: 'overlapping',
    isWeighed: false,
    say: () => {},
  })
  expect(await check(evidence)).toEqual([])
  expect({ injected, left }).toEqual({ injected: faults.length, left: 0 })

  const figures = measure(evidence)
  expect(figures.accepted).toBeGreaterThan(100)
  expect(figures.deliveries).toBeGreaterThan(100)
  expect(evidence.visited.length).toBeGreaterThan(0)
  // Some of what was executed was given back.
  const { executed, released, mandates } = evidence.budgets
  expect(executed.length).toBeGreaterThan(10)
  expect(released.length).toBeGreaterThan(0)
  expect(mandates.length).toBeGreaterThan(0)
  const { pulled, moved, waited } = evidence.consumers
  expect(pulled.filter(({ positions }) => positions.length > 0).length).toBeGreaterThan(5)
  expect(moved.length).toBeGreaterThan(0)
  expect(waited.filter(({ isGuest, sawEvent }) => !isGuest && sawEvent).length).toBeGreaterThan(0)
  expect(waited.filter(({ isGuest }) => isGuest).length).toBeGreaterThan(0)
  const { answered, counted, locks } = evidence.inferences
  expect(answered.filter(({ isWithheld }) => !isWithheld).length).toBeGreaterThan(0)
  expect([counted.length > 0, locks.length > 0]).toEqual([true, true])
  // Attributions and diffs were made, and in live counted, while their workers died.
  const { works, counted: countedWorks, shown } = evidence.attributions
  expect(new Set(works.map(({ id }) => id.slice(0, 4)))).toEqual(new Set(['job_', 'dif_']))
  expect([countedWorks.length > 0, shown.length > 0]).toEqual([true, true])
  // The faults had an effect: without one the run would prove nothing.
  expect(figures.unanswered + figures.unavailable.answers).toBeGreaterThan(0)
  expect(figures.unavailable).toMatchObject({ withoutRetryAfter: 0, other5xx: 0 })
})

it('a plan has the same faults for the same seed, and the ones with a bar for any seed', () => {
  const plan = (seed: number) => planFaults({ seed, minutes: 8, engine: 'redis' })
  expect(plan(7)).toEqual(plan(7))
  expect(plan(8)).not.toEqual(plan(7))
  for (const seed of [1, 2, 3]) {
    const names = planFaults({ seed, minutes: 3, engine: 'redis' }).map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        'kill',
        'rolling',
        'redis-kill',
        'redis-flush',
        'postgres-restart',
        'attack',
      ] satisfies typeof names),
    )
  }
})
