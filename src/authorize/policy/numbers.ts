// Numbers of policies: JSON numbers and decimal strings, compared as exact decimals. Two doubles compare like their
// shortest decimal texts, so that only a string needs a decimal.

import { Decimal } from 'decimal.js'

/** A JSON number, or a text that `isDecimalText` accepts. */
export type Numeric = number | string

// 40 digits on either side are far beyond every amount. No exponent, no sign but a minus, no leading zeros.
const DECIMAL_TEXT = /^-?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?$/
const MAX_TEXT = 82

export function isDecimalText(text: string): boolean {
  return text.length <= MAX_TEXT && DECIMAL_TEXT.test(text)
}

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && isDecimalText(value)
}

/** A comparison with a constant: negative where the value is smaller. */
export function comparerTo(constant: Numeric): (value: Numeric) => number {
  const decimal = new Decimal(constant)
  return (value) =>
    typeof value === 'number' && typeof constant === 'number' ? value - constant : new Decimal(value).cmp(decimal)
}

export function compareNumbers(a: Numeric, b: Numeric): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : new Decimal(a).cmp(new Decimal(b))
}

/** The same text for equal numbers. */
export function canonicalNumber(value: Numeric): string {
  return new Decimal(value).toString()
}
