// Real processes: a worker that no longer takes waiting jobs says so on its internal port, exits, and is replaced.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { type System, startSystem, testedEngines } from '../../support/system.ts'
import { until } from '../../support/until.ts'

const engine = testedEngines().at(-1) ?? 'postgres'

describe('a worker that makes no progress', () => {
  let system: System
  beforeAll(async () => {
    system = await startSystem({
      engine,
      only: ['dispatch', 'attest'],
      // It receives deliveries and stops there: it takes no lease, so it renews none either.
      environmentOf: (name, launch): Record<string, string> =>
        name === 'attest' && launch === 1
          ? { STUCK_AFTER_SECONDS: '2', FAILPOINT: 'attest:delivered@hang', ATTEST_CONCURRENCY: '1' }
          : {},
    })
  })
  afterAll(() => system?.close())

  it('says so on its internal port and exits, and its jobs run in another worker', async () => {
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
    // None of these attestations exist: a live worker reports that, and the jobs end.
    await until(async () => {
      const rows = await database.owner("SELECT FROM jobs WHERE state = 'dead'")
      return rows.length === 4
    }, {})
  })
})

describe('a worker that was suspended while jobs arrived', () => {
  const STUCK_AFTER_SECONDS = 2
  let system: System
  beforeAll(async () => {
    system = await startSystem({
      engine,
      only: ['dispatch', 'attest'],
      environment: { STUCK_AFTER_SECONDS: String(STUCK_AFTER_SECONDS) },
    })
  })
  afterAll(() => system?.close())

  it('continues and is not replaced', async () => {
    const { database, scope, supervisor, warnings } = system
    const count = async (state: string) => (await database.owner('SELECT FROM jobs WHERE state = $1', [state])).length
    for (let round = 1; round <= 2; round += 1) {
      const attest = supervisor.children.get('attest')
      attest?.kill('SIGSTOP')
      const stoppedAt = performance.now()
      await database.db.tenant(scope, (tx) =>
        enqueue(
          tx,
          'attest',
          scope,
          Array.from({ length: 60 }, (_, index) => ({ payload: { attestationId: `att_${index}` } })),
        ),
      )
      await until(async () => (await count('dispatched')) > 0)
      await until(() => performance.now() - stoppedAt > STUCK_AFTER_SECONDS * 1_500)
      attest?.kill('SIGCONT')
      await until(async () => (await count('dead')) === round * 60)
    }
    expect(warnings.filter((line) => /ended with/.test(line))).toEqual([])
  })
})
