// What a kill switch would have done, over the real routes.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Checking, FAMILY, QUIET, startChecking, TRIPPING } from '../service.ts'

const NOW = new Date('2026-11-20T15:11:00.000Z')

let on: Checking
let caller: TestCaller

beforeAll(async () => {
  on = await startChecking({ now: NOW })
})
afterAll(() => on?.close())
beforeEach(async () => {
  caller = await on.makeCaller()
})

const later = (seconds: number) => {
  on.service.clock.now = new Date(NOW.getTime() + seconds * 1_000)
}

describe('the preview of a kill switch', () => {
  const preview = async (settings: object) => {
    const { status, json } = await on.post(caller, '/v1/trace/kill-switch/preview', settings)
    expect([status, json.code]).toEqual([200, undefined])
    return json
  }

  it('judges the checks of a week again, changes nothing, and agrees with the switch that is then set', async () => {
    const agent = await on.makeAgent(caller)
    const session = await on.openSession(caller, agent)
    later(-8 * 86_400)
    await on.check(caller, { readings: TRIPPING, agent_session_id: 'before' })
    later(0)
    const checks = [
      { readings: TRIPPING, agent_session_id: session },
      { readings: QUIET, agent_session_id: session },
      { readings: TRIPPING, agent_session_id: session },
      { readings: QUIET, agent_session_id: 'run-9', reading_at: new Date(NOW.getTime() - 301_000).toISOString() },
      { readings: QUIET, agent_session_id: 'run-9' },
    ]
    for (const [index, body] of checks.entries()) {
      later(index)
      await on.check(caller, { reading_at: on.service.clock.now.toISOString(), ...body })
    }
    later(5)
    const before = (await on.ledger(caller)).length
    const locking = await preview({ mode: 'block_and_lock' })
    expect(locking).toEqual({
      from: new Date(NOW.getTime() + 5_000 - 7 * 86_400_000).toISOString(),
      to: new Date(NOW.getTime() + 5_000).toISOString(),
      complete: true,
      looked: { checks: 5, inferences: 0 },
      refused: { checks: 3, inferences: 0 },
      reasons: [
        { reason: 'canary_tripped', refused: 2 },
        { reason: 'reading_too_old', refused: 1 },
      ],
      tripped_traces: 2,
      locks: 1,
      held_by_locks: 2,
      families: [{ family: FAMILY, refused: 2, locks: 1, uncounted: 0 }],
      agents: [
        { agent_id: agent, refused: 2, locks: 1 },
        { agent_id: null, refused: 1, locks: 0 },
      ],
    })
    expect(await preview({ mode: 'monitor' })).toMatchObject({ refused: { checks: 0 }, locks: 0, tripped_traces: 2 })
    const strict = { mode: 'block', families: [{ family: FAMILY, threshold: 0.2 }], apply_to: { agents: [agent] } }
    expect(await preview(strict)).toMatchObject({ refused: { checks: 5 }, locks: 0, held_by_locks: 0 })
    expect(await on.ledger(caller)).toHaveLength(before)
    expect((await on.get(caller, '/v1/trace/kill-switch')).mode).toBe('monitor')
    expect((await preview({ mode: 'block', apply_to: { agents: [await on.makeAgent(caller)] } })).refused).toEqual({
      checks: 1,
      inferences: 0,
    })
    const unknown = { mode: 'block', apply_to: { agents: [newId('agt', 'sandbox')] } }
    expect((await on.post(caller, '/v1/trace/kill-switch/preview', unknown)).json.code).toBe('invalid_request')
    expect(
      (await on.post(await on.makeCaller(), '/v1/trace/kill-switch/preview', { mode: 'block' })).json,
    ).toMatchObject({ looked: { checks: 0, inferences: 0 } })
  })
})
