// The approvals that wait for the person who is signed in, the shortest time first.

import type { ApprovalSummary } from '@countersign/client'
import { Alert, Anchor, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useNow, whileActive } from '../../app/activity.ts'
import { addressOf } from '../../app/address.ts'
import { clientOf, type EnvironmentName } from '../../app/client.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { Verbatim } from '../../parts/verbatim.tsx'
import type { Client } from '../../recipe/list-page.tsx'
import { useRowKeys } from '../../recipe/row-keys.ts'
import { TimeLeft } from './facts.tsx'

const PERMISSION = 'approvals.read'
const REFRESH_MS = 15_000
// The list comes by age and is shown by the time that is left, so that all of it must be there.
const MAX_READ = 500

export function Page() {
  const { may } = useSession()
  return may(PERMISSION) ? <Inbox /> : <Forbidden permission={PERMISSION} />
}

function Inbox() {
  const { environment } = useSession()
  const client = useClient()
  const navigate = useNavigate()
  // An interval that has stopped, as nobody used the page, is looked at again with each render.
  useNow()
  const query = useQuery({
    queryKey: ['inbox', environment],
    queryFn: () => readWaiting(client),
    refetchInterval: whileActive(REFRESH_MS),
  })
  // Rows that came later are announced, and not put under the finger of a person who chooses.
  const [known, setKnown] = useState<ReadonlySet<string>>()
  const all = query.data ?? []
  const rows = known === undefined ? all : all.filter(({ approvalId }) => known.has(approvalId))
  const news = all.length - rows.length
  const { current } = useRowKeys(rows.length, (index) => {
    const row = rows[index]
    if (row !== undefined) void navigate(addressOf(environment, `approvals/${row.approvalId}`))
  })
  if (known === undefined && query.data !== undefined) setKnown(idsOf(query.data))
  return (
    <Stack maw={640}>
      <Group justify="space-between">
        <Title order={1} size="h3">
          Approvals
        </Title>
        <Anchor component={Link} {...addressOf(environment, 'approvals/all')} size="sm">
          All approvals
        </Anchor>
      </Group>
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && (
        <Stack role="status" aria-label="Loading">
          <Skeleton height={96} />
          <Skeleton height={96} />
        </Stack>
      )}
      {news > 0 && (
        <Alert py={6} role="status">
          <Button size="compact-sm" variant="subtle" onClick={() => setKnown(idsOf(all))}>
            {news === 1 ? '1 more waits: show it' : `${formatNumber(news)} more wait: show them`}
          </Button>
        </Alert>
      )}
      {query.isSuccess && all.length === 0 && <Alert title="Nothing waits for your decision" />}
      {rows.map((row, index) => (
        <Row key={row.approvalId} row={row} isCurrent={index === current} />
      ))}
      <ElsewhereWaiting />
      {all.length >= MAX_READ && <Text size="sm">The newest {formatNumber(MAX_READ)} are shown.</Text>}
    </Stack>
  )
}

function Row({ row, isCurrent }: { row: ApprovalSummary; isCurrent: boolean }) {
  const { environment } = useSession()
  const { approvalId, actionDescription, requestedBy, authorizedBy, minApprovals, decisions, expiresAt } = row
  const asker = requestedBy ?? authorizedBy
  return (
    <Card withBorder padding="sm" data-current={isCurrent} className="inbox-row">
      <Anchor component={Link} {...addressOf(environment, `approvals/${approvalId}`)} fw={600} lineClamp={3}>
        <Verbatim text={actionDescription} />
      </Anchor>
      <Text size="sm">
        Asked for by <Verbatim text={asker.label ?? asker.id ?? asker.type} />
      </Text>
      <Text size="sm" c="dimmed">
        <TimeLeft at={expiresAt} />
        {minApprovals > 1 && `, ${decisions.length} of ${minApprovals} have approved`}
        {row.requirePasskey && ', with a passkey'}
      </Text>
    </Card>
  )
}

/** What waits in the other environment: a mail of one is easily looked for in the other. */
function ElsewhereWaiting() {
  const { session, environment } = useSession()
  const other: EnvironmentName = environment === 'live' ? 'sandbox' : 'live'
  const permissions: readonly string[] = session.permissions[other]
  const { data } = useQuery({
    queryKey: ['overview', other],
    queryFn: () => clientOf(other).overview.retrieve(),
    enabled: session.environments.includes(other) && permissions.includes(PERMISSION),
  })
  const count = data?.approvals?.awaiting?.count ?? 0
  if (count === 0) return null
  return (
    <Anchor component={Link} {...addressOf(other, 'approvals')} size="sm">
      {formatNumber(count)} more in {other}
    </Anchor>
  )
}

const idsOf = (rows: readonly ApprovalSummary[]) => new Set(rows.map(({ approvalId }) => approvalId))

async function readWaiting(client: Client): Promise<ApprovalSummary[]> {
  const rows: ApprovalSummary[] = []
  for await (const row of client.approvals.list({ awaiting: 'me', limit: 100 })) {
    rows.push(row)
    if (rows.length >= MAX_READ) break
  }
  return rows.toSorted((one, other) => Date.parse(one.expiresAt) - Date.parse(other.expiresAt))
}
