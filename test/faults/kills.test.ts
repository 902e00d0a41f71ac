// Processes die in the middle of a batch; no line is lost and none has two effects. One system lives through all of it.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { testedEngines } from '../support/engines.ts'
import { differencesFromPlan, eventFaults, makeFleet, settledCount, untilSettled } from '../support/fleet.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const CLAIMS = 100
const redisUrl = inject('redisUrl')
const engine = testedEngines().includes('redis') ? 'redis' : 'postgres'
// A database of Redis of its own: other test files use the same server.
const ownRedis = `${redisUrl}/7`

describe(`a batch of ${CLAIMS} survives`, () => {
  let system: System
  // Batches have different pictures: a picture that an earlier batch showed is an observation that no plan expects.
  let seed = 1

  beforeAll(async () => {
    system = await startSystem({
      engine,
      only: ['web', 'dispatch', 'attest'],
      // The window is twice 8, of which one account gets half: a batch takes at least 13 rounds of dispatch.
      environment: { ATTEST_CONCURRENCY: '8', ...(redisUrl !== null && { REDIS_URL: ownRedis }) },
      // The first dispatcher dies in the first batch, in one of these rounds.
      environmentOf: (name, launch): Record<string, string> =>
        name === 'dispatch' && launch === 1 ? { FAILPOINT: 'dispatch:committed@8' } : {},
    })
  })
  afterAll(() => system?.close())

  async function runBatch(disturb: () => Promise<void>): Promise<void> {
    const fleet = await makeFleet(system, CLAIMS, seed)
    seed += 10
    const { batch_id: batchId, accepted } = await fleet.client.submitBatch(fleet.bodies)
    expect(accepted).toBe(CLAIMS)
    await until(async () => (await settledCount(fleet.client, batchId)) > CLAIMS / 10, {
      everyMs: 5,
      what: 'a tenth of the batch has settled',
    })
    expect(await settledCount(fleet.client, batchId), 'the disturbance must come in the middle').toBeLessThan(CLAIMS)
    await disturb()
    await untilSettled(fleet.client, batchId, CLAIMS)
    expect(await differencesFromPlan(fleet, batchId)).toEqual([])
    expect(await eventFaults(system)).toEqual([])
    await fleet.client.close()
  }

  async function countJobs(condition: string): Promise<number> {
    const [row] = await system.database.owner<{ count: number }>(
      `SELECT count(*)::int AS count FROM jobs WHERE queue = 'attest' AND ${condition}`,
    )
    return row?.count ?? 0
  }

  it('a dispatcher that dies between its commit and the engine', async () => {
    await runBatch(() =>
      until(() => system.warnings.some((line) => /dispatch ended with SIGKILL/.test(line)), {
        what: 'the dispatcher died at its fail point',
      }),
    )
  })

  it('a SIGKILL of its worker', async () => {
    await runBatch(async () => void system.supervisor.children.get('attest')?.kill('SIGKILL'))
    expect(system.warnings.join('\n')).toMatch(/attest ended with SIGKILL/)
  })

  it.skipIf(redisUrl === null)('the loss of everything that Redis held', async () => {
    await runBatch(async () => {
      const redis = new Redis(ownRedis)
      await redis.flushdb()
      redis.disconnect()
    })
  })

  it('a worker that freezes beyond its lease while another takes over', async () => {
    const fencedBefore = await countJobs('fence > 1')
    await runBatch(async () => {
      const frozen = system.supervisor.children.get('attest')
      // Between two jobs it holds no lease, and nothing would have to be taken over.
      const freeze = async () => {
        frozen?.kill('SIGSTOP')
        if ((await countJobs('lease_until IS NOT NULL')) > 0) return true
        frozen?.kill('SIGCONT')
        return false
      }
      await until(freeze, { everyMs: 5, what: 'the worker is frozen while it runs a job' })
      try {
        await system.add('attest')
        await until(async () => (await countJobs("state IN ('queued', 'dispatched')")) === 0, {
          timeoutMs: 100_000,
          everyMs: 100,
          what: 'the second worker has settled the whole batch',
        })
        // Alive again, with results of its own for settled jobs: every one of them must be refused.
      } finally {
        frozen?.kill('SIGCONT')
      }
    })
    expect(await countJobs('fence > 1')).toBeGreaterThan(fencedBefore)
  })
})
