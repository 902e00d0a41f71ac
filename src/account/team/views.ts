import { z } from 'zod'
import { role } from '#src/account/sessions/views.ts'
import { MEMBER_STATUSES, type TeamMember } from '#src/account/users/team-rows.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import type { ShownInvite } from './invites.ts'
import type { Removal, RoleChange } from './members.ts'
import { INVITE_STATUSES } from './rows.ts'

export const inviteStatusView = z.enum(INVITE_STATUSES).meta({ id: 'InviteStatus' })
export const memberStatusView = z.enum(MEMBER_STATUSES).meta({ id: 'UserStatus' })

const time = timestampView

export const inviteView = z
  .object({
    invite_id: z.string(),
    email: z.string(),
    role,
    status: inviteStatusView,
    invited_by: actorView.describe('User or key that sent the newest mail.'),
    created_at: time,
    sent_at: time.meta({ description: 'When the newest mail was requested.' }),
    expires_at: time,
    accepted_at: time.nullable(),
    user_id: z.string().nullable().meta({ description: 'User that became a member by accepting.' }),
    revoked_at: time.nullable(),
  })
  .meta({ id: 'Invite' })

export function toInviteView(invite: ShownInvite): z.input<typeof inviteView> {
  return {
    invite_id: invite.id,
    email: invite.email,
    role: invite.role,
    status: invite.status,
    invited_by: invite.sender,
    created_at: invite.createdAt.toISOString(),
    sent_at: invite.sentAt.toISOString(),
    expires_at: invite.expiresAt.toISOString(),
    accepted_at: invite.acceptedAt?.toISOString() ?? null,
    user_id: invite.userId,
    revoked_at: invite.revokedAt?.toISOString() ?? null,
  }
}

export const memberView = z
  .object({
    user_id: z.string(),
    email: z.string(),
    role,
    status: memberStatusView,
    created_at: time,
    last_login_at: time.nullable(),
    deprovisioned_at: time.nullable(),
  })
  .meta({ id: 'User' })
const sessionsEnded = z.number().int().meta({ description: 'Number of the user’s sessions that ended.' })

const keysCreated = z.array(z.string()).meta({
  description:
    'API keys that the user created, or that such keys created, and that still work: revoke those that only they know.',
})

export const removalView = extended(
  memberView,
  {
    sessions_ended: sessionsEnded,
    invites_revoked: z
      .array(z.string())
      .describe(
        'Pending invites that the user sent and could not send any more; after a removal also those to the address.',
      ),
    keys_created: keysCreated,
  },
  { id: 'UserRemoval' },
)

export const roleChangeView = extended(
  removalView,
  { previous_role: role.nullable().describe('Previous role; null where this request changed nothing.') },
  { id: 'UserRoleChange' },
)

export function toMemberView(row: TeamMember): z.input<typeof memberView> {
  return {
    user_id: row.id,
    email: row.email,
    role: row.role,
    status: row.deprovisionedAt === null ? 'active' : 'deprovisioned',
    created_at: row.createdAt.toISOString(),
    last_login_at: row.lastLoginAt?.toISOString() ?? null,
    deprovisioned_at: row.deprovisionedAt?.toISOString() ?? null,
  }
}

export function toRoleChangeView({ previousRole, ...change }: RoleChange): z.input<typeof roleChangeView> {
  return { ...toRemovalView(change), previous_role: previousRole }
}

export function toRemovalView({ member, ...ended }: Removal): z.input<typeof removalView> {
  return {
    ...toMemberView(member),
    sessions_ended: ended.sessionsEnded,
    invites_revoked: ended.invitesRevoked,
    keys_created: ended.keysCreated,
  }
}
