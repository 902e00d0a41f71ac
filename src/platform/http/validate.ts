// Turns zod's issues into findings that a caller can act on: every finding at once, each with its RFC 6901 pointer
// (`?name` for a query parameter), one of our codes and a sentence. Values are never echoed.

import { z } from 'zod'
import type { ScopedType } from '#src/catalogue/ids.ts'
import { Failure, type FieldError, invalidField, sentenceOf } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { redactTokens } from '#src/platform/log.ts'

type Issue = z.core.$ZodIssue
export type Place = 'body' | 'query'
interface Asked {
  place: Place
  schema: z.ZodType
}
export type Parsed<Value = unknown> = { ok: true; value: Value } | { ok: false; errors: FieldError[] }

// More findings about a body with this many errors would repeat the same few.
const MAX_ERRORS = 100
const MAX_POINTER = 500

/** Parses `value`, or returns every finding. */
export function parseWith(schema: z.ZodType, value: unknown, place: Place): Parsed {
  return parsedBy(schema, schema.safeParse(value, { reportInput: true }), place)
}

/** Same as `parseWith`, for a body of many values: the schema validates its longest arrays in slices. */
export async function parseInSlices(schema: z.ZodType, value: unknown): Promise<Parsed> {
  return parsedBy(schema, await schema.safeParseAsync(value, { reportInput: true }), 'body')
}

function parsedBy(schema: z.ZodType, result: z.ZodSafeParseResult<unknown>, place: Place): Parsed {
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, errors: findingsOf(result.error.issues, { place, schema }) }
}

/**
 * Parses a query string by a strict schema, or with `ignoresUnknown` by the parameters that the schema declares. A repeated parameter is refused unless its schema is an array: proxies and
 * servers disagree on which one counts.
 */
export function parseQuery(
  schema: z.ZodObject | undefined,
  search: string,
  { ignoresUnknown = false }: { ignoresUnknown?: boolean } = {},
): Parsed {
  if (schema === undefined && (ignoresUnknown || search === '')) return { ok: true, value: {} }
  const values: Record<string, string | string[]> = {}
  const errors: FieldError[] = []
  for (const part of search.split('&')) {
    if (part === '') continue
    const pair = splitPair(part)
    if (ignoresUnknown && (pair[0] === undefined || !Object.hasOwn(schema?.shape ?? {}, pair[0]))) continue
    const error = addPair(values, pair, schema)
    if (error !== undefined) errors.push(error)
    if (errors.length >= MAX_ERRORS) return { ok: false, errors }
  }
  const parsed = schema === undefined ? refuseAll(values) : parseWith(schema, values, 'query')
  if (errors.length === 0) return parsed
  return { ok: false, errors: [...errors, ...(parsed.ok ? [] : parsed.errors)].slice(0, MAX_ERRORS) }
}

function addPair(
  values: Record<string, string | string[]>,
  [name, value]: ReturnType<typeof splitPair>,
  schema: z.ZodObject | undefined,
): FieldError | undefined {
  if (name === undefined || value === undefined) {
    return { pointer: '?', code: 'invalid_encoding', detail: 'has a malformed percent-encoding' }
  }
  const pointer = pointerOf([name], 'query')
  if (value.includes('\0') || name.includes('\0')) {
    return { pointer, code: 'invalid_character', detail: 'must not contain U+0000' }
  }
  const known = Object.hasOwn(values, name) ? values[name] : undefined
  if (typeof known === 'string') return { pointer, code: 'duplicate', detail: 'must be given only once' }
  if (known !== undefined) known.push(value)
  else {
    const first = takesSeveral(schema, name) ? [value] : value
    Object.defineProperty(values, name, { value: first, enumerable: true, configurable: true, writable: true })
  }
  return undefined
}

function takesSeveral(schema: z.ZodObject | undefined, name: string): boolean {
  const member = schema !== undefined && Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined
  return member !== undefined && unwrapped(member as z.ZodType) instanceof z.ZodArray
}

/** One failure for several findings. */
export function invalidRequest(errors: FieldError[]): Failure {
  const [first] = errors
  const detail =
    errors.length === 1 && first !== undefined
      ? sentenceOf(first)
      : `The request has ${errors.length} findings; see errors.`
  return new Failure('invalid_request', { detail, errors })
}

