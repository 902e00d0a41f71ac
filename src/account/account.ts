// The product Account, on which every other product builds. It lists its features in plain code.

import type { Platform, TenantTable } from '#src/platform/feature.ts'
import { auditFeature } from './audit/feature.ts'
import { recordAudit } from './audit/record.ts'
import { closureFeature } from './closure/feature.ts'
import { eventsFeature } from './events/feature.ts'
import { exportsFeature } from './exports/feature.ts'
import { createAccounts } from './keys/accounts.ts'
import { keysFeature } from './keys/feature.ts'
import type { LoginSettings } from './login/config.ts'
import { loginFeature } from './login/feature.ts'
import type { MailSettings } from './mail/config.ts'
import { mailFeature } from './mail/feature.ts'
import type { LetterWriter } from './mail/send.ts'
import { productsFeature } from './products/feature.ts'
import { scimFeature } from './scim/feature.ts'
import { scimTokensFeature } from './scim-tokens/feature.ts'
import { sessionsFeature } from './sessions/feature.ts'
import { ssoFeature } from './sso/feature.ts'
import { teamFeature } from './team/feature.ts'
import type { EndWithUser } from './team/members.ts'
import { usageFeature } from './usage/feature.ts'
import { createNoticeLetter, mailNotice } from './usage/notice-mail.ts'
import { readActors } from './users/actors.ts'
import type { WebhookSettings } from './webhooks/config.ts'
import { createDisabledLetter } from './webhooks/disabled-mail.ts'
import { webhooksFeature } from './webhooks/feature.ts'

export type AccountSettings = WebhookSettings & MailSettings & LoginSettings

/** What products above this one add to it. */
export interface FromAbove {
  /** With a user who is removed or leaves. */
  endWithUser: EndWithUser
  /** Writers of the mails that those products send. */
  writers: Record<
    'passkey_changed' | 'approval' | 'exclusions_changed' | 'disclosure_code' | 'disclosure_grant',
    LetterWriter
  >
}

interface AccountParts extends FromAbove {
  /** Tables of all features. */
  tables: () => readonly TenantTable[]
}

export function createAccount(p: Platform, settings: AccountSettings, { tables, endWithUser, writers }: AccountParts) {
  const accounts = createAccounts(p)
  const keys = keysFeature(p)
  const sessions = sessionsFeature(p)
  const audit = auditFeature(p, accounts)
  const login = loginFeature(p, settings, { ...sessions, refusals: audit.refusals })
  const { allowlist } = login
  const team = teamFeature(p, { ...sessions, allowlist, withSlot: login.login.withSlot, tables, endWithUser })
  const sso = ssoFeature(p, {
    ...sessions,
    allowlist,
    withSlot: login.login.withSlot,
    refusals: audit.refusals,
  })
  const scimTokens = scimTokensFeature(p)
  const scim = scimFeature(p, { ...sessions, ...team, allowlist })
  const webhooks = webhooksFeature(p, settings, accounts)
  const events = eventsFeature(p)
  const usage = usageFeature(p, { notify: mailNotice })
  const mail = mailFeature(p, settings, {
    login_link: login.login.writeLetter,
    invite: team.invites.writeLetter,
    usage_notice: createNoticeLetter(p),
    sso_changed: sso.writeLetter,
    webhook_endpoint_disabled: createDisabledLetter(p),
    ...writers,
  })
  const products = productsFeature(p)
  const exports = exportsFeature(p, tables)
  const closure = closureFeature(p, tables)
  const features = [
    mail,
    keys,
    sessions,
    login,
    team,
    sso,
    scimTokens,
    scim,
    webhooks,
    events,
    usage,
    audit,
    products,
    exports,
    closure,
  ]
  return {
    features: features.map(({ feature }) => feature),
    accounts,
    readActors,
    recordAudit,
    keys: keys.keys,
    refusals: audit.refusals,
    sessions: sessions.sessions,
    directoryTokens: scimTokens.tokens,
    ownSessions: sessions.own,
    allowlist,
    printLink: login.printLink,
    webhooks: webhooks.webhooks,
    usage,
    closure: closure.closure,
  }
}
