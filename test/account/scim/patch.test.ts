// PATCH and filters as pure functions: against a second reading of RFC 7644 3.5.2, and against hostile input.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseUserFilter } from '#src/account/scim/filter.ts'
import { patchResource } from '#src/account/scim/patch.ts'
import type { ScimEmail, ScimResource } from '#src/account/scim/resource.ts'
import { Failure } from '#src/failure.ts'

const BASE: ScimResource = { userName: 'mika@acme.example', active: true }
const patched = (resource: ScimResource, ...Operations: object[]) => patchResource(resource, { Operations })

// The reference: each rule of RFC 7644 3.5.2 as one step on a plain object, with the two additions that Entra ID needs (an absent
// element is added; null is no value).

interface Operation {
  op: 'add' | 'replace' | 'remove'
  path: string
  value?: unknown
}
type Plain = Record<string, unknown> & { name?: Record<string, unknown>; emails?: Record<string, unknown>[] }

function reference(resource: ScimResource, operations: readonly Operation[]): Plain {
  const result = structuredClone(resource) as unknown as Plain
  for (const { op, path, value } of operations) {
    const [, filterType, part] = /^emails(?:\[type eq "([^"]*)"\])?(?:\.(\w+))?$/.exec(path) ?? []
    if (path === 'emails' && op === 'add') addAll(result, value as Record<string, unknown>[])
    else if (path === 'emails' && op === 'replace') result.emails = single(structuredClone(value) as never, -1)
    else if (path.startsWith('emails[')) inEmails(result, { op, type: filterType ?? '', part, value })
    else if (path.startsWith('name.')) {
      const key = path.slice(5)
      if (op === 'remove') {
        if (result.name !== undefined) delete result.name[key]
      } else result.name = { ...result.name, [key]: value }
    } else if (op === 'remove') delete result[path]
    else if (path === 'name') result.name = { ...result.name, ...(value as object) }
    else result[path] = value
  }
  return result
}

// 3.5.2.1: a value that is there already is not added again.
function addAll(result: Plain, values: readonly Record<string, unknown>[]): void {
  for (const value of values) {
    const emails = result.emails ?? []
    const text = (email: object) => JSON.stringify(Object.entries(email).sort())
    if (emails.some((email) => text(email) === text(value))) continue
    result.emails = single([...emails, { ...value }], emails.length)
  }
}

function inEmails(
  result: Plain,
  { op, type, part, value }: { op: Operation['op']; type: string; part: string | undefined; value: unknown },
): void {
  const emails = result.emails
  const isMatch = (email: Record<string, unknown>) => String(email.type ?? '\0').toLowerCase() === type.toLowerCase()
  if (op === 'remove') {
    if (emails === undefined) return
    result.emails = emails.flatMap((email) => {
      if (!isMatch(email)) return [email]
      if (part === undefined || part === 'value') return []
      const { [part]: _, ...rest } = email
      return [rest]
    })
    return
  }
  const next = (email: Record<string, unknown>) =>
    part !== undefined
      ? { ...email, [part]: value }
      : op === 'replace'
        ? { ...(value as object) }
        : { ...email, ...(value as object) }
  const list = emails ?? []
  if (list.some(isMatch)) {
    result.emails = single(
      list.map((email) => (isMatch(email) ? next(email) : email)),
      list.findIndex(isMatch),
    )
    return
  }
  const made = part !== undefined ? { type, [part]: value } : { type, ...(value as object) }
  result.emails = single([...list, made], list.length)
}

// 3.5.2: one value is primary, the newest that says so.
function single(emails: Record<string, unknown>[], changed: number): Record<string, unknown>[] {
  const chosen = emails[changed]?.primary === true ? changed : emails.findIndex(({ primary }) => primary === true)
  return emails.map((email, index) =>
    email.primary === true && index !== chosen ? { ...email, primary: false } : email,
  )
}

const text = fc.string({ maxLength: 8 })
const type = fc.constantFrom('work', 'home', 'Other')
const email: fc.Arbitrary<ScimEmail> = fc.record(
  { value: text, type, primary: fc.boolean(), display: text },
  { requiredKeys: ['value'] },
) as never
const emails = fc.array(email, { maxLength: 3 })
const name = fc.record({ givenName: text, familyName: text, formatted: text }, { requiredKeys: [] })
const resource = fc
  .record(
    { externalId: text, displayName: text, name, emails: emails.map((list) => single(list as never, -1)) },
    { requiredKeys: [] },
  )
  .map((rest) => ({ ...BASE, ...rest }) as ScimResource)
