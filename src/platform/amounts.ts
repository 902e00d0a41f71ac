// Amounts of money as exact decimals: ten-thousandths of the major unit, in a bigint. Postgres keeps them as numeric(20, 4).

import type { Json } from './crypto/canonical.ts'

/** A JSON number or a decimal string. undefined for what is no amount: more than 4 decimals, or above 10^15. */
export function parseAmount(value: Json): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const match = /^(-?)(0|[1-9]\d{0,15})(?:\.(\d{1,4}))?$/.exec(String(value))
  if (match === null) return undefined
  const [, sign, whole = '', fraction = ''] = match
  const units = BigInt(whole) * UNITS + BigInt(fraction.padEnd(4, '0'))
  if (units > MAX_UNITS) return undefined
  return sign === '-' ? -units : units
}

/** The shortest decimal text: what is equal as a number is equal as text. */
export function formatAmount(units: bigint): string {
  const size = units < 0n ? -units : units
  const fraction = String(size % UNITS)
    .padStart(4, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS}${fraction === '' ? '' : `.${fraction}`}`
}

/** Returns the decimal of a numeric that Postgres wrote with all four decimals. @throws when it is no amount. */
export function decimalOf(numeric: string): string {
  const units = parseAmount(numeric)
  if (units === undefined) throw new Error('a stored amount is none')
  return formatAmount(units)
}

/** ISO 4217 by its form: three capital letters. */
export function isCurrency(value: Json | undefined): value is string {
  return typeof value === 'string' && /^[A-Z]{3}$/.test(value)
}

const UNITS = 10_000n
const MAX_UNITS = 10n ** 15n * UNITS