/** RFC 6901, or `?name` for a query parameter. */
export function pointerOf(path: readonly PropertyKey[], place: Place): string {
  const segments = path.map((one) => String(one).replaceAll('~', '~0').replaceAll('/', '~1'))
  const whole = place === 'query' ? `?${String(path[0] ?? '')}` : segments.map((one) => `/${one}`).join('')
  // A caller that puts a secret where a name belongs is not sent it back.
  const pointer = redactTokens(whole)
  return pointer.length > MAX_POINTER ? `${pointer.slice(0, MAX_POINTER)}…` : pointer
}

function findingsOf(issues: readonly Issue[], asked: Asked): FieldError[] {
  const errors: FieldError[] = []
  for (const issue of issues) {
    if (errors.length >= MAX_ERRORS) break
    for (const finding of findingOf(issue, [], asked)) {
      // The length of what has the wrong type says nothing more.
      const isRepeat = errors.some(({ pointer, code }) => pointer === finding.pointer && code === 'invalid_type')
      if (!isRepeat) errors.push(finding)
    }
  }
  return errors.slice(0, MAX_ERRORS)
}

function findingOf(issue: Issue, base: readonly PropertyKey[], asked: Asked): FieldError[] {
  const { place, schema } = asked
  const path = [...base, ...issue.path]
  const pointer = pointerOf(path, place)
  const one = (code: FieldErrorCode, detail: string): FieldError[] => [{ pointer, code, detail }]
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined)
        return one('required', path.length === 0 ? 'is missing: send a JSON body' : 'is required')
      return one('invalid_type', `must be ${nameOf(issue.expected)}`)
    case 'invalid_value':
      if (issue.input === undefined) return one('required', 'is required')
      return one('invalid_value', `must be ${listOf(issue.values.map((value) => JSON.stringify(value)))}`)
    case 'too_small':
    case 'too_big':
      return one(...boundOf(issue))
    case 'invalid_format':
      return one('invalid_format', formatOf(issue.format, place) ?? ownWords(issue.message) ?? 'has the wrong format')
    case 'not_multiple_of':
      return one('not_multiple_of', `must be a multiple of ${issue.divisor}`)
    case 'unrecognized_keys':
      return unknownNames(issue.keys, path, { place, known: knownNames(schema, path) })
    case 'invalid_union':
      return unionFindings(issue, path, asked)
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => findingOf(inner, path, asked))
    case 'custom': {
      const code: unknown = issue.params?.code
      if (code === 'invalid_type' && issue.input === undefined) return one('required', 'is required')
      return one(
        typeof code === 'string' ? (code as FieldErrorCode) : 'invalid_value',
        ownWords(issue.message) ?? 'is not valid',
      )
    }
    default:
      return one('invalid_value', 'is not valid')
  }
}

// The alternative that matched furthest is the one that the caller meant: it has the right type at its root. If none
// has, the accepted types are named.
function unionFindings(issue: z.core.$ZodIssueInvalidUnion, path: PropertyKey[], asked: Asked): FieldError[] {
  const pointer = pointerOf(path, asked.place)
  if (issue.discriminator !== undefined) {
    const options = 'options' in issue ? issue.options : undefined
    if (options === undefined) return [{ pointer, code: 'invalid_value', detail: 'names no known alternative' }]
    const detail = `must be ${listOf(options.map((value) => JSON.stringify(value)))}`
    return [{ pointer, code: 'invalid_value', detail }]
  }
  const started = issue.errors.filter((branch) => !branch.some((one) => one.path.length === 0 && isWrongAtRoot(one)))
  const [best] = started.toSorted((a, b) => weightOf(a) - weightOf(b))
  if (best !== undefined) return best.flatMap((inner) => findingOf(inner, path, asked))
  if (issue.input === undefined && issue.errors.length > 0)
    return [{ pointer, code: 'required', detail: 'is required' }]
  const details = issue.errors.flat().flatMap((inner) => findingOf(inner, path, asked).map((one) => one.detail))
  const detail = [...new Set(details)].join(', or ')
  return [{ pointer, code: 'invalid_type', detail: detail === '' ? 'matches no alternative' : detail }]
}

// The known names are listed once, in the first finding.
function unknownNames(
  names: readonly string[],
  path: readonly PropertyKey[],
  { place, known }: { place: Place; known: readonly string[] },
): FieldError[] {
  const what = place === 'query' ? 'parameters' : 'members'
  const others = known.length === 0 ? `no ${what} are` : `known ${what} are ${known.join(', ')}`
  return names.slice(0, MAX_ERRORS).map((name, index) => ({
    pointer: pointerOf([...path, name], place),
    code: 'unknown_field',
    detail: index === 0 ? `is not known here: ${others}` : 'is not known here',
  }))
}

function isWrongAtRoot(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union'
}

