// Entries of the ledger go when their retention ends, from the oldest on. Whether one that is gone went by other means.

// The clocks of the processes that make ids differ by less, and the rule runs every hour.
const SLACK_MS = 2 * 3_600_000

/**
 * It was made after `presentSince`, the time of an entry that is still there or from which on every plan keeps its entries. The id of a
 * leaf is not part of its hash: one that claims to be older than an entry which stands before it in the log (`newestBefore`) was
 * changed, as was one without a time. All in milliseconds, by the ids.
 */
export function isRemoved(gone: { madeAt: number; newestBefore: number; presentSince: number }): boolean {
  const { madeAt, newestBefore, presentSince } = gone
  if (Number.isNaN(madeAt) || madeAt + SLACK_MS < newestBefore) return true
  return madeAt > presentSince + SLACK_MS
}

const ID = /^[a-z0-9]+_(?:(?:test|live)_)?([0-7][0-9a-hjkmnp-tv-z]{25})$/
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** When an id was made, in Unix milliseconds; NaN for what is no id of the service. */
export function timeOfId(id: string): number {
  const digits = ID.exec(id)?.[1]?.slice(0, 10)
  if (digits === undefined) return Number.NaN
  // 48 bits of milliseconds behind two zero bits: ten digits of five bits.
  return [...digits].reduce((time, digit) => time * 32 + ALPHABET.indexOf(digit), 0)
}
