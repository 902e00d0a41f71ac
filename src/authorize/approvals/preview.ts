// What an event shows of an action's payload: enough to recognize the action, and not all of it. Receivers of events are
// chat rooms and ticket systems; who decides sees the whole payload after signing in.

import type { JsonObject } from '#src/platform/crypto/canonical.ts'

type Value = JsonObject[string]

const MAX_DEPTH = 4
/** Members and elements in all. */
const MAX_VALUES = 60
const MAX_ELEMENTS = 10
/** Longest text that the preview shows, in UTF-16 code units. */
const MAX_TEXT = 80
const MAX_NAME = 60

const MASKED = '[redacted]'
const OMITTED = '[omitted]'

/** The same payload always has the same preview. */
export function previewOf(payload: JsonObject): JsonObject {
  const budget = { left: MAX_VALUES }
  return objectOf(payload, MAX_DEPTH, budget)
}

interface Budget {
  left: number
}

function objectOf(object: JsonObject, depth: number, budget: Budget): JsonObject {
  const entries: [string, Value][] = []
  for (const name of Object.keys(object).toSorted()) {
    if (budget.left <= 0) return Object.fromEntries([...entries, ['...', OMITTED]])
    budget.left -= 1
    const value = object[name] ?? null
    entries.push([cut(name, MAX_NAME), isSecret(name) ? MASKED : shownOf(value, depth - 1, budget)])
  }
  return Object.fromEntries(entries)
}

function shownOf(value: Value, depth: number, budget: Budget): Value {
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'number') return isCardLike(String(value)) ? MASKED : value
  if (value === null || typeof value !== 'object') return value
  if (depth <= 0) return OMITTED
  if (!Array.isArray(value)) return objectOf(value, depth, budget)
  const elements: Value[] = []
  for (const element of value.slice(0, MAX_ELEMENTS)) {
    if (budget.left <= 0) break
    budget.left -= 1
    elements.push(shownOf(element, depth - 1, budget))
  }
  return elements.length === value.length ? elements : [...elements, OMITTED]
}

function textOf(text: string): string {
  return isCardLike(text) || SECRET_TEXT.test(text) ? MASKED : cut(text, MAX_TEXT)
}

// Not between the two halves of a character.
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800 ? most - 1 : most
  return `${text.slice(0, end)}…`
}

// Tokens, keys and signed cookies, by the way they begin.
const SECRET_TEXT = /^(?:eyJ[\w-]+\.|svc_|sk_|pk_|rk_|gh[opsu]_|xox[a-z]-|AKIA|Bearer\s|Basic\s|-----BEGIN)/

const SECRET_WORDS = new Set([
  'auth',
  'authorization',
  'birthdate',
  'birthday',
  'cookie',
  'credential',
  'credentials',
  'cvc',
  'cvv',
  'dob',
  'iban',
  'otp',
  'pan',
  'passcode',
  'passphrase',
  'passwd',
  'password',
  'pin',
  'pwd',
  'secret',
  'secrets',
  'ssn',
  'token',
  'tokens',
])
const SECRET_PAIRS =
  /(?:api|access|private|secret|signing|encryption)key|(?:account|card|routing|passport|license|tax|insurance)(?:number|no|nr|id)$|socialsecurity|sortcode|dateofbirth/

function isSecret(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.some((word) => SECRET_WORDS.has(word)) || SECRET_PAIRS.test(words.join(''))
}

// 13 to 19 digits, with or without separators: ISO/IEC 7812.
function isCardLike(text: string): boolean {
  return text.length <= 40 && /^\d(?:[ -]?\d){12,18}$/.test(text)
}
