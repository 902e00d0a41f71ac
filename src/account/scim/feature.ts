import type { Allowlist } from '#src/account/login/allowlist.ts'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import type { Members } from '#src/account/team/members.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { NOTES } from './notes.ts'
import { scimRoutes } from './routes.ts'
import { createDirectory } from './users.ts'

interface ScimParts {
  own: OwnSessions
  allowlist: Allowlist
  members: Members
}

/** SCIM 2.0: a directory makes, changes and removes users. */
export function scimFeature(p: Platform, parts: ScimParts) {
  const directory = createDirectory({ ...p, ...parts })
  return defineFeature(
    {
      name: 'scim',
      data: [{ table: 'directory_users', key: ['user_id'], isOfAccount: true }],
      routes: scimRoutes(directory, p),
      notes: NOTES,
    },
    { directory },
  )
}
