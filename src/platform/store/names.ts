// Parts of names that come from rows and requests: no separator and no dot, so no path traversal.

import type { Scope } from '#src/platform/ids.ts'

const ACCOUNT = /^[a-z]{3}_[0-9a-z]{1,40}$/
const SHA256 = /^[0-9a-f]{64}$/
const VARIANT = /^[a-z0-9][a-z0-9-]{0,39}$/

/** `[account, environment]` as parts of a path or a key. @throws {TypeError} when they can't be. */
export function checkTenant({ accountId, environment }: Scope): [string, string] {
  const isEnvironment = environment === 'sandbox' || environment === 'live'
  if (!ACCOUNT.test(accountId) || !isEnvironment) throw new TypeError('not the name of a tenant')
  return [accountId, environment]
}

/** The last part of a blob's name, or of a variant's. @throws {TypeError} when it can't be one. */
export function nameOf(sha256: string, variant?: string): string {
  if (!SHA256.test(sha256)) throw new TypeError('not the name of a blob')
  if (variant === undefined) return sha256
  if (!VARIANT.test(variant)) throw new TypeError('not the name of a variant')
  return `${sha256}.${variant}`
}

/** The hash of a blob or a variant; undefined for a name that no store has made. */
export function hashOf(name: string): string | undefined {
  const [hash = '', variant, ...rest] = name.split('.')
  const isOurs = SHA256.test(hash) && (variant === undefined || VARIANT.test(variant)) && rest.length === 0
  return isOurs ? hash : undefined
}
