// Another role for a user, and the end of a user. The service tells what goes with them.

import type { Role, User, UserRemoval } from '@countersign/client'
import { Alert, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { Id } from '../../parts/values.tsx'
import { ROLES } from './invite.tsx'

interface MemberProps {
  user: User
  isSmall?: boolean
}

export function ChangeRole({ user: { userId, email, role, status }, isSmall = false }: MemberProps) {
  const { environment } = useSession()
  if (status !== 'active') return null
  return (
    <Act
      title="Change the role"
      permission="team.write"
      name={`${userId}.role.${role}`}
      isSmall={isSmall}
      about={
        <>
          {email} has the role {role}. Another one applies from the next request on, and signs the person out:{' '}
          <Link {...addressOf(environment, 'roles')}>what each role may do</Link>.
        </>
      }
      fields={[{ name: 'role', title: 'Role', kind: 'choice', values: ROLES, initial: role, isRequired: true }]}
      send={(client, values, options) => client.org.users.update(userId, { role: values.role as Role }, options)}
      result={(change) => <Ended change={change} what={`${email} has the role ${change.role} now.`} />}
    />
  )
}

export function Remove({ user: { userId, email, status }, isSmall = false }: MemberProps) {
  if (status !== 'active') return null
  return (
    <Act
      title="Remove"
      permission="team.write"
      name={`${userId}.remove`}
      isSmall={isSmall}
      isDangerous
      about={
        <Alert color="red" title={`${email} is removed from the account`}>
          Their sessions end at once, in every browser. Only an invite makes them a user again.
        </Alert>
      }
      typed={email}
      send={(client, _, options) => client.org.users.delete(userId, options)}
      result={(change) => <Ended change={change} what={`${email} is removed.`} />}
    />
  )
}

function Ended({
  change: { sessionsEnded, invitesRevoked, keysCreated },
  what,
}: {
  change: UserRemoval
  what: string
}) {
  return (
    <Stack gap="xs">
      <Text size="sm">{what}</Text>
      <Text size="sm">
        Sessions that ended: {sessionsEnded}. Invites that were revoked: {invitesRevoked.length}.
      </Text>
      {keysCreated.length > 0 && (
        <Alert color="yellow" title="API keys of theirs still work">
          <Text size="sm">Revoke those that only they know.</Text>
          {keysCreated.map((id) => (
            <Id key={id} id={id} />
          ))}
        </Alert>
      )}
    </Stack>
  )
}
