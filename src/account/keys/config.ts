import { z } from 'zod'
import { defineConfig } from '#src/platform/config-keys.ts'

const rawKey = z.string().regex(/^svc_test_[0-9A-Za-z]{32}$/, 'must be svc_test_ and 32 base62 characters')

export const keysConfig = defineConfig({
  title: 'Sandbox keys',
  keys: {
    SANDBOX_KEY_ALL: rawKey
      .optional()
      .describe(
        'Publishable sandbox key with every scope. The three keys are for `npm start`, which makes its own otherwise.',
      ),
    SANDBOX_KEY_VERIFY: rawKey.optional().describe('Publishable sandbox key with scope verify.'),
    SANDBOX_KEY_ATTEST: rawKey.optional().describe('Publishable sandbox key with scope attest.'),
  },
})
