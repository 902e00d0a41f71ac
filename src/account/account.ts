// The product Account, on which every other product builds. It lists its features in plain code.

import type { Platform } from '#src/platform/feature.ts'
import { createAccounts } from './keys/accounts.ts'
import { createKeys } from './keys/keys.ts'
import type { LoginSettings } from './login/config.ts'
import { loginFeature } from './login/feature.ts'
import type { MailSettings } from './mail/config.ts'
import { mailFeature } from './mail/feature.ts'
import { sessionsFeature } from './sessions/feature.ts'
import { teamFeature } from './team/feature.ts'
import type { WebhookSettings } from './webhooks/config.ts'
import { webhooksFeature } from './webhooks/feature.ts'

export type AccountSettings = WebhookSettings & MailSettings & LoginSettings

export function createAccount(p: Platform, settings: AccountSettings) {
  const accounts = createAccounts(p)
  const keys = createKeys({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a key failed'),
  })
  p.onClose(() => keys.settle())
  const sessions = sessionsFeature(p)
  const login = loginFeature(p, settings, sessions)
  const team = teamFeature(p, { ...sessions, allowlist: login.allowlist, inTurn: login.login.inTurn })
  const mail = mailFeature(p, settings, { login_link: login.login.writeLetter, invite: team.invites.writeLetter })
  const webhooks = webhooksFeature(p, settings)
  return {
    features: [mail.feature, sessions.feature, login.feature, team.feature, webhooks.feature],
    accounts,
    keys,
    sessions: sessions.sessions,
    ownSessions: sessions.own,
    allowlist: login.allowlist,
    printLink: login.printLink,
    webhooks: webhooks.webhooks,
  }
}
