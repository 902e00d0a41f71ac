// Schemas that many requests share: ids in paths, times, texts for people, and JSON objects of any members.
//
// Path parameters in the OpenAPI document: the pattern tells readers and generators which paths exist, and that
// `/v1/claims/attest` is not one of `/v1/claims/{id}`. `checkId` refuses a wrong id, and its message describes a right
// one.

import { z } from 'zod'
import type { AccountType, ScopedType } from '#src/catalogue/ids.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { visibleLength } from '#src/platform/sanitize.ts'

/** The schema of an id in a path: `params: z.object({ id: idParam('clm') })`. */
export function idParam(type: ScopedType) {
  return z.string().meta({
    description: `\`${type}_test_\` or \`${type}_live_\` and 26 characters.`,
    pattern: `^${type}_(?:test|live)_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
  })
}

/** For a path whose only parameter is `:id`. */
export function idParams(type: ScopedType) {
  return z.object({ id: idParam(type) })
}

/** The same for what belongs to the whole account: its ids have no word of an environment. */
export function accountIdParams(type: AccountType) {
  const pattern = `^${type}_[0-7][0-9a-hjkmnp-tv-z]{25}$`
  return z.object({
    id: z
      .string()
      .max(64)
      .meta({ description: `\`${type}_\` and 26 characters.`, pattern }),
  })
}

// Outside these years ISO 8601 needs a sign, and Postgres has no year 0.
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')
/** Last time that callers are told: RFC 3339 has no year 10000. */
export const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** A bound of a list, which is compared and never answered: any time of RFC 3339. */
export const boundTime = z.iso.datetime({ offset: true })

/** A time that is stored: RFC 3339 with `Z` or an offset, in the years 1 to 9999 of UTC. */
export const timestamp = boundTime.refine((value) => !(Date.parse(value) < FIRST_MS || Date.parse(value) > LAST_MS), {
  message: 'must lie in the years 1 to 9999',
  params: { code: 'out_of_range' },
})

const MAX_VALUES = 20

/** Boolean of a query string. */
export const flag = z.enum(['true', 'false']).meta({ id: 'Flag' })

/** A filter that takes several values, as `status=a&status=b`: rows match any of them. Parsed: sorted, each once. */
export function several<Item extends z.ZodType<string | number>>(item: Item) {
  return z
    .array(item)
    .min(1)
    .max(MAX_VALUES)
    .transform((values) => [...new Set(values)].sort())
}

const INVISIBLE = { message: 'must have a visible character', params: { code: 'too_short' } }
// The empty text has a finding of its own.
const isVisible = (text: string) => text === '' || visibleLength(text) > 0

/** A name, a reason or a note for people, trimmed: 1 to `max` characters, at least one of which can be seen. */
export function visibleText(max: number) {
  return z.string().trim().min(1).max(max).refine(isVisible, INVISIBLE)
}

/** A text that people decide by, as it was sent, because it is hashed: 1 to `max` characters, at least one of which can be seen. */
export function shownText(max: number) {
  return z.string().min(1).max(max).refine(isVisible, INVISIBLE)
}

/** An address of a person, in the form in which addresses of users are stored: every user of the deployment can be named. */
export const mailAddress = z
  .string()
  .max(254)
  .transform((text, context) => {
    const address = normalizeAddress(text)
    if (address !== undefined) return address
    const message = 'must be an e-mail address: ASCII before one @, a domain after it'
    context.addIssue({ code: 'custom', message, params: { code: 'invalid_format' } })
    return z.NEVER
  })
  .meta({ format: 'email' })

/** A JSON object with every member that was sent: `z.record` drops one with the name `__proto__`. */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, { message: 'must be an object', abort: true, params: { code: 'invalid_type' } })
  .meta({ type: 'object', additionalProperties: true })

/** A check of names and values of the caller's own: programs that read them may lose a member `__proto__`, or worse. */
export function refusePrototypeName(value: unknown, issues: z.core.$RefinementCtx): void {
  const path = pathToPrototype(value)
  if (path === undefined) return
  issues.addIssue({ code: 'custom', path, message: 'must not be named __proto__', params: { code: 'invalid_value' } })
}

// The depth of a body is bounded where it is parsed.
function pathToPrototype(value: unknown): (string | number)[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') return [name]
    const rest = pathToPrototype(member)
    if (rest !== undefined) return [name, ...rest]
  }
  return undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
