// What happened to a device, newest first.

import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Value, withApiNames } from '../../parts/finding.tsx'
import { More } from '../../parts/more.tsx'
import { Id, Status, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

export function History({ deviceId }: { deviceId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useInfiniteQuery({
    queryKey: ['device-history', environment, deviceId],
    queryFn: ({ pageParam: cursor }) => client.devices.history.list(deviceId, { cursor, limit: 20 }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  return (
    <Part title="History">
      {query.isPending && <Skeleton height={24} maw={420} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      <Stack gap="xs">
        {query.data?.pages
          .flatMap(({ data }) => data)
          .map(({ kind, at, by, reason, detail }) => (
            <div key={`${kind} ${at}`}>
              <Group gap="xs">
                <Status value={kind} />
                <Time at={at} />
                <Text size="sm">{by.label ?? <Id id={by.id} />}</Text>
                {reason !== null && <Text size="sm">“{reason}”</Text>}
              </Group>
              {Object.keys(detail).length > 0 && <Value value={withApiNames(detail)} />}
            </div>
          ))}
      </Stack>
      <More query={query}>Earlier</More>
    </Part>
  )
}
