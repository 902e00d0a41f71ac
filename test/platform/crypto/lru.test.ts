import { expect, it } from 'vitest'
import { createLru } from '#src/platform/crypto/lru.ts'

it('the cache evicts the longest unused entry first', () => {
  const lru = createLru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  expect(lru.get('a')).toBe(1)
  lru.set('c', 3)
  expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3])
})

it('the cache replaces a value without evicting another', () => {
  const lru = createLru<string, boolean>(2)
  lru.set('a', true)
  lru.set('b', true)
  lru.set('a', false)
  expect([lru.get('a'), lru.get('b')]).toEqual([false, true])
})
