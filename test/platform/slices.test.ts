import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { within } from '#src/platform/context.ts'
import { createSlice } from '#src/platform/slices.ts'

it('runs one slice of one account in each turn of the event loop, however many slices the account has left', async () => {
  const ran: string[] = []
  const compute = (account: string, name: string) =>
    within({ account }, async () => {
      const slice = createSlice()
      for (let round = 0; round < 3; round += 1) {
        await slice.next()
        ran.push(name)
      }
    })
  const busy = ['a1', 'a2', 'a3', 'a4'].map((name) => compute('busy', name))
  const other = compute('other', 'b')
  const perTurn: number[] = []
  for (let seen = 0; ran.length < 15; seen = ran.length) {
    await nextTurn()
    perTurn.push(ran.length - seen)
  }
  await Promise.all([...busy, other])

  expect(Math.max(...perTurn)).toBe(1)
  // Alone it would have been done after three turns.
  expect(ran.lastIndexOf('b')).toBeLessThanOrEqual(5)
  expect(new Set(ran.slice(6))).toEqual(new Set(['a1', 'a2', 'a3', 'a4']))
})

it('lets a computation continue until its slice is over', async () => {
  const slice = createSlice()
  expect(slice.isOver()).toBe(false)
  while (!slice.isOver()) Math.random()
  await slice.next()
  expect(slice.isOver()).toBe(false)
})
