// The fields that conditions may name, and how they are read from the facts. Only own members are read: a path such as
// `context.toString` names no inherited one.

import { Temporal } from 'temporal-polyfill'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { compareNumbers, isNumeric, type Numeric } from './comparisons.ts'
import type { PolicyFacts } from './evaluate.ts'

/** What a field's value can be; `any` is what JSON can be. */
export type FieldKind = 'string' | 'number' | 'boolean' | 'any'

export interface PolicyField {
  kind: FieldKind
  /** Never missing. */
  isAlways: boolean
  /** undefined: missing, as is null. */
  read(facts: PolicyFacts, clock: ZoneClock): Json | undefined
}

/** The hour (0 to 23) and the ISO 8601 weekday (1 Monday to 7 Sunday) of the facts' time in a zone. */
export type ZoneClock = (timezone: string) => { hour: number; weekday: number }

/**
 * The members of the facts, each with its fields. What accounts and agents write is open: `*` stands for one part of a path,
 * `**` for one or more. All others are closed: a condition on a name that does not exist would be false for all facts.
 */
export const MEMBERS = {
  action_payload: ['**'],
  context: ['**'],
  agent: ['id', 'name', 'owner', 'status', 'metadata.**'],
  device: ['id', 'tier', 'enrolled'],
  session: ['id', 'status', 'agent_id', 'created_at'],
  mandate: [
    ...['id', 'root_id', 'depth', 'principal', 'agent_id', 'timezone', 'currency', 'min_amount', 'max_amount'],
    ...[
      'budget_limit',
      'budget_period',
      'budget_max_count',
      'remaining',
      'remaining_count',
      'not_before',
      'expires_at',
    ],
  ],
  schedule: [
    ...['id', 'status', 'counterparty', 'amount_type', 'amount', 'currency', 'frequency', 'timezone'],
    ...['window_seconds', 'occurrences', 'used', 'remaining', 'cycle', 'cycle_opens_at', 'cycle_closes_at'],
  ],
  canary: ['tripped', 'families', 'scores.*', 'set', 'source', 'reading_at'],
  token: ['biometric'],
  time: ['hour', 'weekday'],
} as const
type Root = Exclude<keyof typeof MEMBERS, 'token' | 'time'>

export const TEXT_FIELDS = ['action_type', 'action_description'] as const
export const TIME_FIELDS = ['time.hour', 'time.weekday'] as const
/** First parts of the paths of fields, which no quantifier may give to its elements. */
export const RESERVED_NAMES: readonly string[] = [...TEXT_FIELDS, ...Object.keys(MEMBERS)]

const KINDS: Record<string, FieldKind> = {
  'device.id': 'string',
  'device.tier': 'string',
  'device.enrolled': 'boolean',
}
// A part of a path. A dot separates parts, and a key that contains one can't be named.
const SEGMENT = /^[^.\p{Cc}]{1,100}$/u
// Characters of JSONPath and JSON Pointer: they would count as a part of a key, which then is never there.
const FOREIGN_SYNTAX = /[*[\]/]/
const LANGUAGE_NAMES: readonly string[] = ['__proto__', 'prototype', 'constructor']
const MAX_SEGMENTS = 10

/** undefined: no such field. */
export function findField(path: string, timezone = 'UTC'): PolicyField | undefined {
  if (problemOfPath(path) !== undefined) return undefined
  switch (path) {
    case 'action_type':
      return { kind: 'string', isAlways: false, read: ({ action_type: type }) => type ?? undefined }
    case 'action_description':
      return { kind: 'string', isAlways: true, read: (facts) => facts.action_description }
    case 'token.biometric':
      return { kind: 'boolean', isAlways: true, read: ({ token }) => token.biometric }
    case 'time.hour':
      return { kind: 'number', isAlways: true, read: (_facts, clock) => clock(timezone).hour }
    case 'time.weekday':
      return { kind: 'number', isAlways: true, read: (_facts, clock) => clock(timezone).weekday }
    case 'context.transaction_amount':
      return { kind: 'any', isAlways: false, read: readAmount }
    case 'context.require_biometric':
      return { kind: 'any', isAlways: false, read: readBiometricFlag }
  }
  const [root, ...segments] = path.split('.') as [Root, ...string[]]
  const kind = KINDS[path] ?? 'any'
  return { kind, isAlways: path in KINDS, read: (facts) => readPath(facts[root] as Json | undefined, segments) }
}

/** The parts of the path of an element, or below it; undefined: the path belongs to the facts. */
export function elementPathOf(
  path: string,
  aliases: readonly string[],
): { alias: string; segments: string[] } | undefined {
  const [alias = '', ...segments] = path.split('.')
  return aliases.includes(alias) ? { alias, segments } : undefined
}

/**
 * Why a path names no field, as a sentence without its subject; undefined: it names one.
 * @param aliases Names of elements that the path may begin with.
 */
