// Random bytes in small amounts. Every request, row and sealed value takes some: one call of the generator makes many of
// them, at a fifth of the cost of a call for each.

import { randomBytes } from 'node:crypto'

const POOL_BYTES = 4_096

let pool = Buffer.alloc(0)
let taken = 0

/** Bytes that no other caller gets. @param count At most 64: they keep their pool in memory. */
export function takeRandomBytes(count: number): Buffer {
  if (taken + count > pool.length) {
    pool = randomBytes(POOL_BYTES)
    taken = 0
  }
  taken += count
  return pool.subarray(taken - count, taken)
}
