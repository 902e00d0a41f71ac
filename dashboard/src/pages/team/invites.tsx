import type { Invite as InviteRow } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { Id, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Invite, ROLES } from './invite.tsx'

const page: ListPage<InviteRow> = {
  title: 'Invites',
  name: 'invites',
  permission: 'team.write',
  about: 'People who were asked to become users of the account.',
  list: (client, query) => client.org.invites.list(query as object),
  idOf: ({ inviteId }) => inviteId,
  actions: <Invite />,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['pending', 'accepted', 'revoked', 'expired'] },
    { kind: 'choices', name: 'role', title: 'Role', values: ROLES },
    { kind: 'day', name: 'createdGte', title: 'Invited from' },
  ],
  columns: [
    { name: 'email', title: 'Address', show: ({ email }) => email },
    { name: 'role', title: 'Role', show: ({ role }) => role },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'by', title: 'Invited by', show: ({ invitedBy }) => <By actor={invitedBy} /> },
    { name: 'sent', title: 'Sent', show: ({ sentAt }) => <Time at={sentAt} /> },
    { name: 'expires', title: 'Expires', show: ({ expiresAt }) => <Time at={expiresAt} /> },
    { name: 'accepted', title: 'Accepted', show: ({ acceptedAt }) => <Time at={acceptedAt} /> },
    { name: 'user', title: 'User', show: ({ userId }) => <Id id={userId} /> },
  ],
  rowActions: (invite) => <Actions invite={invite} />,
  empty: {
    sentence: 'Nobody was invited yet. Invites take the plan enterprise.',
    curl: `curl {base_url}/v1/org/users/invite -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"email": "ada@example.com", "role": "analyst"}'`,
  },
}

export const Page = () => <List page={page} />

function Actions({ invite: { inviteId, email, status } }: { invite: InviteRow }) {
  if (status !== 'pending' && status !== 'expired') return null
  return (
    <>
      <Act
        title="Send again"
        permission="team.write"
        name={`${inviteId}.resend`}
        isSmall
        about={`Another mail goes to ${email}. The link of the one before no longer works.`}
        send={(client, _, options) => client.org.invites.resend(inviteId, options)}
      />{' '}
      {status === 'pending' && (
        <Act
          title="Revoke"
          permission="team.write"
          name={`${inviteId}.revoke`}
          isSmall
          isDangerous
          about={`The link that ${email} has no longer works.`}
          send={(client, _, options) => client.org.invites.revoke(inviteId, options)}
        />
      )}
    </>
  )
}
