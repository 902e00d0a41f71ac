import type { OpenSession } from '@countersign/client'
import { Badge } from '@mantine/core'
import { announceSession } from '../../app/session-end.ts'
import { Act } from '../../parts/act.tsx'
import { Id, Nothing, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<OpenSession> = {
  title: 'Your sessions',
  name: 'sign-ins',
  permission: 'session.own',
  about: 'The browsers in which you are signed in. End those that you do not know.',
  list: (client, query) => client.auth.sessions.list(query as object),
  idOf: ({ sessionId }) => sessionId,
  actions: <EndAll />,
  columns: [
    { name: 'browser', title: 'Browser', show: ({ userAgent }) => userAgent ?? <Nothing /> },
    {
      name: 'current',
      title: 'This one',
      show: ({ current }) => (current ? <Badge variant="light">this browser</Badge> : <Nothing />),
    },
    { name: 'ip', title: 'Address', show: ({ ip }) => ip ?? <Nothing /> },
    { name: 'method', title: 'Signed in by', show: ({ method }) => method.replaceAll('_', ' ') },
    { name: 'reach', title: 'Reaches', show: ({ sandboxOnly }) => (sandboxOnly ? 'the sandbox' : 'everything') },
    { name: 'seen', title: 'Last seen', show: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    { name: 'created', title: 'Signed in', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'expires', title: 'Ends', show: ({ expiresAt }) => <Time at={expiresAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ sessionId }) => <Id id={sessionId} /> },
  ],
  rowActions: ({ sessionId, current }) =>
    !current && (
      <Act
        title="End"
        permission="session.own"
        name={`${sessionId}.end`}
        isSmall
        isDangerous
        about="That browser is signed out at its next click."
        send={(client, _, options) => client.auth.sessions.delete(sessionId, options)}
      />
    ),
  empty: { sentence: 'There is no session.' },
}

export const Page = () => <List page={page} />

function EndAll() {
  return (
    <Act
      title="Sign out everywhere"
      permission="session.own"
      name="sign-ins.end"
      isDangerous
      about="Every session of yours ends, also the one of this browser."
      send={(client, _, options) => client.auth.sessions.deleteAll(options)}
      onDone={() => {
        announceSession()
        window.location.assign('/login/link')
      }}
    />
  )
}