const path = fc.oneof(
  fc.constantFrom('displayName', 'externalId', 'name.givenName', 'name.formatted'),
  fc.constantFrom('name', 'emails', 'userName', 'active'),
  fc
    .tuple(type, fc.constantFrom('', '.value', '.display', '.primary'))
    .map(([of, part]) => `emails[type eq "${of}"]${part}`),
)
const operation: fc.Arbitrary<Operation> = fc
  .tuple(fc.constantFrom('add', 'replace', 'remove') as fc.Arbitrary<Operation['op']>, path)
  .chain(([op, at]) => {
    const isRequired = at === 'userName' || at === 'active'
    const value =
      at === 'emails'
        ? emails
        : at === 'name'
          ? name
          : at === 'active' || at.endsWith('.primary')
            ? fc.boolean()
            : at.endsWith(']')
              ? email
              : text
    return fc.record({ op: fc.constant(isRequired && op === 'remove' ? 'replace' : op), path: fc.constant(at), value })
  })
  .map(({ op, path: at, value }) => (op === 'remove' ? { op, path: at } : { op, path: at, value }))

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
const cased = (operations: readonly Operation[]) =>
  operations.map(({ op, ...rest }, index) => ({ op: index % 2 === 0 ? op.toUpperCase() : op, ...rest }))

describe('PATCH', () => {
  it('equals the reference over random resources and operations', () => {
    fc.assert(
      fc.property(resource, fc.array(operation, { minLength: 1, maxLength: 6 }), (before, operations) => {
        const untouched = structuredClone(before)
        expect(plain(patched(before, ...cased(operations)))).toEqual(plain(reference(before, operations)))
        expect(before).toEqual(untouched)
      }),
      { numRuns: 3_000 },
    )
  })

  it('changes no prototype, whatever is sent, and ends in a resource or a refusal', () => {
    const names = fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'name',
      'emails',
      'active',
      'op',
      'path',
      'value',
    )
    const keys = fc.oneof(
      names,
      fc.tuple(names, names).map((pair) => pair.join('.')),
      fc.string({ maxLength: 20 }),
    )
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.boolean(),
        fc.integer(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc
        .array(fc.tuple(keys, tie('value')), { maxLength: 4 })
        .map((pairs) =>
          JSON.parse(`{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`),
        ),
    })).object
    const before = JSON.stringify([
      Object.getOwnPropertyNames(Object.prototype),
      Object.getOwnPropertyNames(Array.prototype),
    ])
    fc.assert(
      fc.property(
        fc.constantFrom('add', 'replace', 'remove', 'x'),
        fc.option(keys, { nil: undefined }),
        values,
        (op, at, value) => {
          try {
            const { userName, active } = patched(BASE, { op, ...(at !== undefined && { path: at }), value })
            expect([typeof userName, typeof active]).toEqual(['string', 'boolean'])
          } catch (error) {
            if (!(error instanceof Failure)) throw error
          }
        },
      ),
      { numRuns: 3_000 },
    )
    expect(
      JSON.stringify([Object.getOwnPropertyNames(Object.prototype), Object.getOwnPropertyNames(Array.prototype)]),
    ).toBe(before)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('reads "False" as false, wherever it stands', () => {
    for (const value of ['False', 'false', false, [{ value: 'False' }]]) {
      expect(patched(BASE, { op: 'Replace', path: 'active', value }).active).toBe(false)
      expect(patched(BASE, { op: 'replace', value: { active: value } }).active).toBe(false)
      expect(
        patched(BASE, { op: 'replace', value: { 'urn:ietf:params:scim:schemas:core:2.0:User:active': value } }).active,
      ).toBe(false)
    }
  })
})

describe('a filter', () => {
  it('reads what directories send', () => {
    expect(parseUserFilter('USERNAME Eq "A@b.c" AND active eq True and externalId eq "X"')).toEqual([
      { attribute: 'userName', value: 'A@b.c' },
      { attribute: 'active', value: true },
      { attribute: 'externalId', value: 'X' },
    ])
    expect(parseUserFilter('emails[Type eq "Work"].value eq "a\\"b"')).toEqual([
      { attribute: 'workEmail', value: 'a"b' },
    ])
    expect(parseUserFilter('urn:ietf:params:scim:schemas:core:2.0:User:userName eq "a"')).toEqual([
      { attribute: 'userName', value: 'a' },
    ])
  })

  it('of 64 KiB ends within 50 ms, whatever is in it', () => {
    const fill = (part: string) => part.repeat(Math.ceil(65_536 / part.length)).slice(0, 65_536)
    const texts = [
      ...[
        'a',
        '"',
        '\\',
        '(',
        ' ',
        'userName eq "a" and ',
        'userName eq "a" or ',
        'emails[',
        'and ',
        '\\"',
        'urn:',
      ].map(fill),
      `userName eq "${fill('\\\\').slice(0, 65_000)}`,
      `userName eq "${fill('a').slice(0, 65_000)}"`,
      `userName eq "a"${fill(' ').slice(0, 65_000)}x`,
    ]
    const attempt = (filter: string) => {
      try {
        parseUserFilter(filter)
      } catch (error) {
        if (!(error instanceof Failure)) throw error
      }
    }
    attempt('warm eq "up"')
    for (const filter of texts) {
      // The best of some: another process may take the processor meanwhile.
      const times = Array.from({ length: 5 }, () => {
        const startedAt = performance.now()
        attempt(filter)
        return performance.now() - startedAt
      })
      expect(Math.min(...times), filter.slice(0, 30)).toBeLessThan(50)
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (filter) => attempt(filter)),
      { numRuns: 2_000 },
    )
  })
})
