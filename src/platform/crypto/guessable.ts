const MIN_DISTINCT = 16

/**
 * Whether 32 bytes were typed or counted rather than drawn at random. Random bytes never have fewer than 16 different
 * values or only printable ASCII (probability below 1 in 10^13). Bytes that pass may still be guessable.
 */
export function isGuessableKey(key: Uint8Array): boolean {
  const bytes = [...key]
  const steps = bytes.slice(1).map((byte, index) => (byte - (bytes[index] ?? 0) + 256) % 256)
  const half = bytes.length / 2
  return (
    new Set(bytes).size < MIN_DISTINCT ||
    // A phrase, or hexadecimal digits, in base64.
    bytes.every((byte) => byte >= 0x20 && byte < 0x7f) ||
    // 00 01 02 ...
    new Set(steps).size <= 2 ||
    bytes.slice(0, half).every((byte, index) => byte === bytes[half + index])
  )
}
