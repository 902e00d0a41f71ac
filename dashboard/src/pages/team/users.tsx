import type { User } from '@countersign/client'
import { useSession } from '../../app/session.tsx'
import { Id, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Invite, ROLES } from './invite.tsx'
import { ChangeRole, Remove } from './member.tsx'

const page: ListPage<User> = {
  title: 'Users',
  name: 'users',
  permission: 'team.read',
  about: 'The people of the account. Each has one role.',
  list: (client, query) => client.org.users.list(query as object),
  idOf: ({ userId }) => userId,
  pathOf: ({ userId }) => `users/${userId}`,
  actions: <Invite />,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['active', 'deprovisioned'] },
    { kind: 'choices', name: 'role', title: 'Role', values: ROLES },
    { kind: 'day', name: 'createdGte', title: 'Joined from' },
  ],
  columns: [
    { name: 'email', title: 'Address', show: ({ email }) => email },
    { name: 'role', title: 'Role', show: ({ role }) => role },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'login', title: 'Last sign-in', show: ({ lastLoginAt }) => <Time at={lastLoginAt} /> },
    { name: 'created', title: 'Joined', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'removed', title: 'Removed', isHidden: true, show: ({ deprovisionedAt: at }) => <Time at={at} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ userId }) => <Id id={userId} /> },
  ],
  rowActions: (user) => (
    <>
      <ChangeRole user={user} isSmall /> <Remove user={user} isSmall />
    </>
  ),
  empty: { sentence: 'Nobody is a user of the account.' },
}

const detail: DetailPage<User> = {
  kind: 'User',
  name: 'users',
  permission: 'team.read',
  listPath: 'users',
  retrieve: (client, id, signal) => client.org.users.retrieve(id, { signal }),
  titleOf: ({ email }) => email,
  statusOf: ({ status }) => status,
  facts: (user) => [
    ['Role', user.role],
    ['Last sign-in', <Time key="login" at={user.lastLoginAt} />],
    ['Joined', <Time key="created" at={user.createdAt} />],
    ['Removed', <Time key="removed" at={user.deprovisionedAt} />],
    ['You', <Yourself key="self" userId={user.userId} />],
  ],
  actions: (user) => (
    <>
      <Remove user={user} />
      <ChangeRole user={user} />
    </>
  ),
}

export const Page = () => <List page={page} />
export const DetailOf = () => <Detail page={detail} />

function Yourself({ userId }: { userId: string }) {
  const { session } = useSession()
  return session.user.userId === userId ? 'yes' : 'no'
}