function weightOf(issues: readonly Issue[]): number {
  return issues.reduce((sum, one) => sum + (one.code === 'unrecognized_keys' ? one.keys.length : 1), 0)
}

function boundOf(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): [code: FieldErrorCode, detail: string] {
  const { origin, inclusive = true } = issue
  const few = issue.code === 'too_small'
  const bound = few ? issue.minimum : issue.maximum
  const amount = `${issue.exact === true ? 'exactly' : few ? 'at least' : 'at most'} ${bound}`
  const plural = Number(bound) === 1 ? '' : 's'
  if (origin === 'string') return [few ? 'too_short' : 'too_long', `must have ${amount} character${plural}`]
  if (origin === 'array' || origin === 'set') return [few ? 'too_few' : 'too_many', `must have ${amount} item${plural}`]
  if (origin === 'date') {
    const at = new Date(Number(bound)).toISOString()
    return ['out_of_range', `must not be ${few ? 'before' : 'after'} ${at}`]
  }
  if (origin === 'object' || origin === 'record' || origin === 'map') {
    return [few ? 'too_few' : 'too_many', `must have ${amount} member${plural}`]
  }
  return ['out_of_range', inclusive ? `must be ${amount}` : `must be ${few ? 'more' : 'less'} than ${bound}`]
}

const NAMES: Record<string, string> = {
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
  never: 'absent',
  nan: 'a number',
}

function nameOf(expected: string): string {
  return NAMES[expected] ?? `a ${expected}`
}

const FORMATS: Record<string, string> = {
  datetime: 'must be an ISO 8601 time with a zone, such as 2026-11-20T15:11:00.000Z',
  date: 'must be an ISO 8601 date, such as 2026-11-20',
  base64: 'must be base64 (RFC 4648 4, padded)',
  base64url: 'must be base64url (RFC 4648 5, not padded)',
  hex: 'must be hexadecimal',
  sha256_hex: 'must be a SHA-256 as 64 hexadecimal digits',
  url: 'must be an absolute URL',
  email: 'must be an e-mail address',
  uuid: 'must be a UUID',
}

function formatOf(format: string, place: Place): string | undefined {
  const said = FORMATS[format]
  // A plus sign in a query is a space: the most frequent way to lose an offset.
  return format === 'datetime' && place === 'query' ? `${said}; an offset's + is written %2B` : said
}

// zod's default messages begin with 'Invalid'. A message by a schema's author does not, and says more.
function ownWords(message: string): string | undefined {
  return message.startsWith('Invalid') ? undefined : message
}

function listOf(values: string[]): string {
  const last = values.at(-1) ?? ''
  return values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`
}

function refuseAll(values: Record<string, unknown>): Parsed {
  const names = Object.keys(values)
  if (names.length === 0) return { ok: true, value: {} }
  return { ok: false, errors: unknownNames(names, [], { place: 'query', known: [] }) }
}

function splitPair(part: string): [name: string | undefined, value: string | undefined] {
  const at = part.indexOf('=')
  return at === -1 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/**
 * The member names that a schema has at a path, so that the refusal of an unknown name can list them. Empty where the path
 * is unknown, or where any name is allowed.
 */
function knownNames(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const [next, ...rest] = path
  if (next === undefined) return [...new Set(objectsOf(schema).flatMap((one) => Object.keys(one.shape)))]
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodArray && typeof next === 'number') return knownNames(inner.element as z.ZodType, rest)
  const members = objectsOf(schema).map((one) => one.shape[String(next)])
  return [...new Set(members.flatMap((member) => (member === undefined ? [] : knownNames(member as z.ZodType, rest))))]
}

function objectsOf(schema: z.ZodType): z.ZodObject[] {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodObject) return [inner]
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => objectsOf(option as z.ZodType))
  return []
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  ) {
    return unwrapped(schema.def.innerType as z.ZodType)
  }
  if (schema instanceof z.ZodLazy) return unwrapped(schema.def.getter() as z.ZodType)
  return schema instanceof z.ZodPipe ? unwrapped(schema.def.in as z.ZodType) : schema
}

/**
 * A filter of a list that names something by its id: a malformed id would match no row, and the caller would not see the
 * typing error.
 * @throws {Failure} `environment_mismatch`, `invalid_request` at `?<name>`.
 */
export function checkIdFilter(name: string, id: string | undefined, type: ScopedType, { environment }: Scope): void {
  try {
    if (id !== undefined) checkId(id, type, environment)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_found') throw error
    throw invalidField(`?${name}`, 'invalid_id', error.message)
  }
}
