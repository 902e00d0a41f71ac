// PATCH of a user (RFC 7644 3.5.2), as Okta and Entra ID send it: operations in any case, with and without a path, dotted and
// filtered names as keys, booleans as texts. Pure: the resource that comes of all operations, or a refusal of all.

import { scimFailure } from './errors.ts'
import { type EmailCondition, parseEmailFilter, withoutSchema } from './filter.ts'
import {
  ATTRIBUTES,
  type Attribute,
  EMAIL_PARTS,
  type EmailPart,
  isObject,
  known,
  MAX_EMAILS,
  membersOf,
  NAME_PARTS,
  type NamePart,
  READ_ONLY,
  readAttribute,
  readEmail,
  readEmailPart,
  readEmails,
  readName,
  readText,
  type ScimEmail,
  type ScimResource,
  USER_SCHEMA,
} from './resource.ts'

const OPERATIONS = ['add', 'replace', 'remove'] as const
type Op = (typeof OPERATIONS)[number]
const MAX_OPERATIONS = 100

/** What a path names. `ignored`: an attribute that this service does not keep. */
type Target =
  | { kind: 'ignored' }
  | { kind: 'attribute'; name: Attribute }
  | { kind: 'name'; part: NamePart }
  | { kind: 'emails'; filter: EmailCondition[]; part: EmailPart | undefined }

/** @throws {Failure} in SCIM's form. */
export function patchResource(resource: ScimResource, body: object): ScimResource {
  let operations: unknown
  for (const [, value] of membersOf(['Operations'], body)) operations = value
  if (!Array.isArray(operations) || operations.length === 0) {
    throw scimFailure('invalidSyntax', 'The member Operations must be a list of at least one operation.')
  }
  if (operations.length > MAX_OPERATIONS) {
    throw scimFailure('tooMany', `A PATCH has at most ${MAX_OPERATIONS} operations.`)
  }
  return operations.reduce(
    (patched: ScimResource, one: unknown) => applyOperation(patched, one),
    structuredClone(resource),
  )
}

function applyOperation(resource: ScimResource, operation: unknown): ScimResource {
  if (!isObject(operation)) throw scimFailure('invalidSyntax', 'An operation must be an object.')
  const { op: given, path, value } = Object.fromEntries(membersOf(['op', 'path', 'value'], operation))
  const op = typeof given === 'string' ? known(OPERATIONS, given) : undefined
  if (op === undefined) throw scimFailure('invalidSyntax', `The op must be one of ${OPERATIONS.join(', ')}.`)
  if (path !== undefined && path !== null) {
    if (typeof path !== 'string') throw invalidPath()
    return apply(resource, op, parsePath(path), value)
  }
  if (op === 'remove') throw scimFailure('noTarget', 'An operation remove needs a path.')
  if (!isObject(value)) throw scimFailure('invalidValue', 'Without a path, value must be an object of attributes.')
  return applyAll(resource, op, value)
}

function applyAll(resource: ScimResource, op: Op, value: object): ScimResource {
  let patched = resource
  for (const [key, member] of Object.entries(value)) {
    if (key.toLowerCase() === USER_SCHEMA.toLowerCase() && isObject(member)) patched = applyAll(patched, op, member)
    else if (known(READ_ONLY, key) === undefined) patched = apply(patched, op, parsePath(key), member)
  }
  return patched
}

// RFC 7644 3.10: name, name.part, or name[filter] with or without a part, each with the URN of the schema before it or without.
const PATH = /^([A-Za-z$_][A-Za-z0-9$_-]*)(?:\[([^\]]{0,1000})\])?(?:\.([A-Za-z$_][A-Za-z0-9$_-]*))?$/

/** @throws {Failure} `invalidPath`, `mutability`, `invalidFilter` */
export function parsePath(text: string): Target {
  const path = withoutSchema(text.trim())
  // Attributes of an extension.
  if (/^urn:/i.test(path)) return { kind: 'ignored' }
  const [, given = '', filter, part] = PATH.exec(path) ?? []
  if (given === '') throw invalidPath()
  if (known(READ_ONLY, given) !== undefined)
    throw scimFailure('mutability', `The attribute ${given} is set by the service.`)
  const name = known(ATTRIBUTES, given)
  if (name === undefined) return { kind: 'ignored' }
  if (name === 'emails' && (filter !== undefined || part !== undefined)) {
    const emailPart = part === undefined ? undefined : known(EMAIL_PARTS, part)
    if (part !== undefined && emailPart === undefined) return { kind: 'ignored' }
    return { kind: 'emails', filter: filter === undefined ? [] : parseEmailFilter(filter), part: emailPart }
  }
  if (filter !== undefined) throw invalidPath()
  if (part === undefined) return { kind: 'attribute', name }
  if (name !== 'name') throw invalidPath()
  const namePart = known(NAME_PARTS, part)
  return namePart === undefined ? { kind: 'ignored' } : { kind: 'name', part: namePart }
}

