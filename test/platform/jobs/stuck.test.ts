// Real processes: a worker that no longer takes waiting jobs says so on its internal port, exits, and is replaced. One
// that was suspended is not.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { testedEngines } from '../../support/engines.ts'
import { type System, startSystem } from '../../support/system.ts'
import { until } from '../../support/until.ts'

const STUCK_AFTER_SECONDS = 2
let system: System

beforeAll(async () => {
  system = await startSystem({
    engine: testedEngines().at(-1) ?? 'postgres',
    only: ['dispatch', 'attest'],
    environment: { STUCK_AFTER_SECONDS: String(STUCK_AFTER_SECONDS) },
    // The first worker receives deliveries and stops there: it takes no lease, so it renews none either.
    environmentOf: (name, launch): Record<string, string> =>
      name === 'attest' && launch === 1 ? { FAILPOINT: 'attest:delivered@hang', ATTEST_CONCURRENCY: '1' } : {},
  })
})
afterAll(() => system?.close())

/** Jobs of attestations that don't exist: a live worker reports that, and they end dead. */
function addJobs(count: number): Promise<unknown> {
  const { database, scope } = system
  const jobs = Array.from({ length: count }, (_, index) => ({ payload: { attestationId: `att_${index}` } }))
  return database.db.tenant(scope, (tx) => enqueue(tx, 'attest', scope, jobs))
}

async function countJobs(state: string): Promise<number> {
  return (await system.database.owner('SELECT FROM jobs WHERE state = $1', [state])).length
}

it('a worker that makes no progress says so on its internal port and exits, and its jobs run in another', async () => {
  const { supervisor, warnings } = system
  const port = supervisor.internalPorts.attest
  await addJobs(4)
  let said = ''
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
    if (response?.status === 503) said = await response.text()
    return said !== ''
  })
  expect(JSON.parse(said).failed).toContain('progress')
  await until(() => warnings.some((line) => /attest ended with 1; starting it again/.test(line)))
  expect(warnings.join('\n')).toMatch(/attest jobs wait, and nothing was finished or renewed/)
  await until(async () => (await countJobs('dead')) === 4)
})

it('a worker that was suspended while jobs arrived continues and is not replaced', async () => {
  const { supervisor, warnings } = system
  const [deadBefore, warnedBefore] = [await countJobs('dead'), warnings.length]
  for (let round = 1; round <= 2; round += 1) {
    const attest = supervisor.children.get('attest')
    attest?.kill('SIGSTOP')
    const stoppedAt = performance.now()
    await addJobs(60)
    await until(async () => (await countJobs('dispatched')) > 0)
    await until(() => performance.now() - stoppedAt > STUCK_AFTER_SECONDS * 1_500)
    attest?.kill('SIGCONT')
    await until(async () => (await countJobs('dead')) === deadBefore + round * 60)
  }
  expect(warnings.slice(warnedBefore).filter((line) => /ended with/.test(line))).toEqual([])
})
