import { z } from 'zod'
import { role } from '#src/account/sessions/views.ts'
import type { TeamMember } from '#src/account/users/team-rows.ts'
import type { ShownInvite } from './invites.ts'
import type { Removal, RoleChange } from './members.ts'
import { INVITE_STATES } from './rows.ts'

export const MEMBER_STATES = ['active', 'deprovisioned'] as const

const time = z.iso.datetime()

export const inviteView = z
  .object({
    invite_id: z.string(),
    email: z.string(),
    role,
    state: z.enum(INVITE_STATES).meta({ id: 'InviteState' }),
    invited_by: z.string().meta({ description: 'The user or the API key that sent its newest mail.' }),
    created_at: time,
    sent_at: time.meta({ description: 'When its newest mail was requested.' }),
    expires_at: time,
    accepted_at: time.nullable(),
    user_id: z.string().nullable().meta({ description: 'Whom accepting made a member.' }),
    revoked_at: time.nullable(),
  })
  .meta({ id: 'Invite' })

export function toInviteView(invite: ShownInvite): z.input<typeof inviteView> {
  return {
    invite_id: invite.id,
    email: invite.email,
    role: invite.role,
    state: invite.state,
    invited_by: invite.invitedBy,
    created_at: invite.createdAt.toISOString(),
    sent_at: invite.sentAt.toISOString(),
    expires_at: invite.expiresAt.toISOString(),
    accepted_at: invite.acceptedAt?.toISOString() ?? null,
    user_id: invite.userId,
    revoked_at: invite.revokedAt?.toISOString() ?? null,
  }
}

const member = {
  user_id: z.string(),
  email: z.string(),
  role,
  state: z.enum(MEMBER_STATES).meta({ id: 'UserState' }),
  created_at: time,
  last_login_at: time.nullable(),
  deprovisioned_at: time.nullable(),
}
const sessionsEnded = z.number().int().meta({ description: 'How many of the user’s sessions ended with it.' })

export const memberView = z.object(member).meta({ id: 'User' })

const keysCreated = z.array(z.string()).meta({
  description:
    'API keys that the user created, or that such keys created, and that still work: revoke those that only they know.',
})

export const roleChangeView = z
  .object({
    ...member,
    previous_role: role.nullable().meta({ description: 'null where this request changed nothing.' }),
    sessions_ended: sessionsEnded,
    invites_revoked: z
      .array(z.string())
      .meta({ description: 'Pending ones that the user sent and could not send any more.' }),
    keys_created: keysCreated,
  })
  .meta({ id: 'UserRoleChange' })

export const removalView = z
  .object({
    ...member,
    sessions_ended: sessionsEnded,
    invites_revoked: z.array(z.string()).meta({ description: 'Pending ones that the user sent, or to the address.' }),
    keys_created: keysCreated,
  })
  .meta({ id: 'UserRemoval' })

export function toMemberView(row: TeamMember): z.input<typeof memberView> {
  return {
    user_id: row.id,
    email: row.email,
    role: row.role,
    state: row.deprovisionedAt === null ? 'active' : 'deprovisioned',
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
