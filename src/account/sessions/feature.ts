import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { deploymentRule } from '#src/platform/retention.ts'
import { NOTES } from './notes.ts'
import { createOwnSessions } from './own-sessions.ts'
import { sessionRoutes } from './routes.ts'
import { purgeSessions } from './rows.ts'
import { createSessions } from './sessions.ts'

// Ended sessions stay readable for those who look into an incident.
const ENDED_DAYS = 30

/** Sessions of signed-in users: looked up on each request, listed and ended by their users. */
export function sessionsFeature(p: Platform) {
  const sessions = createSessions({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a session failed'),
  })
  p.onClose(() => sessions.settle(), 'sessions')
  const own = createOwnSessions(p)
  return defineFeature(
    {
      name: 'sessions',
      data: [
        // Written in src/account/users, which has no routes of its own.
        { table: 'users', key: ['id'], isOfAccount: true },
        { table: 'user_sessions', key: ['id'], isOfAccount: true, secrets: ['secret_hash'] },
      ],
      routes: sessionRoutes({ own, cookies: p.cookies }),
      notes: NOTES,
      retention: [deploymentRule(p, { what: 'user_sessions', days: ENDED_DAYS }, purgeSessions)],
    },
    { sessions, own },
  )
}
