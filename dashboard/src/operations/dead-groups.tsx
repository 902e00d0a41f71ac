// Dead jobs by queue and cause. A group is run again as a whole, after a question that says how many jobs it has.

import { Button, Group, Modal, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Failed } from '../parts/failed.tsx'
import { formatNumber } from '../parts/measures.ts'
import { Time } from '../parts/values.tsx'
import { ask, type DeadGroup, type List, type Redriven } from './internal.ts'

const REFRESH_MS = 10_000

export function DeadGroups() {
  const groups = useQuery({
    queryKey: ['dead groups'],
    queryFn: () => ask<List<DeadGroup>>('/dead/groups'),
    refetchInterval: REFRESH_MS,
  })
  const rows = groups.data?.data ?? []
  return (
    <section aria-labelledby="dead-groups">
      <Title order={2} size="h4" id="dead-groups" mb="xs">
        Dead jobs by cause
      </Title>
      {groups.isError && <Failed error={groups.error} onRetry={() => void groups.refetch()} />}
      {groups.isSuccess && rows.length === 0 && <Text size="sm">No job is dead.</Text>}
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={720} type="native">
          <Table verticalSpacing={6} aria-labelledby="dead-groups">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Queue</Table.Th>
                <Table.Th>Cause</Table.Th>
                <Table.Th ta="right">Jobs</Table.Th>
                <Table.Th>Oldest</Table.Th>
                <Table.Th>Newest</Table.Th>
                <Table.Th pos="relative">
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((group) => (
                <Table.Tr key={`${group.queue} ${group.cause}`}>
                  <Table.Td>{group.queue}</Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{group.last_error ?? 'no error was kept'}</Table.Td>
                  <Table.Td ta="right">{formatNumber(group.jobs)}</Table.Td>
                  <Table.Td>
                    <Time at={group.oldest_at} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={group.newest_at} />
                  </Table.Td>
                  <Table.Td ta="right">
                    <RedriveGroup group={group} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  )
}

function RedriveGroup({ group }: { group: DeadGroup }) {
  const { queue, cause, jobs } = group
  const [isOpen, form] = useDisclosure()
  const cache = useQueryClient()
  const redrive = useMutation({
    mutationFn: () => ask<Redriven>('/dead/redrive', { queue, cause }, 'POST'),
    onSuccess: async (answer) => {
      form.close()
      notifications.show({ message: sentenceOf(answer), autoClose: 10_000 })
      await cache.invalidateQueries()
    },
  })
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={form.open}>
        Run again
      </Button>
      <Modal opened={isOpen} onClose={form.close} title="Run a group of dead jobs again">
        <Stack>
          <Text size="sm">
            {jobs === 1 ? '1 job' : `${formatNumber(jobs)} jobs`} of the queue {queue} will be queued again, each once.
            What made them fail should be repaired before.
          </Text>
          {redrive.isError && <Failed error={redrive.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={form.close}>
              Cancel
            </Button>
            <Button loading={redrive.isPending} onClick={() => redrive.mutate()}>
              {jobs === 1 ? 'Run 1 job again' : `Run ${formatNumber(jobs)} jobs again`}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

function sentenceOf({ redriven, refused, left }: Redriven): string {
  const again = redriven === 1 ? '1 job was queued again.' : `${formatNumber(redriven)} jobs were queued again.`
  const others = refused === 0 ? '' : ` ${formatNumber(refused)} can't run again: their subject is gone.`
  return `${again}${others}${left === 0 ? '' : ` ${formatNumber(left)} of this cause are left.`}`
}
