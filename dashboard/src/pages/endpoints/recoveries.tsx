// Sends again what an endpoint did not accept since a time, in the background, and follows it.

import type { WebhookRecovery } from '@countersign/client'
import { Skeleton, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { isActive } from '../../app/activity.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Act, timeOf } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { Failed } from '../../parts/failed.tsx'
import { More } from '../../parts/more.tsx'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import { Num, Status, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

const POLL_MS = 2_000
const KINDS = [
  { value: 'failed', label: 'deliveries whose attempts all failed' },
  { value: 'missing', label: 'events that it never accepted, also those from before it was added' },
]

export function Recoveries({ id, isEnabled }: { id: string; isEnabled: boolean }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useInfiniteQuery({
    queryKey: ['recoveries', environment, id],
    queryFn: ({ pageParam: cursor }) => client.webhooks.recoveries.list(id, { cursor, limit: 10 }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some(isRunning)) === true && isActive() ? POLL_MS : false,
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Part title="Recover">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">After a failure of your own, all that the endpoint missed is sent again.</Text>
        {isEnabled && (
          <Act
            title="Recover since"
            permission="webhooks.write"
            name={`${id}.recover`}
            fields={[
              { name: 'from', title: 'Since', about: 'In your time zone', kind: 'time', isRequired: true },
              { name: 'which', title: 'What', kind: 'choice', values: KINDS, initial: 'failed', isRequired: true },
            ]}
            send={(_, { from, which }, options) =>
              client.webhooks.recoveries.create(
                id,
                { from: timeOf(from) ?? '', which: which === 'missing' ? 'missing' : 'failed' },
                options,
              )
            }
          />
        )}
        {query.isPending && <Skeleton height={60} />}
        {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      </Stack>
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={560} type="native" {...SCROLLABLE}>
          <Table verticalSpacing={4} aria-label="Recoveries">
            <Table.Thead>
              <Table.Tr>
                {['Since', 'State', 'Examined', 'Sent again', 'Begun', 'By'].map((title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((recovery) => (
                <Row key={recovery.recoveryId} recovery={recovery} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More query={query}>Earlier</More>
    </Part>
  )
}

const isRunning = ({ status }: WebhookRecovery) => status === 'queued' || status === 'running'

function Row({
  recovery: { from, which, status, failure, examined, sent, createdAt, createdBy },
}: {
  recovery: WebhookRecovery
}) {
  return (
    <Table.Tr>
      <Table.Td>
        <Time at={from} /> ({which})
      </Table.Td>
      <Table.Td>
        <Status value={status} />
        {failure !== null && <Text size="xs">{failure.detail}</Text>}
      </Table.Td>
      <Table.Td>
        <Num value={examined} />
      </Table.Td>
      <Table.Td>
        <Num value={sent} />
      </Table.Td>
      <Table.Td>
        <Time at={createdAt} />
      </Table.Td>
      <Table.Td>
        <By actor={createdBy} />
      </Table.Td>
    </Table.Tr>
  )
}
