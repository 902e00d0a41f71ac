// What a new key may look like, for users, keys and operators alike, and the row of one. The row has the SHA-256 of the raw key, its prefix
// and its last four characters: nothing else of it is stored anywhere.

import { GRANTABLE_SCOPES, type GrantableScope, PRODUCTS, type Product } from '#src/catalogue/access.ts'
import type { FieldError } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { visibleLength } from '#src/platform/sanitize.ts'
import { makeRawKey, parseKey } from './format.ts'
import { type Grant, refuseKey } from './limits.ts'
import { canonicalRange, MAX_RANGES } from './ranges.ts'
import type { NewKeyRow } from './rows.ts'

export interface NewKey {
  name: string
  scopes: readonly GrantableScope[]
  /** Never when absent. */
  expiresAt?: Date | undefined
  /** Addresses and ranges; every address when absent. */
  ipAllow?: readonly string[] | undefined
  /** Products whose routes the key may call within its scopes; all when absent. */
  products?: readonly Product[] | undefined
  /** False when absent. */
  isReadOnly?: boolean | undefined
  /** True when absent. False for the publishable sandbox keys. */
  isAccountBearing?: boolean
  /** A configured key, which the deployment publishes. Creating it again in the same scope returns the existing one. */
  raw?: string
}

/**
 * @param createdBy The key, the user, or `operator`.
 * @param keepsName The name is that of the key which this one replaces, and may be older than a check of names.
 * @param judge What else is wrong with the key that is to be made.
 * @returns the raw key, which can't be shown again, and its row.
 * @throws {Failure} with every finding: `invalid_request`, or where only `judge` finds any, by its codes.
 */
export function drawKey(
  scope: Scope,
  wanted: NewKey,
  {
    at,
    createdBy,
    keepsName = false,
    judge = () => [],
  }: { at: Date; createdBy: string; keepsName?: boolean; judge?: (grant: Grant) => FieldError[] },
): { key: string; row: NewKeyRow } {
  const { ipAllow, errors } = checkNewKey(scope, wanted, { at, keepsName })
  const key = wanted.raw ?? makeRawKey(scope.environment)
  const row = {
    accountId: scope.accountId,
    environment: scope.environment,
    id: newId('key', scope.environment, at.getTime()),
    name: wanted.name,
    hash: sha256(key),
    prefix: key.slice(0, 8),
    last4: key.slice(-4),
    scopes: [...new Set(wanted.scopes)],
    products: wanted.products === undefined ? null : PRODUCTS.filter((name) => wanted.products?.includes(name)),
    isReadOnly: wanted.isReadOnly ?? false,
    isAccountBearing: wanted.isAccountBearing ?? true,
    createdAt: at,
    createdBy,
    expiresAt: wanted.expiresAt ?? null,
    ipAllow,
  }
  const invalid = new Set(errors.map(({ pointer }) => pointer))
  const findings = [...errors, ...judge(row).filter(({ pointer }) => !invalid.has(pointer))]
  if (findings.length > 0) throw refuseKey(findings, wanted.scopes)
  return { key, row }
}

function checkNewKey(
  scope: Scope,
  wanted: NewKey,
  { at, keepsName }: { at: Date; keepsName: boolean },
): { ipAllow: readonly string[] | null; errors: FieldError[] } {
  const errors: FieldError[] = []
  const refuse = (pointer: string, code: FieldErrorCode, detail: string) => void errors.push({ pointer, code, detail })
  if (!keepsName && (isBlank(wanted.name) || wanted.name.length > 200)) {
    refuse('/name', 'out_of_range', 'must have 1 to 200 characters')
  }
  if (wanted.scopes.length === 0) refuse('/scopes', 'too_few', 'must name at least one scope')
  wanted.scopes.forEach((name, index) => {
    if (!GRANTABLE_SCOPES.includes(name))
      refuse(`/scopes/${index}`, 'invalid_value', `must be one of ${GRANTABLE_SCOPES.join(', ')}`)
    if (name === 'all' && scope.environment !== 'sandbox') {
      refuse(`/scopes/${index}`, 'invalid_value', 'only a sandbox key may carry "all"')
    }
  })
  if (wanted.expiresAt !== undefined && !(wanted.expiresAt > at))
    refuse('/expires_at', 'out_of_range', 'must be in the future')
  if (wanted.raw !== undefined && parseKey(wanted.raw)?.environment !== scope.environment) {
    const word = scope.environment === 'live' ? 'live' : 'test'
    refuse('/raw', 'invalid_format', `must be svc_${word}_ and 32 base62 characters`)
  }
  if (wanted.products?.length === 0) refuse('/products', 'too_few', 'must name at least one product, or be left out')
  const ipAllow = wanted.ipAllow === undefined ? null : checkRanges(wanted.ipAllow, refuse)
  return { ipAllow, errors }
}

/** Nothing of it can be seen, or it can't be stored, as NUL. */
export function isBlank(name: string): boolean {
  return visibleLength(name) === 0 || name.includes('\0')
}

/**
 * The name and the addresses of a key that is changed, in the form in which they are stored.
 * @throws {Failure} `invalid_request`
 */
export function checkKeyChange(
  scope: Scope,
  key: Pick<NewKey, 'name' | 'scopes' | 'ipAllow'>,
  how: { at: Date; keepsName: boolean },
): { name: string; ipAllow: readonly string[] | null } {
  const { ipAllow, errors } = checkNewKey(scope, key, how)
  if (errors.length > 0) throw refuseKey(errors, key.scopes)
  return { name: key.name, ipAllow }
}

function checkRanges(
  texts: readonly string[],
  refuse: (pointer: string, code: FieldErrorCode, detail: string) => void,
): string[] {
  // An empty list could mean every address or none.
  if (texts.length === 0) refuse('/ip_allow', 'too_few', 'must name at least one address, or be left out for all')
  if (texts.length > MAX_RANGES) refuse('/ip_allow', 'too_many', `must have at most ${MAX_RANGES} items`)
  const ranges = texts.slice(0, MAX_RANGES).flatMap((text, index) => {
    try {
      return [canonicalRange(text)]
    } catch (error) {
      refuse(`/ip_allow/${index}`, 'invalid_format', error instanceof Error ? error.message : String(error))
      return []
    }
  })
  return [...new Set(ranges)]
}
