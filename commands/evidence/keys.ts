import { z } from 'zod'
import { keyRevocationView } from '#src/platform/crypto/key-views.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { reasonOf, usageError } from '../sentence.ts'

const PATIENCE_MS = 10_000

const keySet = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('EC'),
      crv: z.literal('P-256'),
      x: z.string(),
      y: z.string(),
      kid: z.string(),
      alg: z.literal('ES256'),
      use: z.literal('sig'),
      env: z.enum(['sandbox', 'live']),
      family: z.enum(['token', 'record']),
      revoked: keyRevocationView.optional(),
    }),
  ),
})

/** @throws a usage error that names the source of the text, unless it is a key set as the service publishes it. */
export function keySetOf(text: string, place: string): KeySet {
  try {
    return keySet.parse(JSON.parse(text))
  } catch {
    throw usageError(`${place}: this is not what /.well-known/jwks.json of the service shows.`)
  }
}

/** @throws a usage error when the service can't be reached. */
export async function fetchKeys(url: string): Promise<KeySet> {
  const address = new URL('/.well-known/jwks.json', url)
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' })
    if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    return keySetOf(await answer.text(), `--url ${url}`)
  } catch (error) {
    const cause = error instanceof TypeError ? (error.cause ?? error) : error
    throw usageError(`${address.href}: ${reasonOf(cause)}`)
  }
}
