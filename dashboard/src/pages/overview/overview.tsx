// What waits for the person who is signed in, each with a link to it. A part that the user may not read is not here.

import type { CappedCount, Overview } from '@countersign/client'
import { Alert, Anchor, Card, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { sectionOf } from '../../app/sections.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber, formatTime } from '../../parts/measures.ts'

interface Waiting {
  title: string
  count: CappedCount | null | undefined
  /** Below the environment. */
  path: string
  /** The guide that is linked where the dashboard has no such page. */
  guide: string
}

export function Page() {
  const { environment } = useSession()
  const client = useClient()
  const query = useQuery({ queryKey: ['overview', environment], queryFn: () => client.overview.retrieve() })
  const { data } = query
  const groups = data === undefined ? [] : groupsOf(data)
  return (
    <Stack>
      <Title order={1} size="h3">
        What waits
      </Title>
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && (
        <Stack role="status" aria-label="Loading">
          <Skeleton height={86} />
          <Skeleton height={86} />
        </Stack>
      )}
      {data !== undefined && <Notices data={data} />}
      {groups.map(({ title, rows }) => (
        <section key={title}>
          <Title order={2} size="h6" mb={6}>
            {title}
          </Title>
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
            {rows.map((row) => (
              <Count key={row.title} row={row} />
            ))}
          </SimpleGrid>
        </section>
      ))}
    </Stack>
  )
}

function Notices({ data }: { data: Overview }) {
  const { stop, usage } = data
  return (
    <>
      {stop?.stoppedAt != null && (
        <Alert color="red" title="The emergency stop holds">
          Every action of an agent is refused since {formatTime(stop.stoppedAt)}. The button above ends it.
        </Alert>
      )}
      {usage?.notice != null && (
        <Alert color={usage.notice === 'usage_100' ? 'red' : 'yellow'} title="The plan of this month">
          {usage.notice === 'usage_100' ? 'All operations of the plan are used.' : 'Four fifths of the plan are used.'}{' '}
          <a href="/docs/account/plans">What counts</a>
        </Alert>
      )}
    </>
  )
}

function groupsOf(data: Overview): { title: string; rows: Waiting[] }[] {
  const { cases, approvals, captures, screenings, traces, webhooks, devices, agents, locks, keys } = data
  const groups: { title: string; rows: Waiting[] }[] = [
    {
      title: 'For you',
      rows: [
        { title: 'Your cases', count: cases?.mine, path: 'cases?queue=mine', guide: 'attest/cases' },
        { title: 'Unassigned cases', count: cases?.unassigned, path: 'cases?queue=unassigned', guide: 'attest/cases' },
        { title: 'Overdue cases', count: cases?.overdue, path: 'cases?queue=overdue', guide: 'attest/cases' },
        { title: 'Approvals', count: approvals?.awaiting, path: 'approvals', guide: 'authorize/approvals' },
      ],
    },
    {
      title: 'Captures',
      rows: [
        { title: 'Batches in work', count: captures?.runningBatches, path: 'batches', guide: 'attest/submit' },
        {
          title: 'Evaluations that failed',
          count: captures?.failedJobs,
          path: 'batches',
          guide: 'attest/events-and-batches',
        },
        {
          title: 'Batches of screenings in work',
          count: screenings?.runningBatches,
          path: 'screenings',
          guide: 'attest/screening',
        },
        {
          title: 'Screenings that failed',
          count: screenings?.failedJobs,
          path: 'screenings?status=failed',
          guide: 'attest/screening',
        },
        { title: 'Devices that expire', count: devices?.expiringDevices, path: 'devices', guide: 'attest/hardware' },
        { title: 'Root CAs that expire', count: devices?.expiringRootCas, path: 'roots', guide: 'attest/hardware' },
        { title: 'C2PA anchors that expire', count: devices?.expiringAnchors, path: 'anchors', guide: 'attest/c2pa' },
      ],
    },
    {
      title: 'Agents and traces',
      rows: [
        {
          title: 'Suspended agents',
          count: agents?.suspended,
          path: 'agents?status=suspended',
          guide: 'authorize/agents',
        },
        {
          title: 'Agents held by a lock',
          count: agents?.heldByLock,
          path: 'agents?status=suspended',
          guide: 'authorize/agents',
        },
        { title: 'Session locks', count: locks?.locked, path: 'locks?status=locked', guide: 'trace/killswitch' },
        { title: 'Traces that failed', count: traces?.failedJobs, path: 'traces', guide: 'trace/trace' },
      ],
    },
    {
      title: 'Integration',
      rows: [
        {
          title: 'Failing endpoints',
          count: webhooks?.failingEndpoints,
          path: 'endpoints',
          guide: 'webhooks/webhooks',
        },
        {
          title: 'Disabled endpoints',
          count: webhooks?.disabledEndpoints,
          path: 'endpoints?status=disabled',
          guide: 'webhooks/webhooks',
        },
        {
          title: 'Failed deliveries',
          count: webhooks?.failedDeliveries,
          path: 'deliveries?status=failed',
          guide: 'webhooks/webhook-delivery',
        },
        { title: 'Keys that expire', count: keys?.expiring, path: 'keys', guide: 'account/keys' },
      ],
    },
  ]
  return groups.flatMap(({ title, rows }) => {
    const readable = rows.filter(({ count }) => count !== null && count !== undefined)
    return readable.length === 0 ? [] : [{ title, rows: readable }]
  })
}

function Count({ row }: { row: Waiting }) {
  const { environment } = useSession()
  const { title, count, path, guide } = row
  const number = `${formatNumber(count?.count ?? 0)}${count?.capped === true ? '+' : ''}`
  const isWaiting = (count?.count ?? 0) > 0
  // A page that the dashboard does not have yet: the guide says how the API lists it.
  const hasPage = sectionOf(path.split('?', 1)[0] ?? '') !== undefined
  const look = { size: 'xl', fw: isWaiting ? 700 : 400, 'aria-label': `${number}: ${title}` } as const
  return (
    <Card withBorder padding="sm">
      <Text size="sm" c={isWaiting ? undefined : 'dimmed'}>
        {title}
      </Text>
      {hasPage ? (
        <Anchor component={Link} {...addressOf(environment, path)} {...look}>
          {number}
        </Anchor>
      ) : (
        <Anchor href={`/docs/${guide}`} {...look}>
          {number}
        </Anchor>
      )}
    </Card>
  )
}
