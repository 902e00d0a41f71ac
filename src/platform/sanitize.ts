const MAX_CHARACTERS = 256
// Controls, and the invisible format characters that reorder or split what a person reads (bidi overrides, zero width).
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * A stranger's text made fit to be shown, stored and signed: without invisible characters, trimmed, at most 256 UTF-16
 * units, well-formed (RFC 8785 refuses lone surrogates, and the cut could leave one). Null when nothing is left.
 */
export function quote(text: string): string | null {
  // Cut before the expensive part: an invisible character may cost one that could have stayed, never the bound.
  const quoted = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(INVISIBLE, '')
    .trim()
    .slice(0, MAX_CHARACTERS)
    .toWellFormed()
  return quoted === '' ? null : quoted
}
