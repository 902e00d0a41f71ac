import { crc32 } from 'node:zlib'
import { createDice } from '../test/platform/crypto/seeded.ts'

/** Numbers of one case. Each case has its own, so that it can be repeated without those before it. */
export interface Dice {
  /** 0 to `bound - 1`. */
  below(bound: number): number
  /** True once in `times`. */
  once(times: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

export function diceOf(seed: number, parser: string, index: number): Dice {
  const roll = createDice(crc32(`${seed}/${parser}/${index}`) | 0)
  const below = (bound: number) => roll(Math.max(1, bound))
  return {
    below,
    once: (times) => below(times) === 0,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
