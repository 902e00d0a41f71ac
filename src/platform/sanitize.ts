// Which characters of a text a reader sees, and what remains of a stranger's text without the others. Pure.

const MAX_CHARACTERS = 256
// Controls, and the invisible format characters that reorder or split what a reader sees (bidi overrides, zero width).
const FORMATTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Makes a stranger's text fit to show, store and sign: no invisible characters, trimmed, at most 256 UTF-16 units,
 * well-formed (RFC 8785 refuses lone surrogates, and the cut could leave one). Null when nothing is left.
 */
export function quote(text: string): string | null {
  // Cut before the expensive part: an invisible character may take the place of a visible one, but the bound holds.
  const quoted = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(FORMATTING, '')
    .trim()
    .slice(0, MAX_CHARACTERS)
    .toWellFormed()
  return quoted === '' ? null : quoted
}

// Unicode has dozens of characters that show nothing: spaces, direction marks, joiners, fillers.
// Default_Ignorable_Code_Point: invisible by default. Braille's blank pattern is a symbol by category, and blank.
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]/gu

/** The number of visible code points. */
export function visibleLength(text: string): number {
  let length = 0
  for (const _ of text.replace(INVISIBLE, '')) length += 1
  return length
}
