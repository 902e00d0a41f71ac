import { z } from 'zod'
import { defineConfig, label, list } from '#src/platform/config-keys.ts'

const MIN_DISTINCT = 16

const masterKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64, as `openssl rand -base64 32` prints them')
  .transform((text) => Buffer.from(text, 'base64'))

export const masterKeyConfig = defineConfig({
  title: 'Master key',
  keys: {
    MASTER_KEY: masterKey.describe(
      'Seals secrets and signing keys at rest. Losing it loses them. `openssl rand -base64 32` makes one.',
    ),
    MASTER_KEY_ID: label.default('k1').describe('Names MASTER_KEY in what it sealed.'),
    MASTER_KEYS_PREVIOUS: list.describe(
      'id=base64 pairs of keys that only open. Separated by commas. See docs/operate/keys.md.',
    ),
  },
  problems({ MODE, MASTER_KEY }) {
    const { success, data } = masterKey.safeParse(MASTER_KEY)
    if (MODE !== 'production' || !success || !isGuessableKey(data)) return []
    return ['MASTER_KEY: can be guessed. `openssl rand -base64 32` makes one that can’t.']
  },
})

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
