// Bytes as text and back, without the classes of Node.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
// Indexed by the character's code; NONE for others.
const NONE = 64
const VALUES = new Uint8Array(128).fill(NONE)
for (let value = 0; value < ALPHABET.length; value += 1) VALUES[ALPHABET.charCodeAt(value)] = value

// base64url without padding. Bits of the last character that carry nothing must be zero: otherwise several texts are the
// same bytes.
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (let index = 0; index < text.length; index += 1) {
    const value = VALUES[text.charCodeAt(index)] ?? NONE
    if (value === NONE) return undefined
    held = (held << 6) | value
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at] = (held >> bits) & 0xff
    at += 1
    held &= (1 << bits) - 1
  }
  return held === 0 ? bytes : undefined
}

export function encodeBase64url(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3)
    const characters = [a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63]
    const count = Math.min(bytes.length - at, 3) + 1
    for (const character of characters.slice(0, count)) text += ALPHABET[character]
  }
  return text
}

export function encodeHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** In a time that does not tell where they differ. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? 0)
  return difference === 0
}

const encoder = new TextEncoder()

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
