import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOutcomeBuffer } from '#src/account/webhooks/outcome-buffer.ts'
import type { AttemptOutcome } from '#src/account/webhooks/statistics.ts'
import type { Scope } from '#src/platform/ids.ts'

const A: Scope = { accountId: 'acc_a', environment: 'sandbox' }
const B: Scope = { accountId: 'acc_a', environment: 'live' }

const outcome = (endpointId: string): AttemptOutcome => ({
  endpointId,
  isDelivered: true,
  durationMs: 20,
  arrivalMs: 30,
})

function createBuffer() {
  const clock = { now: 0 }
  const written: string[] = []
  const scheduled: (() => void)[] = []
  const postgres = { isAway: false }
  const buffer = createOutcomeBuffer({
    now: () => clock.now,
    schedule: (work) => scheduled.push(work),
    async write(_scope, outcomes) {
      if (postgres.isAway) throw new Error('Postgres is away')
      written.push(...outcomes.map(({ endpointId }) => endpointId))
    },
  })
  return { clock, written, scheduled, postgres, buffer }
}

const settled = () => new Promise((done) => setImmediate(done))

describe('outcomes that the statistics do not have yet', () => {
  it('are written by one transaction a second while more deliveries of the account run than it ends', () => {
    const { clock, buffer } = createBuffer()
    for (let count = 0; count < 10; count += 1) buffer.enter(A)
    expect(buffer.take(A, 1)).toEqual([])
    clock.now = 999
    expect(buffer.take(A, 1)).toBeUndefined()
    buffer.add(A, [outcome('one')])
    clock.now = 1_000
    expect(buffer.take(A, 1)).toEqual([outcome('one')])
    expect(buffer.take(A, 1)).toBeUndefined()
  })

  it('are written at once by a transaction that ends all deliveries of the account', () => {
    const { buffer } = createBuffer()
    for (let count = 0; count < 4; count += 1) buffer.enter(A)
    buffer.enter(B)
    buffer.take(A, 1)
    buffer.add(A, [outcome('one')])
    expect(buffer.take(A, 4)).toEqual([outcome('one')])
    expect(buffer.take(B, 1)).toEqual([])
  })

  it('are written when the last delivery ends, if no transaction took them', async () => {
    const { written, buffer } = createBuffer()
    buffer.enter(A)
    buffer.enter(A)
    buffer.add(A, [outcome('one')])
    await buffer.leave(A)
    expect(written).toEqual([])
    await buffer.leave(A)
    expect(written).toEqual(['one'])
  })

  it('are written by themselves while the deliveries that run wait for their receivers, and again when Postgres was away', async () => {
    const { written, scheduled, postgres, buffer } = createBuffer()
    buffer.enter(A)
    buffer.add(A, [outcome('one')])
    buffer.add(A, [outcome('two')])
    expect(scheduled).toHaveLength(1)
    postgres.isAway = true
    scheduled[0]?.()
    await settled()
    expect([written, scheduled.length]).toEqual([[], 2])
    postgres.isAway = false
    scheduled[1]?.()
    await settled()
    expect(written).toEqual(['one', 'two'])
    await buffer.leave(A)
    expect(written).toEqual(['one', 'two'])
  })

  it('are each written once, in whatever order deliveries begin, end and fail to be written', async () => {
    const step = fc.record({
      scope: fc.constantFrom(A, B),
      count: fc.integer({ min: 1, max: 5 }),
      waitMs: fc.nat(700),
      isAway: fc.boolean(),
      timers: fc.nat(2),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, written, scheduled, postgres, buffer } = createBuffer()
        const ended: string[] = []
        for (const [index, { scope, count, waitMs, isAway, timers }] of steps.entries()) {
          clock.now += waitMs
          postgres.isAway = isAway
          for (const work of scheduled.splice(0, timers)) work()
          for (let each = 0; each < count; each += 1) buffer.enter(scope)
          const own = outcome(`${scope.environment} ${index}`)
          const earlier = buffer.take(scope, 1)
          if (isAway) buffer.add(scope, earlier ?? [])
          else {
            ended.push(own.endpointId)
            if (earlier === undefined) buffer.add(scope, [own])
            else written.push(...[...earlier, own].map(({ endpointId }) => endpointId))
          }
          if (index % 2 === 0) await settled()
        }
        await settled()
        postgres.isAway = false
        for (const { scope, count } of steps) for (let each = 0; each < count; each += 1) await buffer.leave(scope)
        expect(written.sort()).toEqual(ended.sort())
      }),
    )
  })
})
