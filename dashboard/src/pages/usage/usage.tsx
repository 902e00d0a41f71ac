// The plan, and what was used of it in a month: by day against the cap, as a chart and as a table.

import type { AccountPlan, PlanLimits } from '@countersign/client'
import { Badge, Group, Progress, Select, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { formatNumber, formatTime } from '../../parts/measures.ts'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import { Facts, Part } from '../../recipe/detail-page.tsx'
import { ChangePlan } from './change-plan.tsx'
import { UsageChart } from './chart.tsx'
import { daysOf } from './days.ts'
import { DayTable } from './table.tsx'

export function Page() {
  const { may } = useSession()
  return may('usage.read') ? <Shown /> : <Forbidden permission="usage.read" />
}

function Shown() {
  return (
    <Stack>
      <div>
        <Title order={1} size="h3">
          Plan and usage
        </Title>
        <Text size="sm" c="dimmed">
          Operations of the live environment count; the sandbox is free. Days are those of UTC.
        </Text>
      </div>
      <Month />
      <Plan />
    </Stack>
  )
}

const MONTHS_BACK = 12

/** The months before this one, newest first, such as `2026-11`. */
function monthsBefore(now: Date): string[] {
  return Array.from({ length: MONTHS_BACK }, (_, index) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - index))
    return month.toISOString().slice(0, 7)
  })
}

function Month() {
  const client = useClient()
  const navigate = useNavigate()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const asked = useLocation({ select: ({ search }) => (search as { month?: string }).month })
  const months = monthsBefore(new Date())
  const month = months.find((name) => name === asked) ?? months[0]
  const query = useQuery({
    queryKey: ['usage', month],
    queryFn: () => client.account.usage.retrieve({ month }),
    placeholderData: keepPreviousData,
  })
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) {
    return (
      <Stack role="status" aria-label="Loading">
        <Skeleton height={320} />
        <Skeleton height={160} />
      </Stack>
    )
  }
  const { used, cap, isHardCap, percent, resetsAt, operations } = query.data
  const days = daysOf(query.data)
  const counted = operations.filter(({ days: own }) => own.length > 0).map(({ operation }) => operation)
  return (
    <Part title="Usage">
      <Stack gap="sm">
        <Select
          size="xs"
          w={130}
          label="Month"
          data={months}
          value={month ?? null}
          allowDeselect={false}
          onChange={(chosen) => void navigate({ to: path, search: { month: chosen } as never, replace: true })}
        />
        <Text size="sm">
          {formatNumber(used)} operations
          {cap !== null && ` of ${formatNumber(cap)} (${formatNumber(percent ?? 0)} %)`}.{' '}
          {cap !== null &&
            `${isHardCap === true ? 'More are refused' : 'More are not refused'}; the count begins again ${formatTime(resetsAt)}.`}
        </Text>
        {percent !== null && (
          <Progress
            value={Math.min(100, percent)}
            color={percent >= 100 ? 'red' : percent >= 80 ? 'yellow' : undefined}
            aria-label="Used of the cap"
          />
        )}
        {days.length === 0 ? (
          <Text size="sm">Nothing was counted in this month.</Text>
        ) : (
          <>
            <UsageChart days={days} operations={counted} cap={cap} />
            <DayTable days={days} operations={counted} cap={cap} />
          </>
        )}
      </Stack>
    </Part>
  )
}

function Plan() {
  const client = useClient()
  const { may } = useSession()
  const query = useQuery({
    queryKey: ['plan'],
    queryFn: () => client.account.plan.retrieve(),
    enabled: may('account.read'),
  })
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (query.data === undefined) return <Skeleton height={200} />
  return (
    <Part title={`The plan ${query.data.plan}`}>
      <Facts facts={factsOf(query.data.limits)} />
      <Plans plan={query.data} />
    </Part>
  )
}

const factsOf = (limits: PlanLimits) =>
  [
    ['Requests per second', `${formatNumber(limits.ratePerSecond)}, and ${formatNumber(limits.burst)} at once`],
    ['Operations a month', formatNumber(limits.monthlyOperations)],
    ['Beyond them', limits.isHardCap ? 'requests are refused' : 'there are notices only'],
    ['Data are kept for', `${formatNumber(limits.retentionDays)} days`],
  ] as const

const CHANGES: Record<string, string> = {
  current: 'this one',
  owner: 'an owner changes to it',
  operator: 'the operator of the service changes to it',
}

function Plans({ plan: { plans } }: { plan: AccountPlan }) {
  return (
    <Table.ScrollContainer minWidth={520} type="native" {...SCROLLABLE}>
      <Table fz="sm" verticalSpacing={4} aria-label="All plans">
        <Table.Thead>
          <Table.Tr>
            {['Plan', 'Operations a month', 'Requests per second', 'Kept for', 'Change'].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {plans.map((offer) => {
            const { plan, limits, change } = offer
            return (
              <Table.Tr key={plan}>
                <Table.Th scope="row">
                  <Group gap="xs">
                    {plan} {change === 'current' && <Badge size="sm">current</Badge>}
                  </Group>
                </Table.Th>
                <Table.Td>{formatNumber(limits.monthlyOperations)}</Table.Td>
                <Table.Td>{formatNumber(limits.ratePerSecond)}</Table.Td>
                <Table.Td>{formatNumber(limits.retentionDays)} days</Table.Td>
                <Table.Td>
                  {CHANGES[change] ?? change} {change === 'owner' && <ChangePlan offer={offer} />}
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
