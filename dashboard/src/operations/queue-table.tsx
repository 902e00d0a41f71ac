// The queues, the latest first, each with the last hour of how long its oldest job waited.

import { Badge, Button, Group, Modal, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Failed } from '../parts/failed.tsx'
import { formatNumber, formatSeconds } from '../parts/measures.ts'
import { Time } from '../parts/values.tsx'
import { ask, type List, type Queue, type Sample } from './internal.ts'

const SAMPLED_MS = 30_000
/** The alert CountersignJobsWait begins here. */
const LATE_SECONDS = 60

export function QueueTable({ queues, acts }: { queues: readonly Queue[]; acts: readonly string[] }) {
  const history = useQuery({
    queryKey: ['history'],
    queryFn: () => ask<List<{ queue: string; samples: Sample[] }>>('/history'),
    refetchInterval: SAMPLED_MS,
  })
  const samplesOf = (name: string) => history.data?.data.find(({ queue }) => queue === name)?.samples ?? []
  const sorted = queues.toSorted((a, b) => (b.oldest_due_seconds ?? -1) - (a.oldest_due_seconds ?? -1))
  return (
    <section aria-labelledby="queues">
      <Title order={2} size="h4" id="queues" mb="xs">
        Queues
      </Title>
      <Table.ScrollContainer minWidth={860} type="native">
        <Table verticalSpacing={6} aria-labelledby="queues">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Queue</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th ta="right">Oldest job</Table.Th>
              <Table.Th>Oldest job in the last hour</Table.Th>
              <Table.Th ta="right">Due</Table.Th>
              <Table.Th ta="right">Later</Table.Th>
              <Table.Th ta="right">In flight</Table.Th>
              <Table.Th ta="right">Dead</Table.Th>
              <Table.Th ta="right">Workers</Table.Th>
              {acts.length > 0 && (
                <Table.Th pos="relative">
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.map((queue) => (
              <Table.Tr key={queue.queue}>
                <Table.Td>{queue.queue}</Table.Td>
                <Table.Td>
                  <State queue={queue} />
                </Table.Td>
                <Table.Td ta="right">
                  {queue.oldest_due_seconds === null ? '' : formatSeconds(queue.oldest_due_seconds)}
                </Table.Td>
                <Table.Td>
                  <Hour name={queue.queue} samples={samplesOf(queue.queue)} />
                </Table.Td>
                {[queue.due, queue.later, queue.in_flight, queue.dead, queue.workers].map((value, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed
                  <Table.Td key={index} ta="right">
                    {formatNumber(value)}
                  </Table.Td>
                ))}
                {acts.length > 0 && (
                  <Table.Td ta="right">
                    <Pausing queue={queue} />
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  )
}

function State({ queue }: { queue: Queue }) {
  if (queue.paused_at !== null) {
    return (
      <Group gap={6} wrap="nowrap">
        <Badge color="yellow" variant="light">
          paused
        </Badge>
        <Text size="xs" c="dimmed">
          since <Time at={queue.paused_at} />
        </Text>
      </Group>
    )
  }
  if (queue.workers === 0 && queue.due > 0) return <Badge color="red">no worker</Badge>
  if ((queue.oldest_due_seconds ?? 0) >= LATE_SECONDS) return <Badge color="red">late</Badge>
  return <Text size="sm">running</Text>
}

const WIDTH = 160
const HEIGHT = 24
const HOUR_MS = 3_600_000

/** A line over the last hour; its highest value beside it as text. */
function Hour({ name, samples }: { name: string; samples: readonly Sample[] }) {
  if (samples.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        no samples yet
      </Text>
    )
  }
  const highest = Math.max(...samples.map(({ oldest_due_seconds: age }) => age))
  const end = Date.parse(samples.at(-1)?.sampled_at ?? '')
  const points = samples.map(({ sampled_at: at, oldest_due_seconds: age }) => {
    const x = WIDTH * (1 - (end - Date.parse(at)) / HOUR_MS)
    return `${x.toFixed(1)},${(HEIGHT - 1 - ((HEIGHT - 2) * age) / Math.max(highest, 1)).toFixed(1)}`
  })
  return (
    <Group gap={8} wrap="nowrap">
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label={`${name}: the oldest job waited up to ${highest} s`}>
        <polyline points={points.join(' ')} fill="none" stroke="currentColor" strokeWidth={1.5} />
      </svg>
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        up to {formatSeconds(highest)}
      </Text>
    </Group>
  )
}

function Pausing({ queue }: { queue: Queue }) {
  const isPaused = queue.paused_at !== null
  const act = isPaused ? 'resume' : 'pause'
  const [isOpen, form] = useDisclosure()
  const cache = useQueryClient()
  const change = useMutation({
    mutationFn: () => ask<Queue>(`/queues/${queue.queue}/${act}`, {}, 'POST'),
    onSuccess: async () => {
      form.close()
      notifications.show({ message: `The queue ${queue.queue} is ${isPaused ? 'running' : 'paused'}.` })
      await cache.invalidateQueries({ queryKey: ['queues'] })
    },
  })
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={form.open} aria-label={`${act} ${queue.queue}`}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Modal opened={isOpen} onClose={form.close} title={`${isPaused ? 'Resume' : 'Pause'} ${queue.queue}`}>
        <Stack>
          <Text size="sm">
            {isPaused
              ? `Workers start jobs of this queue again: ${formatNumber(queue.due)} are due.`
              : 'No worker starts a job of this queue until it is resumed. Jobs that run finish, and new jobs wait.'}
          </Text>
          {change.isError && <Failed error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={form.close}>
              Cancel
            </Button>
            <Button loading={change.isPending} onClick={() => change.mutate()}>
              {isPaused ? 'Resume' : 'Pause'}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
