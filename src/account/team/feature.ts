import type { Allowlist } from '#src/account/login/allowlist.ts'
import type { Login } from '#src/account/login/login.ts'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import type { Sessions } from '#src/account/sessions/sessions.ts'
import { defineFeature, type Platform, type TenantTable } from '#src/platform/feature.ts'
import { deploymentRule } from '#src/platform/retention.ts'
import { createAccept } from './accept.ts'
import { createInvites } from './invites.ts'
import { createMembers, type EndWithUser } from './members.ts'
import { NOTES } from './notes.ts'
import { createLeaveOwnAccount } from './own-account.ts'
import { teamRoutes } from './routes.ts'
import { purgeInvites } from './rows.ts'

// After the day on which they expired, or would have.
const ENDED_DAYS = 30

interface TeamParts {
  sessions: Sessions
  own: OwnSessions
  allowlist: Allowlist
  withSlot: Login['withSlot']
  /** Tables of all features. */
  tables: () => readonly TenantTable[]
  endWithUser: EndWithUser
}

/** The users of an account: invited, listed, given roles, removed. */
export function teamFeature(p: Platform, { sessions, own, allowlist, withSlot, tables, endWithUser }: TeamParts) {
  const invites = createInvites({ ...p, allowlist, withSlot })
  const members = createMembers({ ...p, own, endWithUser })
  const leaveOwn = createLeaveOwnAccount({ ...p, own, tables, endWithUser })
  const accept = createAccept({ ...p, sessions, own, allowlist, withSlot, leaveOwn })
  return defineFeature(
    {
      name: 'team',
      data: [{ table: 'invites', key: ['id'], isOfAccount: true, secrets: ['token_hash', 'nonce'] }],
      routes: teamRoutes({ invites, members, accept, own, cookies: p.cookies }),
      notes: NOTES,
      retention: [deploymentRule(p, { what: 'invites', days: ENDED_DAYS }, purgeInvites)],
    },
    { invites, members },
  )
}
