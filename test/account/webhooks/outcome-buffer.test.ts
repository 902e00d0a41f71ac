import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOutcomeBuffer } from '#src/account/webhooks/outcome-buffer.ts'
import type { AttemptOutcome } from '#src/account/webhooks/statistics.ts'

const outcome = (endpointId: string): AttemptOutcome => ({
  endpointId,
  isDelivered: true,
  durationMs: 20,
  arrivalMs: 30,
})

function createBuffer() {
  const clock = { now: 0 }
  return { clock, buffer: createOutcomeBuffer({ now: () => clock.now }) }
}

describe('outcomes that the statistics do not have yet', () => {
  it('are written by one transaction a second while more deliveries of the account run than it ends', () => {
    const { clock, buffer } = createBuffer()
    for (let count = 0; count < 10; count += 1) buffer.enter('a')
    expect(buffer.take('a', 1)).toEqual([])
    clock.now = 999
    expect(buffer.take('a', 1)).toBeUndefined()
    buffer.add('a', [outcome('one')])
    clock.now = 1_000
    expect(buffer.take('a', 1)).toEqual([outcome('one')])
    expect(buffer.take('a', 1)).toBeUndefined()
  })

  it('are written at once by a transaction that ends all deliveries of the account', () => {
    const { buffer } = createBuffer()
    for (let count = 0; count < 4; count += 1) buffer.enter('a')
    buffer.enter('b')
    buffer.take('a', 1)
    buffer.add('a', [outcome('one')])
    expect(buffer.take('a', 4)).toEqual([outcome('one')])
    expect(buffer.take('b', 1)).toEqual([])
  })

  it('are returned to the last delivery of the account when no transaction took them', () => {
    const { buffer } = createBuffer()
    buffer.enter('a')
    buffer.enter('a')
    buffer.add('a', [outcome('one')])
    expect(buffer.leave('a')).toEqual([])
    expect(buffer.leave('a')).toEqual([outcome('one')])
    buffer.enter('a')
    expect(buffer.leave('a')).toEqual([])
  })

  it('are each written once, in whatever order deliveries begin, end and fail to be written', () => {
    const step = fc.record({
      account: fc.constantFrom('a', 'b'),
      count: fc.integer({ min: 1, max: 5 }),
      waitMs: fc.nat(700),
      fails: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { clock, buffer } = createBuffer()
        const written: string[] = []
        const ended: string[] = []
        for (const [index, { account, count, waitMs, fails }] of steps.entries()) {
          clock.now += waitMs
          for (let each = 0; each < count; each += 1) buffer.enter(account)
          const own = outcome(`${account} ${index}`)
          const earlier = buffer.take(account, 1)
          if (fails) buffer.add(account, earlier ?? [])
          else {
            ended.push(own.endpointId)
            if (earlier === undefined) buffer.add(account, [own])
            else written.push(...[...earlier, own].map(({ endpointId }) => endpointId))
          }
        }
        for (const { account, count } of steps) {
          for (let each = 0; each < count; each += 1)
            written.push(...buffer.leave(account).map(({ endpointId }) => endpointId))
        }
        expect(written.sort()).toEqual(ended.sort())
      }),
    )
  })
})
