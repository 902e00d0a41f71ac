const MAX_CHARACTERS = 256
// Controls, and the invisible format characters that reorder or split what a reader sees (bidi overrides, zero width).
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Makes a stranger's text fit to show, store and sign: no invisible characters, trimmed, at most 256 UTF-16 units,
 * well-formed (RFC 8785 refuses lone surrogates, and the cut could leave one). Null when nothing is left.
 */
export function quote(text: string): string | null {
  // Cut before the expensive part: an invisible character may take the place of a visible one, but the bound holds.
  const quoted = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(INVISIBLE, '')
    .trim()
    .slice(0, MAX_CHARACTERS)
    .toWellFormed()
  return quoted === '' ? null : quoted
}
