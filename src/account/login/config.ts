import { z } from 'zod'
import { defineConfig, list, onOff, readableBy, type SettingsOf } from '#src/platform/config-keys.ts'
import { readEntry } from './allowlist.ts'

export type LoginSettings = SettingsOf<typeof loginConfig> & { MODE: 'development' | 'production' }

export const loginConfig = defineConfig({
  title: 'Login',
  keys: {
    LOGIN_LINKS: onOff.describe(
      'Whether people sign in by mailed links; off needs no mail server. See docs/account/login.md.',
    ),
    LOGIN_ECHO: z
      .enum(['0', '1'], 'must be 0 or 1')
      .default('0')
      .describe(
        '1 shows login links in the answer; sessions from them reach the sandbox only. Development only. `npm start` sets it where it listens on loopback, unless DATABASE_URL is set.',
      ),
    SIGNUP: z
      .enum(['open', 'closed'], 'must be open or closed')
      .optional()
      .describe(
        'Whether an unknown address gets an account at its first login; without it closed in production, else open.',
      ),
    DASHBOARD_LOGIN_ALLOWLIST: readableBy(list, (entries) => entries.map(readEntry)).describe(
      'Addresses and @domains that may sign in; without it everybody may. Separated by commas.',
    ),
  },
  problems({ MODE, LOGIN_LINKS, LOGIN_ECHO, SMTP_URL }) {
    if (MODE !== 'production') return []
    return [
      ...(LOGIN_LINKS !== 'off' && SMTP_URL === undefined
        ? ['SMTP_URL: is missing. Login links are mailed; LOGIN_LINKS=off does without.']
        : []),
      ...(LOGIN_ECHO === '1' ? ['LOGIN_ECHO: refused in production'] : []),
    ]
  },
})
