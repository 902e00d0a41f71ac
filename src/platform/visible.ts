// Which characters of a text a reader sees. Unicode has dozens that show nothing: spaces, direction marks, joiners,
// fillers. Pure.

// Default_Ignorable_Code_Point: invisible by default. Braille's blank pattern is a symbol by category, and blank.
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]/gu

/** The number of visible code points. */
export function visibleLength(text: string): number {
  let length = 0
  for (const _ of text.replace(INVISIBLE, '')) length += 1
  return length
}
