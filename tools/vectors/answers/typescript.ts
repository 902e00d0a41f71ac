// The TypeScript client. It says of a refused text its code, and no place within the value.

import { isDeepStrictEqual } from 'node:util'
import {
  canonicalize,
  canonicalizeJson,
  createKeySource,
  type JsonError,
  type PublicKey,
  parseJson,
  verifyIntentTokenOffline,
  verifyWebhookSignature,
} from '#client/verify.ts'
import type { Answers } from '../answers.ts'
import { makeValue } from '../host-values.ts'
import type { TokenInput } from '../made/tokens.ts'
import type { JsonInput, JsonRefusal } from './service-canonical.ts'
import type { SignatureInput } from './service-webhooks.ts'

interface Served {
  /** 0: no answer. */
  status: number
  body: string
  /** Spaces behind the body. */
  repeat_space?: number
}

interface KeySourceInput {
  stale_seconds: number
  steps: { at_seconds: number; find: string[]; served: Served }[]
}

interface KeySourceExpected {
  steps: { found: string[]; fetches: number }[]
}

export const answers: Answers = {
  async 'tokens/offline'({ token, jwks, now, clock_tolerance_seconds, ...options }: TokenInput) {
    const keys = (jwks as unknown as { keys: PublicKey[] }).keys
    const given = {
      ...options,
      ...(clock_tolerance_seconds !== undefined && { clockToleranceSeconds: clock_tolerance_seconds }),
      now: () => new Date(now * 1_000),
    }
    const verdict = await verifyIntentTokenOffline(token, { ...given, keys: { keys } })
    // Finds a key as a key source does.
    const find = async (kid: string) => keys.find((key) => key.kid === kid)
    const found = await verifyIntentTokenOffline(token, { ...given, keys: find })
    if (!isDeepStrictEqual(found, verdict)) return { verdict, found }
    const { valid, reason, problem, claims, notChecked, requiresOnline } = verdict
    if (valid && claims?.env !== options.environment) return { claims }
    return { valid, reason, problem, not_checked: notChecked, requires_online: requiresOnline }
  },

  async 'tokens/key-source'({ stale_seconds, steps }: KeySourceInput) {
    let [atSeconds, fetches] = [0, 0]
    let served: Served = { status: 0, body: '' }
    const source = createKeySource({
      url: 'https://api.example.com/.well-known/jwks.json',
      staleSeconds: stale_seconds,
      now: () => new Date(1_795_176_000_000 + atSeconds * 1_000),
      async fetch() {
        fetches += 1
        const { status, body, repeat_space: spaces = 0 } = served
        if (status === 0) throw new TypeError('no answer')
        return new Response(`${body}${' '.repeat(spaces)}`, { status })
      },
    })
    const results: KeySourceExpected['steps'] = []
    for (const step of steps) {
      atSeconds = step.at_seconds
      served = step.served
      const found = step.find.map((kid) =>
        source.find(kid).then(
          (key) => (key === undefined ? 'unknown' : key.kid === kid ? 'found' : 'other'),
          () => 'unavailable',
        ),
      )
      results.push({ found: await Promise.all(found), fetches })
    }
    return { steps: results }
  },

  async 'webhooks/signatures'({ body = '', body_base64, headers, secrets, now, tolerance }: SignatureInput) {
    const rawBody = body_base64 === undefined ? body : new Uint8Array(Buffer.from(body_base64, 'base64'))
    const options = { now, ...(tolerance !== undefined && { toleranceSeconds: tolerance }) }
    try {
      const verdict = await verifyWebhookSignature(rawBody, headers, secrets, options)
      // The same delivery in the other forms that an application has.
      const [only = ''] = secrets
      const other = await verifyWebhookSignature(
        rawBody,
        toHeaders(headers),
        secrets.length === 1 ? only : secrets,
        options,
      )
      if (!isDeepStrictEqual(other, verdict)) return { verdict, other }
      return { valid: verdict.valid, reason: verdict.valid ? null : verdict.reason }
    } catch (error) {
      if (error instanceof TypeError) return { error: 'no_secret' }
      throw error
    }
  },

  'canonical/accepted'({ json = '' }: JsonInput) {
    const canonical = canonicalizeJson(json)
    const again = canonicalizeJson(new TextEncoder().encode(canonical))
    return again === canonical ? { canonical } : { canonical: again }
  },

  'canonical/refused'({ json = '', hex }: JsonInput, { pointer, offset }: JsonRefusal) {
    const source = hex === undefined ? json : new Uint8Array(Buffer.from(hex, 'hex'))
    const [code, written] = [codeOf(() => parseJson(source)), codeOf(() => canonicalizeJson(source))]
    if (written !== code) return { code, written }
    return { code, pointer, ...(offset !== undefined && { offset }) }
  },

  'canonical/values'({ value }: { value: string }) {
    const made = makeValue(value)
    const result = resultOf(() => canonicalize(made))
    if (typeof made !== 'string') return result
    // A text can have half of a character too, unlike bytes.
    const parsed = { code: codeOf(() => parseJson(`"${made}"`)) }
    return isDeepStrictEqual(parsed, result) ? result : { parsed }
  },
}

// Headers trims values and takes Latin-1 only: those with other values stay as they are.
function toHeaders(headers: SignatureInput['headers']): Headers | SignatureInput['headers'] {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((text) => [name, text] as const))
  const isKept = lines.every(([, text]) => text === text.trim() && /^[\x20-\x7e\t]*$/.test(text))
  return isKept ? new Headers(lines.map(([name, text]) => [name, text])) : headers
}

// The code of the refusal.
function codeOf(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    return (error as JsonError).code
  }
}

function resultOf(write: () => string): { canonical: string } | { code: string | undefined } {
  try {
    return { canonical: write() }
  } catch (error) {
    return { code: (error as JsonError).code }
  }
}