export function problemOfPath(path: string, aliases: readonly string[] = []): string | undefined {
  const [root = '', ...segments] = path.split('.')
  const malformation = malformationOf([root, ...segments])
  if (malformation !== undefined) return `is no field of a policy: ${malformation}`
  if (aliases.includes(root) || TEXT_FIELDS.some((one) => one === path)) return undefined
  if (!isMember(root)) {
    const roots = [...TEXT_FIELDS, ...aliases, `members of ${listOf(Object.keys(MEMBERS))}`]
    return `is no field of a policy: those are ${roots.join(', ')}`
  }
  const members = MEMBERS[root]
  if (members.some((pattern) => isMatch(pattern.split('.'), segments))) return undefined
  const [first] = members
  return first === '**'
    ? `is no field of a policy: name a member, such as ${root}.x`
    : `is no field of a policy: ${root} has ${listOf(members.map((pattern) => pattern.replace('**', '*')))}`
}

/** Whether only the quantifiers around a path decide if it names an element. */
export function mayNameElement(path: string): boolean {
  const parts = path.split('.')
  return !RESERVED_NAMES.includes(parts[0] ?? '') && malformationOf(parts) === undefined
}

function isMatch(pattern: readonly string[], segments: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '**'
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return false
  return pattern.every((part, index) => part.startsWith('*') || part === segments[index])
}

function malformationOf(parts: readonly string[]): string | undefined {
  if (parts.length > MAX_SEGMENTS + 1) return `it has more than ${MAX_SEGMENTS} dots`
  if (parts.some((part) => FOREIGN_SYNTAX.test(part))) {
    return 'a path has no *, [, ] or /; any and all read the elements of a list'
  }
  if (parts.some((part) => LANGUAGE_NAMES.includes(part))) return `no name in a path is ${listOf(LANGUAGE_NAMES, 'or')}`
  return parts.every((part) => SEGMENT.test(part)) ? undefined : 'each name in a path has 1 to 100 visible characters'
}

function listOf(names: readonly string[], word = 'and'): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${word} ${last}`
}

// A name takes 50 µs to look up. There are some 600 with their aliases.
const timezones = new Set<string>()

/** Whether this is a name of the IANA database, in its own letters: any other spelling would be one more zone to keep. */
export function isTimezone(name: string): boolean {
  if (timezones.has(name)) return true
  // An offset has no rules for summer time.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    if (Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId !== name) return false
  } catch {
    return false
  }
  timezones.add(name)
  return true
}

/** Clock of one instant; it computes each zone once. */
export function createZoneClock(at: string): ZoneClock {
  const known = new Map<string, { hour: number; weekday: number }>()
  return (timezone) => {
    let time = known.get(timezone)
    if (time === undefined) {
      time = timeIn(timezone, new Date(at))
      known.set(timezone, time)
    }
    return time
  }
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
// A formatter takes 50 µs to make. There are some 600 zones with their aliases.
const formatters = new Map<string, Intl.DateTimeFormat>()

function timeIn(timezone: string, at: Date): { hour: number; weekday: number } {
  let formatter = formatters.get(timezone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      weekday: 'short',
      hour: 'numeric',
      hourCycle: 'h23',
    })
    if (formatters.size < 1_000) formatters.set(timezone, formatter)
  }
  const parts = formatter.formatToParts(at)
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  return { hour: Number(part('hour')), weekday: WEEKDAYS.indexOf(part('weekday')) + 1 }
}

// The largest counts: an agent must not lower the amount by the choice of the field.
function readAmount({ context, action_payload: payload }: PolicyFacts): Json | undefined {
  const amounts = [own(context, 'transaction_amount'), own(payload, 'transaction_amount'), own(payload, 'amount')]
  let most: Numeric | undefined
  for (const amount of amounts) {
    if (amount === undefined || amount === null) continue
    // The wrong type, for which every comparison of numbers fails closed.
    if (!isNumeric(amount)) return amount
    if (most === undefined || compareNumbers(amount, most) > 0) most = amount
  }
  return most
}

function readBiometricFlag({ context, action_payload: payload }: PolicyFacts): Json | undefined {
  const flags = [own(context, 'require_biometric'), own(payload, 'require_biometric')]
  const given = flags.filter((flag) => flag !== undefined && flag !== null)
  // A flag of the wrong type is an error only where no other source asks.
  return given.includes(true) ? true : (given.find((flag) => flag !== false) ?? given[0])
}

/** A value below a value, by own members and positions. undefined: missing, as is null. */
export function readPath(root: Json | undefined, segments: readonly string[]): Json | undefined {
  let value: Json | undefined = root
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]{0,5})$/.test(segment) ? value[Number(segment)] : undefined
    else value = own(value, segment)
  }
  return value ?? undefined
}

function own(object: { [key: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isMember(name: string): name is keyof typeof MEMBERS {
  return Object.hasOwn(MEMBERS, name)
}
