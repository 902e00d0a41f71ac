import { z } from 'zod'
import { defineConfig, onOff } from '#src/platform/config-keys.ts'

export const limitsConfig = defineConfig({
  title: 'Rate limits',
  keys: {
    RATE_LIMITS: onOff.describe('off: requests are not counted, and no answer has RateLimit headers.'),
    RATE_LIMIT_FACTOR: z.coerce
      .number('must be a number')
      .min(0.1, 'must be 0.1 to 10000')
      .max(10_000, 'must be 0.1 to 10000')
      .default(1)
      .describe('Multiplies every rate and burst of the plans. See docs/operate/limits.md.'),
  },
})
