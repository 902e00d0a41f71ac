import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hasName, matchKeysOf } from '#src/authorize/exclusions/match-keys.ts'

const SECRET = Buffer.alloc(32, 7)
const PERSON = { lastName: 'Garcia', firstName: 'Ana', birthDate: '1970-02-03', states: ['CA'] }
const keys = (person: Partial<typeof PERSON | { birthDate: null }> = {}) =>
  matchKeysOf(SECRET, { ...PERSON, ...person })
const hmac = (text: string) => createHmac('sha256', SECRET).update(text).digest().subarray(0, 16)

describe('match keys', () => {
  it('are the first 16 bytes of an HMAC over kind and folded parts', () => {
    expect(keys()).toEqual({
      fullKey: hmac('full\0GARCIA\0ANA\x0019700203'),
      nameKey: hmac('name\0GARCIA\0ANA'),
      stateKeys: [hmac('state\0GARCIA\0ANA\0CA')],
    })
  })

  it.each([
    ['accents', { lastName: 'García', firstName: 'Ána' }, {}],
    ['decomposed accents', { lastName: 'García' }, {}],
    ['case and spaces around', { lastName: ' GARCIA ', firstName: 'aNA' }, {}],
    ['hyphens', { lastName: 'Garcia-Lopez' }, { lastName: 'GARCIA LOPEZ' }],
    ['apostrophes', { lastName: 'O’Brien' }, { lastName: "O'BRIEN" }],
    ['dots', { firstName: 'J.R.' }, { firstName: 'JR' }],
    ['letters with a stroke', { lastName: 'Ødegård-Łuk' }, { lastName: 'ODEGARD LUK' }],
    ['sharp s', { lastName: 'Weiß' }, { lastName: 'WEISS' }],
    ['the form of the date', { birthDate: '19700203' }, {}],
  ])('are equal despite %s', (_, one, other) => {
    expect(keys(one)).toEqual(keys(other))
  })

  it('compare a long name with the form that the list cuts', () => {
    const whole = { lastName: 'Martinez-de la Cruz-Gonzalez', firstName: 'Maria-Antoinette-Rose' }
    const cut = { lastName: 'MARTINEZ-DE LA CRUZ-', firstName: 'MARIA-ANTOINETT' }
    expect(keys(whole)).toEqual(keys(cut))
    expect(keys({ lastName: 'ABCDEFGHIJKLMNOPQRSTU' })).toEqual(keys({ lastName: 'ABCDEFGHIJKLMNOPQRST' }))
    expect(keys({ lastName: 'ABCDEFGHIJKLMNOPQRST' })).not.toEqual(keys({ lastName: 'ABCDEFGHIJKLMNOPQRS' }))
  })

  it.each([null, '', '00000000', '0000-00-00', '19700230', '197002', 'Indefinite'])(
    'have no full key for the birth date %j',
    (birthDate) => {
      expect(matchKeysOf(SECRET, { ...PERSON, birthDate }).fullKey).toBeNull()
    },
  )

  it('have no full key for a name without letters, which counts as no name', () => {
    for (const part of [{ lastName: '' }, { firstName: ' - ' }]) {
      expect(keys(part).fullKey).toBeNull()
      expect(hasName({ ...PERSON, ...part })).toBe(false)
    }
    expect(hasName(PERSON)).toBe(true)
  })

  it('differ by secret, kind, name, date and state', () => {
    const all = [
      keys(),
      keys({ lastName: 'Ana', firstName: 'Garcia' }),
      keys({ birthDate: '1970-02-04' }),
      keys({ states: ['NY'] }),
    ]
    const distinct = new Set(
      all.flatMap((k) => [k.fullKey, k.nameKey, ...k.stateKeys]).map((key) => key?.toString('hex')),
    )
    // Three names, dates or states differ from the first; what a change leaves alone stays equal.
    expect(distinct.size).toBe(3 + 3 + 1 + 1)
    expect(matchKeysOf(Buffer.alloc(32, 8), PERSON).nameKey).not.toEqual(keys().nameKey)
  })

  it('name a state once, however it is written', () => {
    expect(keys({ states: ['ca', 'CA ', '', 'NY'] }).stateKeys).toEqual([
      hmac('state\0GARCIA\0ANA\0CA'),
      hmac('state\0GARCIA\0ANA\0NY'),
    ])
  })
})
