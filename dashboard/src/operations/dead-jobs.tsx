// Single dead jobs, found by queue, id and time.

import { Button, Code, Group, NativeSelect, Stack, Table, Text, TextInput, Title, VisuallyHidden } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { timeOf } from '../parts/act.tsx'
import { Failed } from '../parts/failed.tsx'
import { Time } from '../parts/values.tsx'
import { ask, type DeadJob, type List, type Queue } from './internal.ts'

interface Filter {
  queue: string
  job_id: string
  created_after: string
  created_before: string
}

const NONE: Filter = { queue: '', job_id: '', created_after: '', created_before: '' }

export function DeadJobs({ queues }: { queues: readonly Queue[] }) {
  const [filter, setFilter] = useState(NONE)
  const change = (part: Partial<Filter>) => setFilter((before) => ({ ...before, ...part }))
  const asked = {
    queue: filter.queue,
    job_id: filter.job_id.trim(),
    created_after: timeOf(filter.created_after) ?? '',
    created_before: timeOf(filter.created_before) ?? '',
  }
  const jobs = useInfiniteQuery({
    queryKey: ['dead jobs', asked],
    queryFn: ({ pageParam }) => ask<List<DeadJob>>('/dead', { ...asked, cursor: pageParam }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })
  const rows = jobs.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <section aria-labelledby="dead-jobs">
      <Title order={2} size="h4" id="dead-jobs" mb="xs">
        Dead jobs
      </Title>
      <Stack>
        <Group align="flex-end" gap="sm">
          <NativeSelect
            label="Queue"
            value={filter.queue}
            onChange={(event) => change({ queue: event.currentTarget.value })}
            data={[{ value: '', label: 'every queue' }, ...queues.map(({ queue }) => queue)]}
          />
          <TextInput
            label="Job"
            placeholder="its id"
            value={filter.job_id}
            onChange={(event) => change({ job_id: event.currentTarget.value })}
          />
          <TextInput
            label="Created from"
            type="datetime-local"
            value={filter.created_after}
            onChange={(event) => change({ created_after: event.currentTarget.value })}
          />
          <TextInput
            label="Created before"
            type="datetime-local"
            value={filter.created_before}
            onChange={(event) => change({ created_before: event.currentTarget.value })}
          />
          <Button variant="default" onClick={() => setFilter(NONE)}>
            Clear
          </Button>
        </Group>
        {jobs.isError && <Failed error={jobs.error} onRetry={() => void jobs.refetch()} />}
        {jobs.isSuccess && rows.length === 0 && <Text size="sm">No dead job matches.</Text>}
        {rows.length > 0 && <Jobs rows={rows} />}
        {jobs.hasNextPage && (
          <Group justify="flex-end">
            <Button
              variant="default"
              size="xs"
              loading={jobs.isFetchingNextPage}
              onClick={() => void jobs.fetchNextPage()}
            >
              Show more
            </Button>
          </Group>
        )}
      </Stack>
    </section>
  )
}

function Jobs({ rows }: { rows: readonly DeadJob[] }) {
  return (
    <Table.ScrollContainer minWidth={860} type="native">
      <Table verticalSpacing={6} aria-labelledby="dead-jobs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Job</Table.Th>
            <Table.Th>Queue</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th ta="right">Attempts</Table.Th>
            <Table.Th>Last error</Table.Th>
            <Table.Th>Account</Table.Th>
            <Table.Th pos="relative">
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((job) => (
            <Table.Tr key={job.job_id}>
              <Table.Td>
                <Code>{job.job_id}</Code>
                <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {JSON.stringify(job.payload)}
                </Text>
              </Table.Td>
              <Table.Td>{job.queue}</Table.Td>
              <Table.Td>
                <Time at={job.created_at} />
              </Table.Td>
              <Table.Td ta="right">{job.attempts}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{job.last_error}</Table.Td>
              <Table.Td>
                {job.account_id} {job.environment}
              </Table.Td>
              <Table.Td ta="right">
                <Redrive job={job} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Redrive({ job }: { job: DeadJob }) {
  const cache = useQueryClient()
  const redrive = useMutation({
    mutationFn: () => ask(`/dead/${job.job_id}/redrive`, {}, 'POST'),
    onSuccess: async () => {
      notifications.show({ message: `The job ${job.job_id} was queued again.` })
      await cache.invalidateQueries()
    },
  })
  return (
    <>
      <Button size="compact-xs" variant="default" loading={redrive.isPending} onClick={() => redrive.mutate()}>
        Run again
      </Button>
      {redrive.isError && (
        <Text size="xs" c="red" role="alert">
          {redrive.error.message}
        </Text>
      )}
    </>
  )
}
