// The service's key set, fetched when it is needed and kept. A new key is published a day before it signs, so that a kept
// set has every key that tokens use, except after an emergency: then a token names an unknown key, and the set is fetched again.

import type { PublicKey } from './verify-intent-token.ts'

export interface KeySourceOptions {
  /** `{base_url}/.well-known/jwks.json`. */
  url: string
  fetch?: typeof globalThis.fetch
  /** For how long keys are used when no newer set can be fetched. 0 when absent; 86,400 is a day. */
  staleSeconds?: number
  now?: () => Date
}

export interface KeySource {
  /** For the option `keys`. Rejects when the set can't be fetched and none is kept. */
  find(kid: string): Promise<PublicKey | undefined>
}

const FRESH_MS = 300_000
// Strangers invent key ids: an unknown one fetches the set at most this often.
const REFETCH_MS = 30_000
const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 5_000

export function createKeySource(options: KeySourceOptions): KeySource {
  const { url, fetch = globalThis.fetch, staleSeconds = 0, now = () => new Date() } = options
  let kept: { at: number; keys: PublicKey[] } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  const age = () => (kept === undefined ? Number.POSITIVE_INFINITY : now().getTime() - kept.at)

  async function load(): Promise<void> {
    triedAt = now().getTime()
    const response = await fetch(url, {
      headers: { Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`the key set answered ${response.status}`)
    const { keys } = JSON.parse(await readText(response)) as { keys?: unknown }
    if (!Array.isArray(keys)) throw new Error('the answer is no key set')
    kept = { at: now().getTime(), keys: keys as PublicKey[] }
  }

  // Callers that come meanwhile wait for the same answer.
  function refresh(): Promise<void> {
    fetching ??= load().finally(() => {
      fetching = undefined
    })
    return fetching
  }

  // A set may have anything between its keys.
  const findKept = (kid: string) => kept?.keys.find((key) => key?.kid === kid)

  return {
    async find(kid) {
      if (age() >= FRESH_MS) {
        await refresh().catch((error: unknown) => {
          if (age() >= FRESH_MS + staleSeconds * 1_000) throw error
        })
      }
      const known = findKept(kid)
      if (known !== undefined || now().getTime() - triedAt < REFETCH_MS) return known
      await refresh().catch(() => {})
      return findKept(kid)
    },
  }
}

// Stops reading where the limit is reached, whatever the length that the answer states.
async function readText({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return text + decoder.decode()
    bytes += value.length
    if (bytes > MAX_BYTES) {
      await reader?.cancel()
      throw new Error('the key set is too long')
    }
    text += decoder.decode(value, { stream: true })
  }
}
