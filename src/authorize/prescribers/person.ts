// The person behind a prescriber: names and birth date stand sealed in the row, and beside them only keyed hashes that exclusion
// lists are compared with.

import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import { type MatchKeys, matchKeysOf } from '../exclusions/match-keys.ts'
import type { SealedPerson } from './rows.ts'

export interface PrescriberPerson {
  first: string
  last: string
  /** `YYYY-MM-DD`. */
  dob: string | null
}

export const US_STATES = [
  ...[
    'AL',
    'AK',
    'AS',
    'AZ',
    'AR',
    'CA',
    'CO',
    'CT',
    'DE',
    'DC',
    'FL',
    'GA',
    'GU',
    'HI',
    'ID',
    'IL',
    'IN',
    'IA',
    'KS',
    'KY',
  ],
  ...[
    'LA',
    'ME',
    'MD',
    'MA',
    'MI',
    'MN',
    'MS',
    'MO',
    'MT',
    'NE',
    'NV',
    'NH',
    'NJ',
    'NM',
    'NY',
    'NC',
    'ND',
    'MP',
    'OH',
    'OK',
  ],
  ...['OR', 'PA', 'PR', 'RI', 'SC', 'SD', 'TN', 'TX', 'UT', 'VT', 'VA', 'VI', 'WA', 'WV', 'WI', 'WY'],
] as const

const useOf = (id = '') => `prescriber person ${id}`

export const SEALED_PERSON: SealedColumn = {
  table: 'prescribers',
  column: 'sealed_person',
  of: 'environment',
  id: 'id',
  use: ({ id }) => useOf(id),
}

export function openPerson(
  sealer: Sealer,
  { id, sealedPerson }: { id: string; sealedPerson: Buffer },
): PrescriberPerson {
  return JSON.parse(sealer.open(sealedPerson, useOf(id)).toString()) as PrescriberPerson
}

export function sealPerson(
  { sealer, secret }: { sealer: Sealer; secret: Buffer },
  id: string,
  { npi, states, ...person }: PrescriberPerson & { npi: string; states: readonly string[] },
): SealedPerson {
  const sealedPerson = sealer.seal(Buffer.from(JSON.stringify(person)), useOf(id))
  return { npi, sealedPerson, ...keysOf(secret, person, states) }
}

export function keysOf(secret: Buffer, { first, last, dob }: PrescriberPerson, states: readonly string[]): MatchKeys {
  return matchKeysOf(secret, { lastName: last, firstName: first, birthDate: dob, states })
}
