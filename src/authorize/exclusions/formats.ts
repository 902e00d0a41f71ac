// The columns of LEIE and SAM, and what a row of them says. Columns are found by name, since SAM has moved and renamed them. The
// keys follow from a row alone: a row that names nobody has none, and matches nobody.

import { createHash } from 'node:crypto'
import { hasName, matchKeysOf } from './match-keys.ts'

export const LISTS = ['leie', 'sam'] as const
export type ListName = (typeof LISTS)[number]

/** A full list replaces; the monthly supplements of LEIE are merged: exclusions are added, reinstatements end them. */
export const FILE_KINDS = ['full', 'excl', 'rein'] as const
export type FileKind = (typeof FILE_KINDS)[number]

export const REFUSALS = [
  'unreadable_zip',
  'unreadable_csv',
  'invalid_encoding',
  'missing_columns',
  'no_rows',
  'unfinished_line',
  'fewer_rows',
  'older_list',
  'supplement_as_full',
  'no_full_list',
  'date_unknown',
  'date_in_future',
  'import_failed',
] as const
export type RefusalCode = (typeof REFUSALS)[number]

/** Why a file does not replace the list in force. */
export interface ListRefusal {
  code: RefusalCode
  detail: string
}

class RefusedList extends Error {
  readonly refusal: ListRefusal
  constructor(refusal: ListRefusal) {
    super(`${refusal.code}: ${refusal.detail}`)
    this.refusal = refusal
  }
}

/** Thrown by whatever reads a file. It ends the import, and the job is done. */
export function refuseList(code: RefusalCode, detail: string): Error {
  return new RefusedList({ code, detail })
}

export function refusalIn(error: unknown): ListRefusal | undefined {
  return error instanceof RefusedList ? error.refusal : undefined
}

/** A row as it is stored. Dates are `YYYY-MM-DD`. */
export interface ListEntry {
  rowHash: Buffer
  /** LEIE: what a reinstatement has in common with the exclusion that it ends. */
  identity: Buffer | null
  npi: string | null
  fullKey: Buffer | null
  nameKey: Buffer | null
  stateKey: Buffer | null
  startedOn: string | null
  /** First day on which it excludes no more. */
  endedOn: string | null
  waivedIn: string | null
  waivedOn: string | null
}

/** Reads the rows of one file. */
export interface RowReader {
  entryOf(row: readonly string[], secret: Buffer): ListEntry
  /** When the row came to the list, and whether it ends an exclusion. */
  datesOf(row: readonly string[]): RowDates
}

export interface RowDates {
  listedOn: string | null
  isEnded: boolean
}

/** @throws a refusal (`refuseList`) when columns are missing, which names them. */
export function readerOf(list: ListName, header: readonly string[]): RowReader {
  const places = new Map(header.map((name, place) => [columnName(name), place]))
  const { required, optional, entryOf, datesOf } = list === 'leie' ? LEIE : SAM
  const missing = required.filter((names) => names.every((name) => !places.has(columnName(name))))
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ')
    throw refuseList('missing_columns', `The file has no column ${names}: it is not a file of ${list}.`)
  }
  const known = new Map(
    [...required, ...optional].map((names) => {
      const name = names.find((other) => places.has(columnName(other)))
      return [names[0] ?? '', name === undefined ? undefined : places.get(columnName(name))]
    }),
  )
  // Columns in the order of their names, so that a moved column leaves the hash as it is. Deprecated columns are left out.
  const hashed = [...places].filter(([name]) => !UNHASHED.has(name)).sort(([a], [b]) => (a < b ? -1 : 1))
  const cellsOf =
    (row: readonly string[]): Cell =>
    (name) => {
      const place = known.get(name)
      return place === undefined ? '' : (row[place] ?? '').trim()
    }
  return {
    datesOf: (row) => datesOf(cellsOf(row)),
    entryOf(row, secret) {
      const rowHash = hashOf(hashed.flatMap(([name, place]) => [name, (row[place] ?? '').trim()]))
      return { rowHash, ...entryOf(cellsOf(row), secret) }
    },
  }
}

type Cell = (column: string) => string
interface Format {
  /** Names of each column; the first is the one that `entryOf` asks for. */
  required: readonly (readonly string[])[]
  optional: readonly (readonly string[])[]
  entryOf(at: Cell, secret: Buffer): Omit<ListEntry, 'rowHash'>
  datesOf(at: Cell): RowDates
}

// SAM Number identifies nothing: it is blank nearly everywhere, and rows shared it before.
const UNHASHED = new Set(['opendataflag', 'blankdeprecated', 'samnumber'])

