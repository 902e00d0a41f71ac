// The deliveries to an endpoint, newest first; each opens to its attempts.

import type { Delivery } from '@countersign/client'
import { Button, Code, Group, SegmentedControl, Skeleton, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { whileActive } from '../../app/activity.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { More } from '../../parts/more.tsx'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import { Id, Status, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { Attempts } from '../deliveries/attempt.tsx'
import { Duration, LastAnswer } from '../deliveries/list.tsx'
import { Redeliver } from '../deliveries/redeliver.tsx'
import { causeOf } from './health.tsx'

const STATES = ['all', 'failed', 'pending', 'delivered', 'cancelled'] as const
type State = (typeof STATES)[number]
const PAGE_SIZE = 20
const REFRESH_MS = 15_000

function useDeliveries(id: string, state: State) {
  const client = useClient()
  const { environment } = useSession()
  return useInfiniteQuery({
    queryKey: ['endpoint-deliveries', environment, id, state],
    queryFn: ({ pageParam: cursor }) =>
      client.webhooks.deliveries
        .listForEndpoint(id, { cursor, limit: PAGE_SIZE, status: state === 'all' ? undefined : state })
        .page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: whileActive(REFRESH_MS),
  })
}

/** The newest delivery whose last attempt was not accepted, among those that the log shows first. */
export function useLastFailure(id: string): Delivery | undefined {
  const { data } = useDeliveries(id, 'all')
  return data?.pages.flatMap((page) => page.data).find((delivery) => causeOf(delivery) !== undefined)
}

export function Log({ id }: { id: string }) {
  const [state, setState] = useState<State>('all')
  const query = useDeliveries(id, state)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Part title="Deliveries">
      <SegmentedControl
        size="xs"
        mb="xs"
        aria-label="State"
        value={state}
        data={[...STATES]}
        onChange={(value) => setState(value as State)}
      />
      {query.isPending && <Skeleton height={160} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && <Text size="sm">There is none. Send a ping to make the first.</Text>}
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={640} type="native" {...SCROLLABLE}>
          <Table verticalSpacing={4} aria-label="Deliveries">
            <Table.Thead>
              <Table.Tr>
                {['Created', 'Event', 'State', 'Last answer', 'Attempts', 'Took', 'Delivery'].map((title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ))}
                <Table.Th>
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((delivery) => (
                <Row key={delivery.deliveryId} delivery={delivery} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More query={query}>Earlier</More>
    </Part>
  )
}

function Row({ delivery }: { delivery: Delivery }) {
  const [isOpen, { toggle }] = useDisclosure()
  const { deliveryId, createdAt, eventType, status, attempts } = delivery
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <Time at={createdAt} />
        </Table.Td>
        <Table.Td>
          <Code>{eventType}</Code>
        </Table.Td>
        <Table.Td>
          <Status value={status} />
        </Table.Td>
        <Table.Td>
          <LastAnswer delivery={delivery} />
        </Table.Td>
        <Table.Td>{attempts.length}</Table.Td>
        <Table.Td>
          <Duration delivery={delivery} />
        </Table.Td>
        <Table.Td>
          <Id id={deliveryId} />
        </Table.Td>
        <Table.Td>
          <Group gap={4} wrap="nowrap" justify="flex-end">
            <Button size="compact-xs" variant="subtle" onClick={toggle} aria-expanded={isOpen}>
              {isOpen ? 'Hide' : 'Attempts'}
            </Button>
            {status !== 'pending' && <Redeliver delivery={delivery} isSmall />}
          </Group>
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={8}>
            <Opened id={deliveryId} count={attempts.length} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function Opened({ id, count }: { id: string; count: number }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    // Another attempt changes what is shown.
    queryKey: ['delivery-attempts', environment, id, count],
    queryFn: () => client.webhooks.deliveries.retrieve(id),
  })
  if (query.isPending) return <Skeleton height={120} />
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  return (
    <Stack>
      <Attempts delivery={query.data} />
    </Stack>
  )
}
