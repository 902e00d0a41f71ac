import type { RefusalAudit } from '#src/account/audit/refusals.ts'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import type { Sessions } from '#src/account/sessions/sessions.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { deploymentRule } from '#src/platform/retention.ts'
import { createAllowlist } from './allowlist.ts'
import { purgeAttempts } from './attempts.ts'
import type { LoginSettings } from './config.ts'
import { createLogin } from './login.ts'
import { NOTES } from './notes.ts'
import { createPrintLink } from './operator-link.ts'
import { loginRoutes } from './routes.ts'
import { purgeLinks } from './rows.ts'

/** Signing in by mailed links. */
export function loginFeature(
  p: Platform,
  settings: LoginSettings,
  { sessions, own, refusals }: { sessions: Sessions; own: OwnSessions; refusals: RefusalAudit },
) {
  const allowlist = createAllowlist(settings.DASHBOARD_LOGIN_ALLOWLIST)
  const login = createLogin({
    ...p,
    sessions,
    refusals,
    allowlist,
    areLinksMailed: settings.LOGIN_LINKS === 'on',
    isEchoed: settings.LOGIN_ECHO === '1',
    isSignupOpen: (settings.SIGNUP ?? (settings.MODE === 'production' ? 'closed' : 'open')) === 'open',
  })
  return defineFeature(
    {
      name: 'login',
      routes: loginRoutes({ login, own, cookies: p.cookies }),
      notes: NOTES,
      retention: [
        deploymentRule(p, { what: 'login_links', days: 1 }, purgeLinks),
        deploymentRule(p, { what: 'attempts', days: 0 }, purgeAttempts),
      ],
    },
    { login, allowlist, printLink: createPrintLink({ ...p, allowlist }) },
  )
}
