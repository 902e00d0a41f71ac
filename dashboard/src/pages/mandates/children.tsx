// The mandates that were granted within one.

import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { More } from '../../parts/more.tsx'
import { Id, Status } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { leftOf } from './list.tsx'

export function Children({ mandateId }: { mandateId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useInfiniteQuery({
    queryKey: ['mandate-children', environment, mandateId],
    queryFn: ({ pageParam: cursor }) => client.mandates.list({ parentId: mandateId, cursor, limit: 20 }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Part title="Granted within it">
      {query.isPending && <Skeleton height={24} maw={420} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          No mandate was granted within it.
        </Text>
      )}
      <Stack gap={4}>
        {rows.map((row) => (
          <Group key={row.mandateId} gap="sm">
            <Id id={row.mandateId} />
            <Status value={row.status} />
            <Text size="sm">{row.description}</Text>
            <Text size="sm" c="dimmed">
              {leftOf(row)}
            </Text>
          </Group>
        ))}
      </Stack>
      <More query={query}>More</More>
    </Part>
  )
}
