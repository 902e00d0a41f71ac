import type { Role } from '@countersign/client'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'

export const ROLES: readonly Role[] = ['owner', 'admin', 'approver', 'analyst', 'developer']

export function Invite() {
  const { environment, session } = useSession()
  return (
    <Act
      title="Invite a person"
      permission="team.write"
      name="team.invite"
      about={
        <>
          A mail leads the person here, as a user of {session.account.name} with the role:{' '}
          <Link {...addressOf(environment, 'roles')}>what each role may do</Link>.
        </>
      }
      fields={[
        { name: 'email', title: 'E-mail address', isRequired: true, maxLength: 254 },
        { name: 'role', title: 'Role', kind: 'choice', values: ROLES, isRequired: true },
      ]}
      send={(client, { email = '', role }, options) =>
        client.org.invites.create({ email: email.trim(), role: role as Role }, options)
      }
    />
  )
}
