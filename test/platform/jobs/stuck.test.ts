// Real processes: a worker that no longer takes what waits says so on its internal port and goes, and is replaced.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { pauseQueue, resumeQueue } from '#src/platform/jobs/operate.ts'
import { type System, startSystem, testedEngines } from '../../support/system.ts'
import { until } from '../../support/until.ts'

const engine = testedEngines().at(-1) ?? 'postgres'

describe('a worker that makes no progress', () => {
  let system: System
  beforeAll(async () => {
    system = await startSystem({
      engine,
      only: ['dispatch', 'attest'],
      // It takes deliveries and gets no further: nothing is claimed, so nothing is renewed either.
      environmentOf: (name, launch): Record<string, string> =>
        name === 'attest' && launch === 1
          ? { STUCK_AFTER_SECONDS: '2', FAILPOINT: 'attest:delivered@hang', ATTEST_CONCURRENCY: '1' }
          : {},
    })
  }, 60_000)
  afterAll(() => system?.close())

  it('says so on its internal port and exits, and the jobs run elsewhere', { timeout: 90_000 }, async () => {
    const { database, scope, supervisor, warnings } = system
    const port = supervisor.internalPorts.attest
    await database.db.tenant(scope, (tx) =>
      enqueue(
        tx,
        'attest',
        scope,
        Array.from({ length: 4 }, (_, index) => ({ payload: { attestationId: `att_${index}` } })),
      ),
    )
    let said = ''
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
      if (response?.status === 503) said = await response.text()
      return said !== ''
    })
    expect(JSON.parse(said).failed).toContain('progress')
    await until(() => warnings.some((line) => /attest ended with 1; starting it again/.test(line)))
    expect(warnings.join('\n')).toMatch(/attest jobs wait, and nothing was finished or renewed/)
    // None of these attestations exist: a worker that is alive says so, and the jobs end.
    await until(
      async () => {
        const rows = await database.owner("SELECT FROM jobs WHERE state = 'dead'")
        return rows.length === 4
      },
      { timeoutMs: 60_000 },
    )
  })
})

describe('a worker whose jobs come in bursts', () => {
  const STUCK_AFTER_SECONDS = 1
  let system: System
  beforeAll(async () => {
    system = await startSystem({
      engine,
      only: ['dispatch', 'attest'],
      environment: { STUCK_AFTER_SECONDS: String(STUCK_AFTER_SECONDS) },
    })
  }, 60_000)
  afterAll(() => system?.close())

  it('is not replaced when its queue is resumed after an idle time', { timeout: 90_000 }, async () => {
    const { database, scope, warnings } = system
    for (let burst = 1; burst <= 4; burst += 1) {
      await pauseQueue(database.db, 'attest')
      await database.db.tenant(scope, (tx) =>
        enqueue(
          tx,
          'attest',
          scope,
          Array.from({ length: 60 }, (_, index) => ({ payload: { attestationId: `att_${index}` } })),
        ),
      )
      const idleSince = performance.now()
      // Bursts at different distances from the watch's checks.
      await until(() => performance.now() - idleSince > STUCK_AFTER_SECONDS * 1_000 + burst * 60)
      await resumeQueue(database.db, 'attest')
      await until(async () => (await database.owner("SELECT FROM jobs WHERE state = 'dead'")).length === burst * 60, {
        timeoutMs: 60_000,
      })
    }
    expect(warnings.filter((line) => /ended with/.test(line))).toEqual([])
  })
})
