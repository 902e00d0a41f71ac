// How long approvals wait, and the way to the two lists of the reports.

import { Button, Group, Skeleton, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { ApprovalAges } from './approvals.tsx'

const PERMISSION = 'decisions.read'

export function Page() {
  const { may } = useSession()
  return may(PERMISSION) ? <Reports /> : <Forbidden permission={PERMISSION} />
}

function Reports() {
  const { environment } = useSession()
  const client = useClient()
  const query = useQuery({
    queryKey: ['approval-report', environment],
    queryFn: ({ signal }) => client.analytics.approvals.retrieve({}, { signal }),
  })
  const lists = [
    ['reports/spend', 'Spend under mandates'],
    ['reports/unexecuted', 'Tokens that were never used'],
  ] as const
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h3">
          Reports
        </Title>
        <Group gap="xs">
          {lists.map(([path, title]) => (
            <Button key={path} component={Link} {...addressOf(environment, path)} variant="default" size="xs">
              {title}
            </Button>
          ))}
        </Group>
      </Group>
      {query.isPending && <Skeleton height={260} role="status" aria-label="Loading" />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && <ApprovalAges report={query.data} />}
    </Stack>
  )
}
