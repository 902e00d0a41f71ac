import fc from 'fast-check'
import { expect, it } from 'vitest'
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
