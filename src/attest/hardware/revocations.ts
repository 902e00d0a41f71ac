// Google's list of attestation keys that are no longer trusted (Android documentation, "Certificate status list").
// Serial numbers in lower-case hex without leading zeros; REVOKED and SUSPENDED both refuse.

export interface RevocationList {
  /** Serial number -> status, such as REVOKED. */
  entries: ReadonlyMap<string, string>
  /** When it was last fetched completely. */
  fetchedAt: Date
}

/** `off`: this deployment uses no list. `never_fetched`: it uses one, and has none yet. */
export type RevocationSnapshot = RevocationList | 'off' | 'never_fetched'

export type Revocation =
  | { state: 'good' | 'stale'; fetchedAt: string }
  | { state: 'revoked'; fetchedAt: string; serial: string; status: string }
  | { state: 'never_fetched' | 'off' | 'not_applicable' }

/**
 * The list is fetched every hour. One of two days ago still refuses the keys that it names, and is reported as stale.
 */
export const STALE_AFTER_MS = 48 * 3_600_000

// Ten times the longest list so far; RFC 5280 4.1.2.2 allows serial numbers of 20 octets.
const MAX_ENTRIES = 100_000
const SERIAL = /^[0-9a-f]{1,40}$/
const STATUS = /^[A-Z_]{1,32}$/

/**
 * What a list says about certificates. Without a list, a certificate is not known to be valid; the caller decides what
 * that means.
 */
export function lookUpRevocation(serials: readonly string[], snapshot: RevocationSnapshot, now: Date): Revocation {
  if (serials.length === 0) return { state: 'not_applicable' }
  if (typeof snapshot === 'string') return { state: snapshot }
  const fetchedAt = snapshot.fetchedAt.toISOString()
  for (const serial of serials) {
    const status = snapshot.entries.get(serial)
    if (status !== undefined) return { state: 'revoked', fetchedAt, serial, status }
  }
  const isStale = now.getTime() - snapshot.fetchedAt.getTime() > STALE_AFTER_MS
  return { state: isStale ? 'stale' : 'good', fetchedAt }
}

/** Whether evidence counts in this state. Without a list it does not; with an old list it still does. */
export function isEvidenceCounted({ state }: Revocation): boolean {
  return state !== 'revoked' && state !== 'never_fetched'
}

export type ParsedList = { ok: true; entries: Map<string, string> } | { ok: false; detail: string }

/**
 * Reads the list's JSON: `{"entries": {"<serial>": {"status": "REVOKED", ...}}}`. One unreadable entry invalidates the
 * list: skipping it would trust a key that its vendor names.
 */
export function parseRevocationList(json: unknown): ParsedList {
  const listed = memberOf(json, 'entries')
  if (typeof listed !== 'object' || listed === null || Array.isArray(listed))
    return refuse('it has no object `entries`')
  const pairs = Object.entries(listed)
  if (pairs.length > MAX_ENTRIES) return refuse(`it has more than ${MAX_ENTRIES} entries`)
  const entries = new Map<string, string>()
  for (const [key, value] of pairs) {
    const serial = key.toLowerCase().replace(/^0+(?=.)/, '')
    const status = memberOf(value, 'status')
    if (!SERIAL.test(serial)) return refuse('an entry is no serial number in hex')
    if (typeof status !== 'string' || !STATUS.test(status)) return refuse(`the entry ${serial} has no status`)
    entries.set(serial, status)
  }
  return { ok: true, entries }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function refuse(detail: string): ParsedList {
  return { ok: false, detail }
}
