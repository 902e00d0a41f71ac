import { z } from 'zod'
import { defineConfig, label, list } from '#src/platform/config-keys.ts'
import { isGuessableKey } from './guessable.ts'

const masterKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64, as `openssl rand -base64 32` prints them')
  .transform((text) => Buffer.from(text, 'base64'))

export const masterKeyConfig = defineConfig({
  keys: {
    MASTER_KEY: masterKey.describe('Seals secrets and signing keys at rest. Losing it loses them.'),
    MASTER_KEY_ID: label.default('k1').describe('Names MASTER_KEY in what it sealed.'),
    MASTER_KEYS_PREVIOUS: list.describe('id=base64 pairs of keys that only open.'),
  },
  problems({ MODE, MASTER_KEY }) {
    const { success, data } = masterKey.safeParse(MASTER_KEY)
    if (MODE !== 'production' || !success || !isGuessableKey(data)) return []
    return ['MASTER_KEY: can be guessed. `openssl rand -base64 32` makes one that can’t.']
  },
})
