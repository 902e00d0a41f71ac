// The facts of an evaluation as a row stores them: JSON in which dates are distinct from texts. New facts are stored
// without changes here; this code knows no fact by name.

import type { Facts } from './facts.ts'

const TIME = '$time'

/** @throws {TypeError} for values that JSON can't hold: facts are plain data. */
export function encodeFacts(facts: Facts): string {
  return JSON.stringify(toJson(facts))
}

/** What `encodeFacts` wrote, parsed as JSON. */
export function decodeFacts(stored: unknown): Facts {
  return fromJson(stored) as Facts
}

function toJson(value: unknown): unknown {
  if (value instanceof Date) return { [TIME]: value.toISOString() }
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a fact is no finite number')
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`a fact is a ${typeof value}`)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new TypeError('a fact is no plain object')
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toJson(member)]))
}

function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [only] = entries
  if (entries.length === 1 && only?.[0] === TIME && typeof only[1] === 'string') return new Date(only[1])
  return Object.fromEntries(entries.map(([name, member]) => [name, fromJson(member)]))
}