const LEIE: Format = {
  required: [
    ['LASTNAME'],
    ['FIRSTNAME'],
    ['BUSNAME'],
    ['NPI'],
    ['DOB'],
    ['STATE'],
    ['EXCLTYPE'],
    ['EXCLDATE'],
    ['REINDATE'],
    ['WAIVERDATE'],
    ['WVRSTATE', 'WAIVERSTATE'],
  ],
  optional: [['MIDNAME']],
  datesOf(at) {
    const endedOn = compactDate(at('REINDATE'))
    return { listedOn: endedOn ?? compactDate(at('EXCLDATE')), isEnded: endedOn !== null }
  },
  entryOf(at, secret) {
    const person = { lastName: at('LASTNAME'), firstName: at('FIRSTNAME') }
    const keys = hasName(person) ? matchKeysOf(secret, { ...person, birthDate: at('DOB'), states: [] }) : undefined
    const waivedIn = at('WVRSTATE').toUpperCase()
    return {
      identity: hashOf(['LASTNAME', 'FIRSTNAME', 'MIDNAME', 'BUSNAME', 'DOB', 'EXCLTYPE', 'EXCLDATE'].map(at)),
      npi: npiOf(at('NPI')),
      fullKey: keys?.fullKey ?? null,
      nameKey: keys?.nameKey ?? null,
      stateKey: null,
      startedOn: compactDate(at('EXCLDATE')),
      endedOn: compactDate(at('REINDATE')),
      waivedIn: /^[A-Z]{2}$/.test(waivedIn) ? waivedIn : null,
      waivedOn: compactDate(at('WAIVERDATE')),
    }
  },
}

// "The entity is not itself excluded": such a row names a relative or a former owner.
const NOT_ITSELF = /\bnot\s+(?:it|him|her|them)sel(?:f|ves)\s+excluded\b/i

const SAM: Format = {
  required: [
    ['Classification'],
    ['Name'],
    ['First'],
    ['Last'],
    ['State / Province', 'State'],
    ['Additional Comments'],
    ['Active Date'],
    ['Termination Date'],
    ['NPI'],
  ],
  optional: [['Creation_Date'], ['Record Status']],
  datesOf(at) {
    const listedOn = dayOf(at('Creation_Date').slice(0, 10)) ?? slashDate(at('Active Date'))
    return { listedOn, isEnded: false }
  },
  entryOf(at, secret) {
    const person = { lastName: at('Last'), firstName: at('First') }
    const isOther = NOT_ITSELF.test(at('Additional Comments')) || /^inactive$/i.test(at('Record Status'))
    const isPerson = !isOther && hasName(person)
    const states = [at('State / Province')]
    const keys = isPerson ? matchKeysOf(secret, { ...person, birthDate: null, states }) : undefined
    const termination = slashDate(at('Termination Date'))
    return {
      identity: null,
      npi: isOther ? null : npiOf(at('NPI')),
      fullKey: null,
      nameKey: null,
      stateKey: keys?.stateKeys[0] ?? null,
      startedOn: slashDate(at('Active Date')),
      // It excludes on its last day too.
      endedOn: termination === null ? null : dayAfter(termination),
      waivedIn: null,
      waivedOn: null,
    }
  },
}

/** Ten digits; zeros mean that the number is unknown. */
function npiOf(text: string): string | null {
  return /^[0-9]{10}$/.test(text) && text !== '0000000000' ? text : null
}

function compactDate(text: string): string | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? []
  return dayOf(`${year}-${month}-${day}`)
}

/** `MM/DD/YYYY`, or null for `Indefinite`, which has no end. */
function slashDate(text: string): string | null {
  const [, month, day, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text) ?? []
  return dayOf(`${year}-${month}-${day}`)
}

/** The text when it names a day of the calendar. */
export function dayOf(text: string): string | null {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && text >= '1900' ? text : null
}

export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

function columnName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function hashOf(parts: readonly string[]): Buffer {
  // Each part is followed by NUL, which no text of a list contains.
  return createHash('sha256')
    .update(parts.map((part) => `${part.replaceAll('\0', '')}\0`).join(''))
    .digest()
}

/** What the name of a file says of it. */
export interface FileNameFacts {
  kind: FileKind | undefined
  date: string | null
}

/** Names of the publishers: `2511excl.csv`, `SAM_Exclusions_Public_Extract_V2_25333.ZIP`; and any with an ISO date. */
export function readFileName(list: ListName, name: string | undefined): FileNameFacts {
  if (name === undefined) return { kind: undefined, date: null }
  if (list === 'leie') {
    const [, year, month, kind] = /(?:^|[^0-9])(\d\d)(\d\d)(excl|rein)(?![a-z])/i.exec(name) ?? []
    if (kind !== undefined) {
      const first = dayOf(`20${year}-${month}-01`)
      return { kind: kind.toLowerCase() as FileKind, date: first === null ? null : lastOfMonth(first) }
    }
  } else {
    const [, year, day] = /_(\d\d)(\d{3})(?![0-9])/.exec(name) ?? []
    if (day !== undefined) return { kind: 'full', date: julianDay(Number(`20${year}`), Number(day)) }
  }
  const [, year, month, day] = /(?<![0-9])(20\d\d)-?(\d\d)-?(\d\d)(?![0-9])/.exec(name) ?? []
  return { kind: undefined, date: dayOf(`${year}-${month}-${day}`) }
}

function lastOfMonth(first: string): string {
  const [year = 0, month = 0] = first.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}

function julianDay(year: number, day: number): string | null {
  const date = new Date(Date.UTC(year, 0, day))
  return day > 0 && date.getUTCFullYear() === year ? date.toISOString().slice(0, 10) : null
}