// null is no value (RFC 7643 2.5).
function apply(resource: ScimResource, op: Op, target: Target, value: unknown): ScimResource {
  const isRemoval = op === 'remove' || value === null
  if (!isRemoval && value === undefined) throw scimFailure('invalidValue', `An operation ${op} needs a value.`)
  switch (target.kind) {
    case 'ignored':
      return resource
    case 'attribute':
      return isRemoval ? without(resource, target.name) : withAttribute(resource, op, target.name, value)
    case 'name': {
      const { [target.part]: _, ...rest } = resource.name ?? {}
      const name = isRemoval ? rest : { ...rest, [target.part]: readText(value, `name.${target.part}`) }
      return isRemoval && resource.name === undefined ? resource : { ...resource, name }
    }
    case 'emails':
      return isRemoval ? withoutEmails(resource, target) : withEmails(resource, op, target, value)
  }
}

function without(resource: ScimResource, name: Attribute): ScimResource {
  if (name === 'userName' || name === 'active')
    throw scimFailure('invalidValue', `The attribute ${name} can't be removed.`)
  const { [name]: _, ...rest } = resource
  return rest as ScimResource
}

function withAttribute(resource: ScimResource, op: Op, name: Attribute, value: unknown): ScimResource {
  if (name === 'name') return { ...resource, name: { ...resource.name, ...readName(value) } }
  if (name !== 'emails') return { ...resource, [name]: readAttribute(name, value) }
  const given = readEmails(value)
  if (op === 'replace') return { ...resource, emails: onePrimary(given) }
  return given.reduce((patched, email) => addEmail(patched, email), resource)
}

function addEmail(resource: ScimResource, email: ScimEmail): ScimResource {
  const before = resource.emails ?? []
  if (before.some((one) => isSame(one, email))) return resource
  return { ...resource, emails: onePrimary([...before, email], before.length) }
}

function withEmails(
  resource: ScimResource,
  op: Op,
  { filter, part }: Extract<Target, { kind: 'emails' }>,
  value: unknown,
): ScimResource {
  const emails = resource.emails ?? []
  const changed = (email: ScimEmail): ScimEmail => {
    if (part !== undefined) return { ...email, [part]: readEmailPart(part, value) }
    // RFC 7644 3.5.2.3: a value that matches is replaced as a whole; to one that matches is added what is given.
    return op === 'replace' ? readEmail(value) : { ...email, ...readEmail(value) }
  }
  if (emails.some((email) => matches(email, filter))) {
    const next = emails.map((email) => (matches(email, filter) ? changed(email) : email))
    return {
      ...resource,
      emails: onePrimary(
        next,
        next.findIndex((email, index) => email !== emails[index]),
      ),
    }
  }
  // What the filter names is added, as Entra ID expects.
  const made = Object.fromEntries(filter.map((condition) => [condition.part, condition.value])) as ScimEmail
  const email = part === undefined ? { ...made, ...readEmail(value) } : changed(made)
  return { ...resource, emails: onePrimary([...emails, email], emails.length) }
}

function withoutEmails(resource: ScimResource, { filter, part }: Extract<Target, { kind: 'emails' }>): ScimResource {
  if (resource.emails === undefined) return resource
  const emails = resource.emails.flatMap((email): ScimEmail[] => {
    if (!matches(email, filter)) return [email]
    if (part === undefined || part === 'value') return []
    const { [part]: _, ...rest } = email
    return [rest]
  })
  return { ...resource, emails }
}

function matches(email: ScimEmail, filter: readonly EmailCondition[]): boolean {
  return filter.every(({ part, value }) => {
    const own = email[part]
    if (part === 'primary') return (own ?? false) === value
    return typeof own === 'string' && own.toLowerCase() === String(value).toLowerCase()
  })
}

// RFC 7644 3.5.2: when a value becomes primary, no other is.
function onePrimary(emails: ScimEmail[], changed = -1): ScimEmail[] {
  if (emails.length > MAX_EMAILS) throw scimFailure('invalidValue', `A user has at most ${MAX_EMAILS} emails.`)
  const primary = emails[changed]?.primary === true ? changed : emails.findIndex((email) => email.primary === true)
  return emails.map((email, index) =>
    email.primary === true && index !== primary ? { ...email, primary: false } : email,
  )
}

function isSame(one: ScimEmail, other: ScimEmail): boolean {
  return EMAIL_PARTS.every((part) => one[part] === other[part])
}

function invalidPath() {
  return scimFailure('invalidPath', 'The path names no attribute of a user.')
}
