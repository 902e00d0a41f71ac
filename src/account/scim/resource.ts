// A user as a directory sees it (RFC 7643 4.1), of which this service keeps a few attributes. Names are compared without regard to
// case; unknown ones are ignored. Resources are built from the known names alone, so that no name of a request becomes a property.

import { scimFailure } from './errors.ts'

export const NAME_PARTS = [
  'formatted',
  'familyName',
  'givenName',
  'middleName',
  'honorificPrefix',
  'honorificSuffix',
] as const
export type NamePart = (typeof NAME_PARTS)[number]
export type ScimName = { [Part in NamePart]?: string }

export const EMAIL_PARTS = ['value', 'display', 'type', 'primary'] as const
export type EmailPart = (typeof EMAIL_PARTS)[number]
export interface ScimEmail {
  value?: string
  display?: string
  type?: string
  primary?: boolean
}

/** What a directory reads and writes. */
export interface ScimResource {
  userName: string
  externalId?: string
  displayName?: string
  name?: ScimName
  emails?: ScimEmail[]
  active: boolean
}

export const ATTRIBUTES = ['userName', 'externalId', 'displayName', 'name', 'emails', 'active'] as const
export type Attribute = (typeof ATTRIBUTES)[number]
/** Set by the service. */
export const READ_ONLY = ['id', 'meta', 'schemas'] as const

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
const MAX_TEXT = 1_024
export const MAX_EMAILS = 20

/** The known name that is meant, without regard to case. */
export function known<Name extends string>(names: readonly Name[], given: string): Name | undefined {
  const lower = given.toLowerCase()
  return names.find((name) => name.toLowerCase() === lower)
}

/** The members of an object, by their known names. */
export function membersOf<Name extends string>(names: readonly Name[], value: object): [Name, unknown][] {
  return Object.entries(value).flatMap(([given, member]): [Name, unknown][] => {
    const name = known(names, given)
    return name === undefined ? [] : [[name, member]]
  })
}

/**
 * A resource of a POST or a PUT.
 * @param activeBefore What a body without `active` leaves.
 * @throws {Failure} in SCIM's form, as all functions of this file.
 */
export function readResource(body: object, activeBefore: boolean): ScimResource {
  const resource: Partial<ScimResource> = {}
  for (const [name, value] of membersOf(ATTRIBUTES, body)) {
    if (value !== null) Object.assign(resource, { [name]: readAttribute(name, value) })
  }
  const { userName, active = activeBefore, ...rest } = resource
  if (userName === undefined) throw invalidValue('The attribute userName is required')
  return { ...rest, userName, active }
}

/** The value of an attribute, which is not null. */
export function readAttribute(name: Attribute, value: unknown): ScimResource[Attribute] {
  switch (name) {
    case 'active':
      return readBoolean(unwrapped(value), name)
    case 'name':
      return readName(value)
    case 'emails':
      return readEmails(value)
    default:
      return readText(unwrapped(value), name)
  }
}

// Older versions of Entra ID put the value of a simple attribute into an array of one object.
function unwrapped(value: unknown): unknown {
  const [only, ...others] = Array.isArray(value) ? (value as unknown[]) : []
  return others.length === 0 && isObject(only) && 'value' in only ? only.value : value
}

/** Entra ID sends booleans as the texts `"True"` and `"False"`. */
export function readBoolean(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (text === 'true' || text === 'false') return text === 'true'
  throw invalidValue(`The value of ${name} must be true or false`)
}

export function readText(value: unknown, name: string): string {
  if (typeof value === 'string' && value.length <= MAX_TEXT) return value
  throw invalidValue(`The value of ${name} must be a text of at most ${MAX_TEXT} characters`)
}

export function readName(value: unknown): ScimName {
  if (!isObject(value)) throw invalidValue('The value of name must be an object')
  const name: ScimName = {}
  for (const [part, text] of membersOf(NAME_PARTS, value)) {
    if (text !== null) name[part] = readText(text, `name.${part}`)
  }
  return name
}

/** One value, too: some clients send it without an array. */
export function readEmails(value: unknown): ScimEmail[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value]
  if (list.length > MAX_EMAILS) throw invalidValue(`A user has at most ${MAX_EMAILS} emails`)
  return list.map(readEmail)
}

export function readEmail(value: unknown): ScimEmail {
  if (!isObject(value)) throw invalidValue('A value of emails must be an object')
  const email: ScimEmail = {}
  for (const [part, given] of membersOf(EMAIL_PARTS, value)) {
    if (given !== null) Object.assign(email, { [part]: readEmailPart(part, given) })
  }
  return email
}

export function readEmailPart(part: EmailPart, value: unknown): string | boolean {
  return part === 'primary' ? readBoolean(value, 'emails.primary') : readText(value, `emails.${part}`)
}

/** The address of the type `work`, which the filter finds. */
export function workEmailOf({ emails = [] }: ScimResource): string | null {
  const work = emails.find(({ type, value }) => type?.toLowerCase() === 'work' && value !== undefined)
  return work?.value?.toLowerCase() ?? null
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalidValue(detail: string) {
  return scimFailure('invalidValue', `${detail}.`)
}
