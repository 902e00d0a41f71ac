import { count, defineConfig, type SettingsOf } from '#src/platform/config-keys.ts'

export type WebhookSettings = SettingsOf<typeof webhooksConfig>

export const webhooksConfig = defineConfig({
  title: 'Webhooks',
  keys: {
    WEBHOOK_TIME_DIVISOR: count(1).describe('Divides the webhook retry delays, for tests. Development only.'),
  },
  problems: ({ MODE, WEBHOOK_TIME_DIVISOR = '1' }) =>
    MODE === 'production' && WEBHOOK_TIME_DIVISOR !== '1' ? ['WEBHOOK_TIME_DIVISOR: refused in production'] : [],
})
