// Filters of directories (RFC 7644 3.4.2.2): `attribute eq value`, joined by `and`. They are all that Okta and Entra ID send. Read from
// left to right, once, so that a long filter takes no longer than its length.

import { scimFailure } from './errors.ts'
import { EMAIL_PARTS, type EmailPart, known, USER_SCHEMA } from './resource.ts'

/** One comparison of a list of users. */
export type UserCondition =
  | { attribute: 'id' | 'userName' | 'externalId' | 'workEmail'; value: string }
  | { attribute: 'active'; value: boolean }

export type EmailCondition = { part: EmailPart; value: string | boolean }

const MAX_FILTER = 65_536
// Each is a condition of the statement.
const MAX_TERMS = 20
const NAMES = ['id', 'userName', 'externalId', 'active'] as const

/** @throws {Failure} `invalidFilter` */
export function parseUserFilter(text: string): UserCondition[] {
  if (text.length > MAX_FILTER) throw invalidFilter()
  const reader = createReader(text)
  const conditions: UserCondition[] = []
  do {
    if (conditions.length >= MAX_TERMS) throw invalidFilter()
    const attribute = readPath(reader)
    reader.word('eq')
    conditions.push(conditionOf(attribute, reader.value()))
  } while (reader.and())
  return conditions
}

function readPath(reader: Reader): (typeof NAMES)[number] | 'workEmail' {
  const given = withoutSchema(reader.name())
  const name = known(NAMES, given)
  if (name !== undefined) return name
  if (given.toLowerCase() !== 'emails' || !reader.take('[')) throw invalidFilter()
  const inside = reader.name()
  reader.word('eq')
  const type = reader.value()
  const isWork = inside.toLowerCase() === 'type' && typeof type === 'string' && type.toLowerCase() === 'work'
  if (!isWork || !reader.take(']') || reader.name().toLowerCase() !== '.value') throw invalidFilter()
  return 'workEmail'
}

function conditionOf(attribute: (typeof NAMES)[number] | 'workEmail', value: string | boolean): UserCondition {
  if (attribute !== 'active') {
    if (typeof value !== 'string') throw invalidFilter()
    return { attribute, value }
  }
  const text = String(value).toLowerCase()
  if (text !== 'true' && text !== 'false') throw invalidFilter()
  return { attribute, value: text === 'true' }
}

/** The filter of a path of PATCH, such as `type eq "work"`. @throws {Failure} `invalidFilter` */
export function parseEmailFilter(text: string): EmailCondition[] {
  const reader = createReader(text)
  const conditions: EmailCondition[] = []
  do {
    if (conditions.length >= MAX_TERMS) throw invalidFilter()
    const part = known(EMAIL_PARTS, reader.name())
    reader.word('eq')
    const value = reader.value()
    if (part === undefined) throw invalidFilter()
    if (part !== 'primary' && typeof value !== 'string') throw invalidFilter()
    conditions.push({ part, value: part === 'primary' ? booleanOf(value) : value })
  } while (reader.and())
  return conditions
}

function booleanOf(value: string | boolean): boolean {
  const text = String(value).toLowerCase()
  if (text !== 'true' && text !== 'false') throw invalidFilter()
  return text === 'true'
}

/** A name may begin with the URN of its schema (RFC 7644 3.10). */
export function withoutSchema(path: string): string {
  const isPrefixed = path.slice(0, USER_SCHEMA.length).toLowerCase() === USER_SCHEMA.toLowerCase()
  return isPrefixed && path[USER_SCHEMA.length] === ':' ? path.slice(USER_SCHEMA.length + 1) : path
}

type Reader = ReturnType<typeof createReader>

function createReader(text: string) {
  let at = 0
  const skip = () => {
    while (text[at] === ' ') at += 1
  }
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  return {
    /** An attribute's name, with its schema; `.value` after a bracket. */
    name(): string {
      skip()
      const found = match(/[A-Za-z.][A-Za-z0-9:._-]*/y)
      if (found === undefined) throw invalidFilter()
      return found
    },
    word(expected: string): void {
      skip()
      if (match(/[A-Za-z]+/y)?.toLowerCase() !== expected) throw invalidFilter()
    },
    take(character: string): boolean {
      if (text[at] !== character) return false
      at += 1
      return true
    },
    value(): string | boolean {
      skip()
      const quoted = match(/"(?:[^"\\]|\\.)*"/y)
      if (quoted !== undefined) return parseText(quoted)
      const literal = match(/true|false/iy)
      if (literal === undefined) throw invalidFilter()
      return literal.toLowerCase() === 'true'
    },
    /** Whether another term follows; otherwise the text must be at its end. */
    and(): boolean {
      const start = at
      skip()
      if (at === text.length) return false
      if (at === start || match(/and(?= )/iy) === undefined) throw invalidFilter()
      return true
    },
  }
}

function parseText(quoted: string): string {
  try {
    const text: unknown = JSON.parse(quoted)
    if (typeof text === 'string' && !text.includes('\0')) return text
  } catch {
    // An escape that JSON has not.
  }
  throw invalidFilter()
}

export function invalidFilter() {
  return scimFailure(
    'invalidFilter',
    'A filter compares id, userName, externalId, active or emails[type eq "work"].value by eq; terms are joined by and.',
  )
}
