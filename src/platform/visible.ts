// What a person sees of a text. Unicode has dozens of characters that show nothing: spaces, marks of direction, joiners, fillers.
// Pure.

// Default_Ignorable_Code_Point: shown as nothing by default. Braille's blank pattern is a symbol by category, and blank.
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]/gu

/** Code points that show something. */
export function visibleLength(text: string): number {
  let length = 0
  for (const _ of text.replace(INVISIBLE, '')) length += 1
  return length
}
