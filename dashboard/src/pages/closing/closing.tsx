// The account is closed in two steps, and its closure can be undone for 30 days.

import type { AccountClosure } from '@countersign/client'
import { Alert, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { formatTime } from '../../parts/measures.ts'

export function Page() {
  const { may } = useSession()
  return may('account.close') ? <Shown /> : <Forbidden permission="account.close" />
}

function Shown() {
  const client = useClient()
  const query = useQuery({ queryKey: ['closure'], queryFn: () => client.account.closure.retrieve() })
  return (
    <Stack align="flex-start">
      <Title order={1} size="h3">
        Close the account
      </Title>
      {query.isPending && (
        <div role="status" aria-label="Loading">
          <Skeleton height={120} width={480} maw="100%" />
        </div>
      )}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data !== undefined && (query.data.closedAt === null ? <Open /> : <Closed closure={query.data} />)}
    </Stack>
  )
}

function Open() {
  const { session, environment } = useSession()
  const { name } = session.account
  return (
    <>
      <Text size="sm" maw={640}>
        The account is open. When it is closed, API keys and all other users are refused from the next request on. After
        30 days everything is erased; until then an owner can undo it.{' '}
        <Link {...addressOf(environment, 'exports')}>Export everything first</Link>.
      </Text>
      <Act
        title="Close the account"
        permission="account.close"
        name="account.close"
        isDangerous
        about={`The account is ${name}, with its sandbox and its live data.`}
        review={() => (
          <Alert color="red" title={`${name} is closed`}>
            No key and no other user reaches it any more. It is erased in 30 days.
          </Alert>
        )}
        typed={name}
        send={(client, _, options) => client.account.close({ confirm: name }, options)}
      />
    </>
  )
}

function Closed({ closure: { closedAt, closedBy, erasedAfter } }: { closure: AccountClosure }) {
  return (
    <Alert color="red" title="The account is closed">
      <Text size="sm" mb="sm" component="div">
        Since {formatTime(closedAt ?? '')}, by <By actor={closedBy} />. It is erased {formatTime(erasedAfter ?? '')}.
      </Text>
      <Act
        title="Open it again"
        permission="account.close"
        name="account.reopen"
        about="Keys and users reach the account again, as before."
        send={(client, _, options) => client.account.reopen(options)}
      />
    </Alert>
  )
}
