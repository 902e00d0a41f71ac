import { ACCOUNT_TYPES, type AccountType, type ContentType, SCOPED_TYPES, type ScopedType } from '#src/catalogue/ids.ts'
import { Failure } from '#src/failure.ts'
import { takeRandomBytes } from './crypto/random.ts'

export type Environment = 'sandbox' | 'live'

/** The tenant boundary: every tenant row carries both, and row-level security compares both. */
export interface Scope {
  accountId: string
  environment: Environment
}

const WORD: Record<Environment, 'test' | 'live'> = { sandbox: 'test', live: 'live' }
// Crockford's alphabet in lower case: no i, l, o, u, so that an id survives being read aloud.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID = /^([a-z]{3})_(?:(test|live)_)?([0-7][0-9a-hjkmnp-tv-z]{25})$/

/**
 * `<type>_<live|test>_<uuidv7 as 26 base32 characters>`: sortable by creation, so that list cursors key on the id
 * alone. `order`, up to 4,095, sorts ids that are made together.
 */
export function newId(type: ScopedType, environment: Environment, nowMs: number = Date.now(), order?: number): string {
  return `${type}_${WORD[environment]}_${encode(uuidv7(nowMs, order))}`
}

export function newAccountId(type: AccountType, nowMs: number = Date.now()): string {
  return `${type}_${encode(uuidv7(nowMs))}`
}

/** The same content has the same id. @param sha256 In hex. */
export function contentId(type: ContentType, sha256: string): string {
  return `${type}_${sha256.slice(0, 32)}`
}

/**
 * Checks an id that a caller sent, before any look-up.
 * @throws {Failure} `environment_mismatch` when the id's word is that of the other environment, whether the row exists
 * or not (specification, API keys 7); `not_found` when it can't be an id of this type.
 */
export function checkId(id: string, type: ScopedType, environment: Environment): string {
  const match = ID.exec(id)
  const word = match?.[2]
  if (word !== undefined && word !== WORD[environment]) {
    throw new Failure(
      'environment_mismatch',
      `The id is of the ${word} environment, and this key is not: use a key that begins with svc_${word}_.`,
    )
  }
  if (match?.[1] !== type || word === undefined) {
    const shape = `${type}_${WORD[environment]}_ and 26 characters`
    throw new Failure('not_found', `There is no such ${SCOPED_TYPES[type]}: the id of one is ${shape}.`)
  }
  return id
}

/** Refuses an id that names no row of the account. The row of another account is refused the same way. */
export function noSuch(id: string): Failure {
  const nouns: Record<string, string> = { ...SCOPED_TYPES, ...ACCOUNT_TYPES }
  return new Failure('not_found', `There is no ${nouns[id.slice(0, 3)] ?? 'such id'} ${id}.`)
}

/**
 * The row that an id names. `checkId` refuses ids of the other environment before.
 * @throws {Failure} `not_found`.
 */
export async function getOwned<Row extends object>(row: Promise<Row | undefined>, id: string): Promise<Row> {
  const found = await row
  if (found === undefined) throw noSuch(id)
  return found
}

/**
 * Checks a name that callers choose and that may be an id of this service, such as a device or an agent session.
 * @throws {Failure} `environment_mismatch` when it is an id of the other environment.
 */
export function checkName(name: string, environment: Environment): string {
  const [, type = '', word] = ID.exec(name) ?? []
  return word === undefined || !Object.hasOwn(SCOPED_TYPES, type)
    ? name
    : checkId(name, type as ScopedType, environment)
}

// Ids carry the clock of the process that made them.
const CLOCK_SLACK_MS = 3_600_000

/**
 * An id, not necessarily of a row, that is above every id of the type made before `at`. Finds old rows through a
 * primary key that ends with the id. Rows below it may be younger than `at` by up to an hour, so check each row's own
 * time.
 */
export function idsBefore(type: ScopedType, environment: Environment, at: Date): string {
  return `${type}_${WORD[environment]}_${boundAt(at.getTime() + CLOCK_SLACK_MS)}`
}

/** Below every id of rows that were written at this time or later. */
export function idsAfter(type: ScopedType, environment: Environment, at: Date): string {
  return `${type}_${WORD[environment]}_${boundAt(at.getTime() - CLOCK_SLACK_MS)}`
}

/**
 * Below every id that was made at this time or later, and above every one that was made before, by the clocks of the
 * processes that made them. For counts by day, which read the ids alone.
 */
export function firstIdAt(type: ScopedType, environment: Environment, at: Date): string {
  return `${type}_${WORD[environment]}_${boundAt(at.getTime())}`
}

/** Same as `idsBefore`, for a type of ids without an environment. */
export function accountIdsBefore(type: AccountType, at: Date): string {
  return `${type}_${boundAt(at.getTime() + CLOCK_SLACK_MS)}`
}

/** Same as `idsAfter`, for a type of ids without an environment. */
export function accountIdsAfter(type: AccountType, at: Date): string {
  return `${type}_${boundAt(at.getTime() - CLOCK_SLACK_MS)}`
}

// Below every id of this millisecond. Times that no id can have are as the nearest one that it can.
function boundAt(ms: number): string {
  const bytes = Buffer.alloc(ID_BYTES)
  bytes.writeUIntBE(Math.min(Math.max(0, ms), MAX_ID_MS), 0, 6)
  return encode(bytes)
}

/** When an id was made, by the clock of the process that made it. NaN for what is no id. */
export function timeOfId(id: string): number {
  const digits = ID.exec(id)?.[3]?.slice(0, 10)
  if (digits === undefined) return Number.NaN
  // 48 bits of milliseconds behind two zero bits: ten digits of five bits.
  return [...digits].reduce((time, digit) => time * 32 + ALPHABET.indexOf(digit), 0)
}

/**
 * RFC 9562 5.7: 48 bits of Unix milliseconds, version 7, a counter of 12 bits (6.2, method 1), 62 random bits. Without
 * `order`, ids that a process makes one after the other in one millisecond sort in that order, up to 4,096 of them.
 */
export function uuidv7(nowMs: number, order: number = nextOrder(nowMs)): Buffer {
  const bytes = takeRandomBytes(ID_BYTES)
  bytes.writeUIntBE(nowMs, 0, 6)
  bytes.writeUInt16BE(Math.min(order, MAX_ORDER), 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes
}

/**
 * Returns the id of a job: a uuidv7, so that jobs that are made together have neighbouring index entries. Random ids
 * would each write another page of the index, and read it where a million jobs wait.
 */
export function newJobId(): string {
  const hex = uuidv7(Date.now()).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const MAX_ORDER = 0xfff
let lastMs = Number.NaN
let lastOrder = 0

function nextOrder(nowMs: number): number {
  lastOrder = nowMs === lastMs ? lastOrder + 1 : 0
  lastMs = nowMs
  return lastOrder
}

const ID_BYTES = 16
const MAX_ID_MS = 2 ** 48 - 1

// 128 bits are 26 digits of 5 bits with two zero bits before them.
function encode(bytes: Buffer): string {
  let text = ''
  let rest = 0
  let restBits = 2
  for (const byte of bytes) {
    rest = (rest << 8) | byte
    restBits += 8
    while (restBits >= 5) {
      restBits -= 5
      text += ALPHABET.charAt((rest >> restBits) & 31)
    }
    rest &= (1 << restBits) - 1
  }
  return text
}
