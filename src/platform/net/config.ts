import { defineConfig, list } from '#src/platform/config-keys.ts'

export const outboundConfig = defineConfig({
  title: 'Outbound calls',
  keys: {
    OUTBOUND_ALLOW: list.describe('Loopback hosts that webhooks may reach, such as localhost. Development only.'),
  },
  problems: ({ MODE, OUTBOUND_ALLOW }) =>
    MODE === 'production' && OUTBOUND_ALLOW !== undefined
      ? ['OUTBOUND_ALLOW: refused in production, it lets webhooks reach private networks']
      : [],
})
