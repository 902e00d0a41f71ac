// Values as people read them. Pure.

/** `20 November 2026, 15:11:04 UTC`. */
export function dateOf(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
  return `${day}, ${at.toISOString().slice(11, 19)} UTC`
}

export function metresOf(metres: number): string {
  return metres >= 10_000 ? `${Math.round(metres / 1_000)} km` : `${Math.round(metres)} m`
}

// Enough for the findings of one photo; the rest is in the attachment.
const MAX_DEPTH = 3
const MAX_ITEMS = 20

/** A value of JSON in one line: `found: revoked; device id: dev_…`. */
export function wordsOf(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object') return String(value)
  if (depth >= MAX_DEPTH) return '…'
  const isList = Array.isArray(value)
  const parts = Object.entries(value)
    .slice(0, MAX_ITEMS)
    .map(([name, member]) =>
      isList ? wordsOf(member, depth + 1) : `${name.replaceAll('_', ' ')}: ${wordsOf(member, depth + 1)}`,
    )
  if (Object.keys(value).length > MAX_ITEMS) parts.push('…')
  if (parts.length === 0) return 'none'
  const text = parts.join(isList ? ', ' : '; ')
  return depth > 0 && !isList ? `(${text})` : text
}

/** The header of a JWS in words. */
export function tableOf(header: string): string {
  try {
    return wordsOf(JSON.parse(Buffer.from(header, 'base64url').toString()))
  } catch {
    return header
  }
}
