// A detail page is declared: how its row is read, its state, its one primary act, its facts, and what belongs to it.

import { Anchor, Button, Card, Code, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isActive } from '../app/activity.ts'
import { clientOf } from '../app/client.ts'
import { sectionOf } from '../app/sections.ts'
import { useSession } from '../app/session.tsx'
import { Failed, Forbidden } from '../parts/failed.tsx'
import { Id, Status, Time } from '../parts/values.tsx'
import type { Client } from './list-page.tsx'

export interface DetailPage<Row> {
  /** What one row is called: `Claim`. */
  kind: string
  permission: string
  /** Its rows in the cache. */
  name: string
  /** Where the list is, below the environment. */
  listPath: string
  retrieve(client: Client, id: string, signal: AbortSignal): Promise<Row>
  titleOf?(row: Row): string | null
  statusOf?(row: Row): string | null | undefined
  facts(row: Row): readonly Fact[]
  /** Buttons, the primary one last. */
  actions?(row: Row): ReactNode
  /** What belongs to it, below the facts. */
  children?(row: Row): ReactNode
  /** Whether it changes by itself now: then it is read again every few seconds. */
  isMoving?(row: Row): boolean
  /** Events about it are listed. */
  hasEvents?: boolean
}

const MOVING_MS = 2_000

export type Fact = readonly [name: string, value: ReactNode]

export function Detail<Row>({ page }: { page: DetailPage<Row> }) {
  const { may } = useSession()
  return may(page.permission) ? <Shown page={page} /> : <Forbidden permission={page.permission} />
}

function Shown<Row>({ page }: { page: DetailPage<Row> }) {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const { environment, may } = useSession()
  const client = clientOf(environment)
  const [isRaw, raw] = useDisclosure()
  const query = useQuery({
    queryKey: ['detail', page.name, environment, id],
    queryFn: ({ signal }) => page.retrieve(client, id, signal),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && page.isMoving?.(data) === true && isActive() ? MOVING_MS : false,
  })
  if (query.isPending) {
    return (
      <Stack role="status" aria-label="Loading">
        <Skeleton height={34} maw={420} />
        <Skeleton height={220} />
        <Skeleton height={160} />
      </Stack>
    )
  }
  const back = (
    <Anchor component={Link} to={`/${environment}/${page.listPath}`} size="sm" className="no-print">
      {sectionOf(page.listPath)?.title}
    </Anchor>
  )
  if (query.isError) {
    return (
      <Stack>
        <div>
          {back}
          <Title order={1} size="h3">
            {page.kind}
          </Title>
          <Id id={id} isCurrent />
        </div>
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      </Stack>
    )
  }
  const row = query.data
  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <div>
          {back}
          <Group gap="sm">
            <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
              {page.titleOf?.(row) ?? page.kind}
            </Title>
            {page.statusOf !== undefined && <Status value={page.statusOf(row)} />}
          </Group>
          <Id id={id} isCurrent />
        </div>
        <Group gap="xs" className="no-print">
          {page.actions?.(row)}
        </Group>
      </Group>
      <Facts facts={page.facts(row)} />
      {page.children?.(row)}
      {page.hasEvents === true && may('events.read') && <Events id={id} />}
      <div className="no-print">
        <Button variant="subtle" size="xs" onClick={raw.toggle} aria-expanded={isRaw}>
          {isRaw ? 'Hide the JSON' : 'Show the JSON'}
        </Button>
        {isRaw && <Code block>{JSON.stringify(row, null, 2)}</Code>}
      </div>
    </Stack>
  )
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <Card withBorder padding="xs">
      <Table verticalSpacing={4} withRowBorders={false} layout="auto">
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={180} fw={500} style={{ verticalAlign: 'top' }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}

export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </section>
  )
}

function Events({ id }: { id: string }) {
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['events', environment, id],
    queryFn: () => clientOf(environment).events.list({ subjectId: id, limit: 20 }).page(),
  })
  return (
    <Part title="Events">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          No event is about it.
        </Text>
      )}
      <Stack gap={4}>
        {query.data?.data.map(({ eventId, type, createdAt }) => (
          <Group key={eventId} gap="sm">
            <Time at={createdAt} />
            <Code>{type}</Code>
            <Id id={eventId} />
          </Group>
        ))}
      </Stack>
    </Part>
  )
}
