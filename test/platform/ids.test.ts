import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SCOPED_TYPES, type ScopedType } from '#src/catalogue/ids.ts'
import { Failure } from '#src/failure.ts'
import {
  accountIdsAfter,
  accountIdsBefore,
  checkId,
  getOwned,
  idsAfter,
  idsBefore,
  newAccountId,
  newId,
  noSuch,
  timeOfId,
  uuidv7,
} from '#src/platform/ids.ts'

// RFC 9562 defines the bits, and Crockford's alphabet is repeated here on purpose.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

function decode(id: string): bigint {
  let value = 0n
  for (const digit of id.slice(-26)) value = value * 32n + BigInt(ALPHABET.indexOf(digit))
  return value
}

describe('ids', () => {
  it('consist of a type, the word of the environment, and a version 7 UUID of their time', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 47 }), (nowMs) => {
        const id = newId('clm', 'live', nowMs)
        expect(id).toMatch(/^clm_live_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
        const value = decode(id)
        expect(Number(value >> 80n)).toBe(nowMs)
        expect((value >> 76n) & 0xfn).toBe(7n)
        expect((value >> 62n) & 0x3n).toBe(2n)
      }),
      { numRuns: 300, seed: 1 },
    )
    expect(newId('clm', 'sandbox')).toMatch(/^clm_test_/)
    expect(newAccountId('acc')).toMatch(/^acc_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  })

  it('that were made before or since a time lie within its bounds, by clocks that differ by up to an hour', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4e6, max: 2 ** 47 }),
        fc.integer({ min: -3_599_999, max: 3_599_999 }),
        (at, skew) => {
          const id = newId('whd', 'live', at + skew)
          expect(timeOfId(id)).toBe(at + skew)
          expect(idsAfter('whd', 'live', new Date(at)) < id).toBe(true)
          expect(id < idsBefore('whd', 'live', new Date(at))).toBe(true)
          const ofAccount = newAccountId('aud', at + skew)
          expect(accountIdsAfter('aud', new Date(at)) < ofAccount).toBe(true)
          expect(ofAccount < accountIdsBefore('aud', new Date(at))).toBe(true)
        },
      ),
      { numRuns: 300, seed: 1 },
    )
  })

  it('sort by time, those of one millisecond in the order in which they were made, and never repeat', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => newId('evt', 'sandbox', 1_700_000_000_000 + index))
    expect([...ids].sort()).toEqual(ids)
    const atOnce = Array.from({ length: 5_000 }, () => uuidv7(0).toString('hex'))
    expect(new Set(atOnce).size).toBe(5_000)
    const made = atOnce.slice(0, 4_096)
    expect(made.toSorted()).toEqual(made)
  })

  it('are refused by the name that callers know, and not by their prefix', () => {
    for (const [type, word] of Object.entries(SCOPED_TYPES) as [ScopedType, string][]) {
      expect(() => checkId('nothing', type, 'sandbox')).toThrow(`There is no such ${word}:`)
      expect(word).not.toContain(type === 'med' ? '_' : `${type} `)
      expect(word).not.toBe(type)
    }
  })

  it('without a row are refused by the name that callers know', async () => {
    for (const [type, word] of Object.entries(SCOPED_TYPES) as [ScopedType, string][]) {
      const id = newId(type, 'live')
      await expect(getOwned(Promise.resolve(undefined), id)).rejects.toMatchObject({ code: 'not_found' })
      await expect(getOwned(Promise.resolve({ id }), id)).resolves.toEqual({ id })
      expect(noSuch(id).message).toBe(`There is no ${word} ${id}.`)
    }
    expect(noSuch(newAccountId('exp')).message).toContain('no export exp_')
  })

  it('are refused in the other environment, of any account, and when they are malformed', () => {
    const code = (id: string) => {
      try {
        return checkId(id, 'clm', 'sandbox')
      } catch (error) {
        return error instanceof Failure ? error.code : String(error)
      }
    }
    const own = newId('clm', 'sandbox')
    expect(code(own)).toBe(own)
    expect(code(newId('clm', 'live'))).toBe('environment_mismatch')
    expect(code(newId('dev', 'live'))).toBe('environment_mismatch')
    for (const id of [
      '',
      'clm',
      newId('dev', 'sandbox'),
      newAccountId('acc'),
      `${own}0`,
      own.toUpperCase(),
      `${own}\n`,
      own.replace('clm', 'cl'),
    ]) {
      expect([id, code(id)]).toEqual([id, 'not_found'])
    }
  })
})
