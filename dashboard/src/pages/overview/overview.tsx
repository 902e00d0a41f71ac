// What waits for the person who is signed in, each with a link to it.

import type { CappedCount } from '@countersign/client'
import { Anchor, Card, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'

export function Page() {
  const { environment } = useSession()
  const client = useClient()
  const query = useQuery({ queryKey: ['overview', environment], queryFn: () => client.overview.retrieve() })
  const data = query.data
  const waiting: readonly (readonly [title: string, count: CappedCount | null | undefined, path: string])[] = [
    ['Your cases', data?.cases?.mine, 'cases?queue=mine'],
    ['Unassigned cases', data?.cases?.unassigned, 'cases?queue=unassigned'],
    ['Overdue cases', data?.cases?.overdue, 'cases?queue=overdue'],
  ]
  return (
    <Stack>
      <Title order={1} size="h3">
        What waits
      </Title>
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && (
        <Stack role="status" aria-label="Loading">
          <Skeleton height={86} />
        </Stack>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        {waiting.map(([title, count, path]) =>
          count === null || count === undefined ? null : (
            <Card key={title} withBorder>
              <Text size="sm">{title}</Text>
              <Anchor component={Link} to={`/${environment}/${path}`} size="xl" fw={600}>
                {count.count}
                {count.capped ? '+' : ''}
              </Anchor>
            </Card>
          ),
        )}
      </SimpleGrid>
    </Stack>
  )
}
