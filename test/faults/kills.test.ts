// Processes die in the middle of a batch; no line is lost and none has two effects.

import { Redis } from 'ioredis'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { differencesFromPlan, eventFaults, makeFleet, settledCount, untilSettled } from '../support/fleet.ts'
import { type System, startSystem, testedEngines } from '../support/system.ts'
import { until } from '../support/until.ts'

const CLAIMS = 500
const redisUrl = inject('redisUrl')
const engine = testedEngines().includes('redis') ? 'redis' : 'postgres'

describe('a batch of 500 survives', () => {
  let system: System | undefined
  afterEach(async () => {
    await system?.close()
    system = undefined
  })

  async function runBatch(running: System, disturb: (settled: number) => Promise<void>): Promise<void> {
    const fleet = await makeFleet(running, CLAIMS)
    const { batch_id: batchId, accepted } = await fleet.client.submitBatch(fleet.bodies)
    expect(accepted).toBe(CLAIMS)
    await until(async () => (await settledCount(fleet.client, batchId)) > CLAIMS / 10, {
      everyMs: 5,
      what: 'a tenth of the batch has settled',
    })
    const settled = await settledCount(fleet.client, batchId)
    expect(settled, 'the disturbance must come in the middle').toBeLessThan(CLAIMS)
    await disturb(settled)
    await untilSettled(fleet.client, batchId, CLAIMS)
    expect(await differencesFromPlan(fleet, batchId)).toEqual([])
    expect(await eventFaults(running)).toEqual([])
    await fleet.client.close()
  }

  it('a SIGKILL of its worker', { timeout: 150_000 }, async () => {
    const running = await startSystem({ engine })
    system = running
    await runBatch(running, async () => {
      running.supervisor.children.get('attest')?.kill('SIGKILL')
    })
    expect(running.warnings.join('\n')).toMatch(/attest ended with SIGKILL/)
  })

  it('a dispatcher that dies between its commit and the engine', { timeout: 150_000 }, async () => {
    const running = await startSystem({
      engine,
      environmentOf: (name, launch): Record<string, string> =>
        name === 'dispatch' && launch === 1 ? { FAILPOINT: 'dispatch:committed@8' } : {},
    })
    system = running
    await runBatch(running, async () => {
      await until(() => running.warnings.some((line) => /dispatch ended with SIGKILL/.test(line)), {
        what: 'the dispatcher died at its fail point',
      })
    })
  })

  it.skipIf(redisUrl === null)('a FLUSHALL', { timeout: 150_000 }, async () => {
    const running = await startSystem({ engine: 'redis' })
    system = running
    await runBatch(running, async () => {
      const redis = new Redis(redisUrl ?? '')
      await redis.flushall()
      redis.disconnect()
    })
  })

  it('a worker that freezes beyond its lease while another takes over', { timeout: 150_000 }, async () => {
    const running = await startSystem({ engine })
    system = running
    await runBatch(running, async () => {
      const frozen = running.supervisor.children.get('attest')
      frozen?.kill('SIGSTOP')
      try {
        await running.add('attest')
        await until(
          async () => {
            const [row] = await running.database.owner<{ count: string }>(
              "SELECT count(*) FROM jobs WHERE queue = 'attest' AND state IN ('queued', 'dispatched', 'running')",
            )
            return Number(row?.count) === 0
          },
          { timeoutMs: 60_000, everyMs: 100, what: 'the second worker has settled the whole batch' },
        )
        // Alive again, with results of its own for settled jobs: every one of them must be refused.
      } finally {
        frozen?.kill('SIGCONT')
      }
    })
    const [late] = await running.database.owner<{ count: string }>('SELECT count(*) FROM jobs WHERE fence > 1')
    expect(Number(late?.count)).toBeGreaterThan(0)
  })
})
