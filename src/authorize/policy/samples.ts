// Facts to try a policy on: plain ones, and ones that a term of the analysis describes.

import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import type { PolicyFacts } from './evaluate.ts'
import type { Term } from './satisfiability.ts'
import { sampleOf } from './value-sets.ts'
import type { AnalysisWork, Pausing } from './work.ts'

/** An action without any particulars, on a device without hardware attestation. */
export const PLAIN_FACTS: PolicyFacts = {
  action_type: null,
  action_description: '',
  action_payload: {},
  context: {},
  agent: null,
  device: { id: '', tier: 'none', enrolled: false },
  session: {},
  mandate: null,
  schedule: null,
  at: '2026-01-01T00:00:00.000Z',
  token: { biometric: false },
}

/** Facts that a term allows; undefined where none is found at the first try. */
export function* sampleFactsOf(work: AnalysisWork, term: Term): Pausing<PolicyFacts | undefined> {
  const facts: { [root: string]: unknown } = structuredClone({ ...PLAIN_FACTS })
  for (const { field, set } of term.values()) {
    const value = yield* sampleOf(work, set)
    // The clock can't be set to one hour in several zones.
    if (value === undefined || field.startsWith('time.')) return undefined
    if (value === null) continue
    if (!place(facts, field.split('.'), value)) return undefined
  }
  return facts as unknown as PolicyFacts
}

function place(facts: { [root: string]: unknown }, path: readonly string[], value: Json): boolean {
  const last = path.at(-1)
  if (last === undefined) return false
  let object = facts as JsonObject
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(object, name) ? object[name] : undefined
    if (inner === undefined || inner === null) object = setOwn(object, name, {})
    else if (typeof inner === 'object' && !Array.isArray(inner)) object = inner
    else return false
  }
  setOwn(object, last, value)
  return true
}

// `__proto__` is an ordinary name here.
function setOwn(object: JsonObject, name: string, value: Json): JsonObject {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  return value as JsonObject
}
