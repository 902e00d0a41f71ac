import type { RefusalAudit } from '#src/account/audit/refusals.ts'
import type { Allowlist } from '#src/account/login/allowlist.ts'
import type { Login } from '#src/account/login/login.ts'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import type { Sessions } from '#src/account/sessions/sessions.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { deploymentRule } from '#src/platform/retention.ts'
import { createChangedLetter } from './changed-mail.ts'
import { createConfiguration, SEALED_CLIENT_SECRET } from './configuration.ts'
import { configurationRoutes } from './configuration-routes.ts'
import { createSsoLogin } from './login.ts'
import { NOTES } from './notes.ts'
import { createProviders } from './provider.ts'
import { createRecheck } from './recheck.ts'
import { ssoRoutes } from './routes.ts'
import { purgeStarts } from './rows.ts'
import { SEALED_START } from './starts.ts'

// Each domain is looked up once a day.
const RECHECK_EVERY_MS = 15 * 60_000

interface SsoParts {
  sessions: Sessions
  own: OwnSessions
  refusals: RefusalAudit
  allowlist: Allowlist
  withSlot: Login['withSlot']
}

/** Single sign-on: the identity provider of an account, and logins by it. */
export function ssoFeature(p: Platform, { sessions, own, refusals, allowlist, withSlot }: SsoParts) {
  const providers = createProviders(p)
  const configuration = createConfiguration({ ...p, providers })
  const login = createSsoLogin({ ...p, providers, sessions, refusals, allowlist, withSlot })
  return defineFeature(
    {
      name: 'sso',
      data: [
        { table: 'sso_configs', key: [], isOfAccount: true, secrets: ['sealed_client_secret', 'domain_token'] },
        {
          table: 'sso_starts',
          key: ['id'],
          isOfAccount: true,
          unexported: 'internal: logins that have begun, for minutes',
        },
      ],
      routes: [...configurationRoutes(configuration, p), ...ssoRoutes({ login, own, cookies: p.cookies })],
      notes: NOTES,
      sealed: [SEALED_CLIENT_SECRET, SEALED_START],
      tasks: [
        {
          name: 'domains of single sign-on',
          everyMs: RECHECK_EVERY_MS,
          start: () => createRecheck(p),
        },
      ],
      retention: [deploymentRule(p, { what: 'sso_starts', days: 1 }, purgeStarts)],
    },
    { configuration, login, writeLetter: createChangedLetter(p) },
  )
}
