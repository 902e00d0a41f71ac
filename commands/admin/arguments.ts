// Reads words and options. Everything is read before anything is started.

import { parseArgs } from 'node:util'
import type { Environment } from '#src/platform/ids.ts'
import { usageError } from '../sentence.ts'

export const ENVIRONMENTS = ['sandbox', 'live'] as const satisfies readonly Environment[]

export const MAX_LISTED = 1_000

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  account: { type: 'string' },
  environment: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  reason: { type: 'string' },
  suspended: { type: 'boolean', default: false },
  closed: { type: 'boolean', default: false },
  before: { type: 'string' },
  after: { type: 'string' },
  family: { type: 'string' },
  now: { type: 'boolean', default: false },
  'read-only': { type: 'boolean', default: false },
  list: { type: 'string' },
  kind: { type: 'string' },
  force: { type: 'boolean', default: false },
  'doubted-since': { type: 'string' },
  queue: { type: 'string' },
  state: { type: 'string' },
  limit: { type: 'string' },
  yes: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export type Values = ReturnType<typeof parseWords>['values']

// One kid in 64 begins with a hyphen: 43 characters of base64url (RFC 7638). No option is as long.
const HYPHENED_KID = /^-[A-Za-z0-9_-]{42}$/

/** Words that begin with a hyphen and are kids come last. */
export function parseWords(args: string[]) {
  const { values, positionals } = parseArgs({
    args: args.filter((arg) => !HYPHENED_KID.test(arg)),
    options: OPTIONS,
    allowPositionals: true,
  })
  return { values, positionals: [...positionals, ...args.filter((arg) => HYPHENED_KID.test(arg))] }
}

export function required(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === '') throw usageError(`${name} is missing.`)
  return value
}

export function oneOf<Word extends string>(name: string, value: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === value)
  if (found === undefined) throw usageError(`${name}: "${value}" is none of ${words.join(', ')}.`)
  return found
}

/** A list such as `verify,attest`. */
export function someOf<Word extends string>(name: string, value: string, words: readonly Word[]): Word[] {
  return value.split(',').map((word) => oneOf(name, word.trim(), words))
}

export function readEnvironment({ environment }: Values): Environment {
  return oneOf('--environment', required('--environment', environment), ENVIRONMENTS)
}

export function readLimit(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LISTED) throw usageError(`--limit must be a whole number from 1 to ${MAX_LISTED}.`)
  return limit
}

export function readTime(name: string, text: string): Date {
  const time = new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN)
  if (Number.isNaN(time.getTime())) throw usageError(`${name} must be ISO 8601, such as 2027-01-31T00:00:00Z.`)
  return time
}
