// The fields that conditions may name, and how they are read from the facts. Only own members are read: a path such as
// `context.constructor` names no inherited one.

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

const ROOTS = ['action_payload', 'context', 'agent', 'device', 'session', 'mandate', 'schedule', 'canary'] as const
type Root = (typeof ROOTS)[number]

const KINDS: Record<string, FieldKind> = {
  'device.id': 'string',
  'device.tier': 'string',
  'device.enrolled': 'boolean',
}
// Of one segment. A dot separates segments, and a key that contains one can't be named.
const SEGMENT = /^[^.\p{Cc}]{1,100}$/u
const MAX_SEGMENTS = 10
export const TIME_FIELDS = ['time.hour', 'time.weekday'] as const

/** undefined: no such field. */
export function findField(path: string, timezone = 'UTC'): PolicyField | undefined {
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
  const [root, ...segments] = path.split('.')
  if (!isRoot(root) || segments.length === 0 || segments.length > MAX_SEGMENTS) return undefined
  if (!segments.every((segment) => SEGMENT.test(segment))) return undefined
  const kind = KINDS[path] ?? 'any'
  return { kind, isAlways: path in KINDS, read: (facts) => readPath(facts[root] as Json | undefined, segments) }
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

/** Of one instant; each zone is computed once. */
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

function readPath(root: Json | undefined, segments: readonly string[]): Json | undefined {
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

function isRoot(name: string | undefined): name is Root {
  return ROOTS.some((root) => root === name)
}
