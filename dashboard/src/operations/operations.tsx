// What an operator looks at: which queue is late, which workers are alive, and what died. It is read again each ten seconds.

import { Alert, Container, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Failed } from '../parts/failed.tsx'
import { formatNumber } from '../parts/measures.ts'
import { Time } from '../parts/values.tsx'
import { DeadGroups } from './dead-groups.tsx'
import { DeadJobs } from './dead-jobs.tsx'
import { ask, type Queues, type Worker } from './internal.ts'
import { QueueTable } from './queue-table.tsx'

export const REFRESH_MS = 10_000

export function Operations() {
  const queues = useQuery({
    queryKey: ['queues'],
    queryFn: () => ask<Queues>(''),
    refetchInterval: REFRESH_MS,
  })
  const acts = queues.data?.acts ?? []
  return (
    <Container size="xl" py="md" component="main">
      <Stack gap="xl">
        <Group justify="space-between" align="baseline">
          <Title order={1} size="h3">
            Operations
          </Title>
          {queues.dataUpdatedAt > 0 && (
            <Text size="sm" c="dimmed">
              Read <Time at={new Date(queues.dataUpdatedAt).toISOString()} />
            </Text>
          )}
        </Group>
        {queues.isError && <Failed error={queues.error} onRetry={() => void queues.refetch()} />}
        {queues.isSuccess && acts.length === 0 && (
          <Alert color="yellow" title="Read-only">
            Set BULL_BOARD_PASSWORD to see dead jobs, run them again, and pause queues.
          </Alert>
        )}
        {queues.isSuccess && <QueueTable queues={queues.data.queues} acts={acts} />}
        {acts.includes('redrive') && <DeadGroups />}
        {acts.includes('redrive') && <DeadJobs queues={queues.data?.queues ?? []} />}
        {queues.isSuccess && <Workers workers={queues.data.workers} />}
      </Stack>
    </Container>
  )
}

function Workers({ workers }: { workers: readonly Worker[] }) {
  return (
    <section aria-labelledby="workers">
      <Title order={2} size="h4" id="workers" mb="xs">
        Workers that are alive
      </Title>
      {workers.length === 0 ? (
        <Text size="sm">No worker is alive: jobs wait until one starts.</Text>
      ) : (
        <Table verticalSpacing={6} aria-labelledby="workers">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Runs</Table.Th>
              <Table.Th ta="right">Jobs at once</Table.Th>
              <Table.Th>Last heartbeat</Table.Th>
              <Table.Th>Worker</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {workers.map((worker) => (
              <Table.Tr key={worker.worker_id}>
                <Table.Td>{worker.kind}</Table.Td>
                <Table.Td ta="right">{formatNumber(worker.slots)}</Table.Td>
                <Table.Td>
                  <Time at={worker.heartbeat_at} />
                </Table.Td>
                <Table.Td ff="monospace" fz="xs" style={{ overflowWrap: 'anywhere' }}>
                  {worker.worker_id}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  )
}
