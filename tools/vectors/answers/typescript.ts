// The TypeScript client. It says of a refused text its code, and no place within the value.

import {
  canonicalize,
  canonicalizeJson,
  type JsonError,
  type PublicKey,
  verifyIntentTokenOffline,
} from '../../../clients/typescript/src/countersign.ts'
import type { Answers } from '../answers.ts'
import { makeValue } from '../host-values.ts'
import type { TokenInput } from '../made/tokens.ts'
import type { JsonInput, JsonRefusal } from './service-canonical.ts'

export const answers: Answers = {
  async 'tokens/offline'({ token, jwks, now, clock_tolerance_seconds, ...options }: TokenInput) {
    const { valid, reason, problem, claims, notChecked, requiresOnline } = await verifyIntentTokenOffline(token, {
      ...options,
      ...(clock_tolerance_seconds !== undefined && { clockToleranceSeconds: clock_tolerance_seconds }),
      keys: jwks as unknown as { keys: PublicKey[] },
      now: () => new Date(now * 1_000),
    })
    if (valid && claims?.env !== options.environment) return { claims }
    return { valid, reason, problem, not_checked: notChecked, requires_online: requiresOnline }
  },

  'canonical/accepted'({ json = '' }: JsonInput) {
    const canonical = canonicalizeJson(json)
    const again = canonicalizeJson(new TextEncoder().encode(canonical))
    return again === canonical ? { canonical } : { canonical: again }
  },

  'canonical/refused'({ json = '', hex }: JsonInput, { pointer, offset }: JsonRefusal) {
    const source = hex === undefined ? json : new Uint8Array(Buffer.from(hex, 'hex'))
    const code = codeOf(() => canonicalizeJson(source))
    return { code, pointer, ...(offset !== undefined && { offset }) }
  },

  'canonical/values'({ value }: { value: string }) {
    return { code: codeOf(() => canonicalize(makeValue(value) as never)) }
  },
}

// The code of the refusal, or the text.
function codeOf(write: () => string): string {
  try {
    return write()
  } catch (error) {
    return (error as JsonError).code
  }
}
