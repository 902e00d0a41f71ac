// DASHBOARD_LOGIN_ALLOWLIST: during a private beta, who may sign in. It holds wherever a session is made.

import { Failure } from '#src/failure.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'

export interface Allowlist {
  isAllowed(email: string): boolean
  /** @throws {Failure} `beta_access_required` */
  check(email: string): void
}

/** @param entries Addresses, or `@domain` for all of a domain, without those of its subdomains. Empty: everybody may. */
export function createAllowlist(entries: readonly string[]): Allowlist {
  const allowed = new Set(entries.map(readEntry))
  const isAllowed = (email: string) =>
    allowed.size === 0 || allowed.has(email) || allowed.has(email.slice(email.indexOf('@')))
  return {
    isAllowed,
    check(email) {
      if (isAllowed(email)) return
      throw refuseUnlisted()
    },
  }
}

export function refuseUnlisted(): Failure {
  return new Failure('beta_access_required', 'This deployment lets only listed addresses sign in.')
}

/** @throws {Error} with a sentence for people. */
export function readEntry(entry: string): string {
  const isDomain = entry.startsWith('@')
  const address = normalizeAddress(isDomain ? `x${entry}` : entry)
  if (address === undefined) throw new Error(`${entry} is neither an address nor a domain such as @example.com`)
  return isDomain ? address.slice(1) : address
}
