// Keys by which a prescriber and a row of an exclusion list are compared. Both sides derive them with these functions, so
// that the comparison is an index look-up and no table has to hold a prescriber's name or birth date in the clear.

import { createHmac } from 'node:crypto'

/** Widths of the columns LASTNAME and FIRSTNAME of LEIE, which cuts longer names. */
const LAST_LENGTH = 20
const FIRST_LENGTH = 15
/** HMAC-SHA-256 cut to 128 bits: two of a million people share a key with a probability of 10^-27. */
const KEY_BYTES = 16

export interface ListedPerson {
  lastName: string
  firstName: string
  /** `YYYY-MM-DD` or `YYYYMMDD`. Text that names no day counts as unknown. */
  birthDate: string | null
  /** Codes such as `CA`. */
  states: readonly string[]
}

export interface MatchKeys {
  /** Last name, first name and birth date. null when one of them is unknown. */
  fullKey: Buffer | null
  /** Last and first name. */
  nameKey: Buffer
  /** Last name, first name and state, for each state. */
  stateKeys: Buffer[]
}

/** @param secret 32 bytes of the deployment (match-secret.ts). Keys under different secrets never match. */
export function matchKeysOf(secret: Buffer, { lastName, firstName, birthDate, states }: ListedPerson): MatchKeys {
  const last = foldName(lastName, LAST_LENGTH)
  const first = foldName(firstName, FIRST_LENGTH)
  const born = last === '' || first === '' ? null : foldDate(birthDate)
  const codes = new Set(states.map(foldState).filter((state) => state !== ''))
  return {
    fullKey: born === null ? null : keyOf(secret, 'full', last, first, born),
    nameKey: keyOf(secret, 'name', last, first),
    stateKeys: [...codes].map((state) => keyOf(secret, 'state', last, first, state)),
  }
}

/** Whether both names have a letter left. A row without one has no keys, so an empty name matches no row. */
export function hasName({ lastName, firstName }: Pick<ListedPerson, 'lastName' | 'firstName'>): boolean {
  return foldName(lastName, LAST_LENGTH) !== '' && foldName(firstName, FIRST_LENGTH) !== ''
}

/**
 * Letters and digits in upper case, without accents. The name is cut before it is folded, since the list cuts names that
 * contain hyphens and spaces.
 */
export function foldName(name: string, length: number): string {
  const written = name.normalize('NFC').trim().replace(/\s+/gu, ' ')
  return [...written]
    .slice(0, length)
    .join('')
    .normalize('NFKD')
    .replace(/\p{L}/gu, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

// Letters whose accent is part of the letter, which NFKD does not separate. toUpperCase writes ß as SS.
const PLAIN_LETTERS: Record<string, string> = {
  ...{ Ø: 'O', ø: 'o', Ł: 'L', ł: 'l', Đ: 'D', đ: 'd', Ð: 'D', ð: 'd', Ħ: 'H', ħ: 'h', ı: 'i' },
  ...{ Æ: 'AE', æ: 'ae', Œ: 'OE', œ: 'oe', Þ: 'TH', þ: 'th' },
}

/** `YYYYMMDD`, or null when the text names no day: LEIE writes `00000000` or nothing for an unknown date. */
function foldDate(text: string | null): string | null {
  const [, year = '', month = '', day = ''] = /^(\d{4})-?(\d\d)-?(\d\d)$/.exec(text?.trim() ?? '') ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const isDay = !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day) && Number(year) > 0
  return isDay ? `${year}${month}${day}` : null
}

function foldState(state: string): string {
  return state.trim().toUpperCase()
}

function keyOf(secret: Buffer, kind: 'full' | 'name' | 'state', ...parts: readonly string[]): Buffer {
  // A folded part contains no NUL, so that no other kind and parts give the same text.
  return createHmac('sha256', secret)
    .update([kind, ...parts].join('\0'))
    .digest()
    .subarray(0, KEY_BYTES)
}
