import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairQueue } from '#src/platform/fair-queue.ts'

const pushes = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 })

function drained<Item>(queue: ReturnType<typeof createFairQueue<Item>>): Item[] {
  const items: Item[] = []
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item)
  return items
}

it('returns each item once, those of one owner in their order', () => {
  fc.assert(
    fc.property(pushes, fc.boolean(), (owners, isCleared) => {
      const queue = createFairQueue<string>()
      for (const [index, owner] of owners.entries()) queue.push(owner, `${owner}${index}`)
      expect(queue.size).toBe(owners.length)
      const items = isCleared ? queue.clear() : drained(queue)
      expect(queue.size).toBe(0)
      for (const owner of new Set(owners)) {
        const own = owners.flatMap((one, index) => (one === owner ? [`${owner}${index}`] : []))
        expect(items.filter((item) => item.startsWith(owner))).toEqual(own)
      }
      expect(items).toHaveLength(owners.length)
    }),
  )
})

it('lets an owner wait for one item of each other owner, however many these have', () => {
  fc.assert(
    fc.property(pushes, fc.nat(20), (owners, taken) => {
      const queue = createFairQueue<string>()
      for (const owner of owners) queue.push(owner, owner)
      for (let count = 0; count < taken; count += 1) queue.shift()
      queue.push('newcomer', 'newcomer')
      const before = drained(queue)
      expect(new Set(before.slice(0, before.indexOf('newcomer'))).size).toBe(before.indexOf('newcomer'))
    }),
  )
})

describe('a full queue', () => {
  const LIMITS = { max: 6, maxEach: 4 }
  const steps = fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e') }, fc.constant('')),
    {
      maxLength: 80,
    },
  )

  it('never has more items than it may, and takes, refuses or evicts each item exactly once', () => {
    fc.assert(
      fc.property(steps, (owners) => {
        const queue = createFairQueue<string>(LIMITS)
        const left: string[] = []
        const pushed: string[] = []
        for (const [index, owner] of owners.entries()) {
          const out = owner === '' ? queue.shift() : queue.push(owner, `${owner}${index}`)
          if (owner !== '') pushed.push(`${owner}${index}`)
          if (out !== undefined) left.push(out)
          expect(queue.size).toBeLessThanOrEqual(LIMITS.max)
          for (const each of 'abcde') expect(queue.sizeOf(each)).toBeLessThanOrEqual(LIMITS.maxEach)
          expect(queue.size).toBe([...'abcde'].reduce((sum, each) => sum + queue.sizeOf(each), 0))
        }
        left.push(...drained(queue))
        expect(left.toSorted()).toEqual(pushed.toSorted())
      }),
    )
  })

  it('refuses an owner only where no other has two items more, and evicts the newest item of one with the most', () => {
    fc.assert(
      fc.property(steps, (owners) => {
        const queue = createFairQueue<string>(LIMITS)
        const waiting: string[] = []
        for (const [index, owner] of owners.entries()) {
          const item = `${owner}${index}`
          const sizes = new Map([...'abcde'].map((each) => [each, queue.sizeOf(each)]))
          const most = Math.max(...sizes.values())
          const out = owner === '' ? queue.shift() : queue.push(owner, item)
          if (owner !== '' && out !== undefined) {
            const own = sizes.get(owner) ?? 0
            if (own < LIMITS.maxEach && most >= own + 2) expect(out).not.toBe(item)
            if (out === item) expect(own >= LIMITS.maxEach || most < own + 2).toBe(true)
            else {
              const loser = out.charAt(0)
              expect(sizes.get(loser)).toBe(most)
              expect(out).toBe(waiting.findLast((one) => one.startsWith(loser)))
            }
          }
          if (owner !== '' && out !== item) waiting.push(item)
          if (out !== undefined && out !== item) waiting.splice(waiting.indexOf(out), 1)
        }
      }),
    )
  })

  it('keeps a newcomer out where each owner has one item, until one is taken', () => {
    const queue = createFairQueue<string>({ max: 3 })
    for (const owner of ['a', 'b', 'c']) queue.push(owner, owner)
    expect(queue.push('new', 'refused')).toBe('refused')
    expect(queue.shift()).toBe('a')
    expect(queue.push('new', 'waits')).toBeUndefined()
    expect(drained(queue)).toEqual(['b', 'c', 'waits'])
  })
})

it('removes an item only once, and skips owners that may take none', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item)
  expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('c', 'c1')]).toEqual([true, false, false])
  expect(queue.shift((owner) => owner !== 'a')).toBe('b1')
  expect(queue.shift((owner) => owner !== 'a')).toBeUndefined()
  expect([queue.size, queue.shift(), queue.size]).toEqual([1, 'a2', 0])
})
