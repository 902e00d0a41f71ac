// Claims by risk and day, and factors by the outcome of cases. Each chart has its table, which says the same in words. The
// library of charts is loaded by this page alone.

import type { CaseOutcomeCounts, ClaimDay, FactorOutcomes } from '@countersign/client'
import { Group, SegmentedControl, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { formatNumber, formatPercent } from '../../parts/measures.ts'
import { Reason } from '../../parts/reason.tsx'
import { Nothing, Num } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

const PERIODS = ['7', '30', '92'] as const
const DEFAULT_PERIOD = '30'
const DAY_MS = 86_400_000

interface Series {
  name: string
  title: string
  color: string
}

// Colours that are told apart by those who see no red or green, too.
const RISKS: readonly Series[] = [
  { name: 'passed', title: 'Passed', color: '#4f8fba' },
  { name: 'review', title: 'Review', color: '#d9a514' },
  { name: 'failed', title: 'Failed', color: '#b3261e' },
  { name: 'pending', title: 'Pending', color: '#8b939c' },
]
const OUTCOMES: readonly Series[] = [
  { name: 'fraud', title: 'Fraud', color: '#b3261e' },
  { name: 'legitimate', title: 'Legitimate', color: '#4f8fba' },
  { name: 'other', title: 'Other', color: '#8b939c' },
]

export function Page() {
  const { may } = useSession()
  return may('claims.read') ? <Analytics /> : <Forbidden permission="claims.read" />
}

function Analytics() {
  const { may } = useSession()
  const navigate = useNavigate()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const asked = useLocation({ select: ({ search }) => (search as { days?: string }).days })
  const days = PERIODS.find((period) => period === asked) ?? DEFAULT_PERIOD
  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} size="h3">
            Analytics of claims
          </Title>
          <Text size="sm" c="dimmed">
            Days are those of UTC.
          </Text>
        </div>
        <SegmentedControl
          size="xs"
          aria-label="Period"
          value={days}
          data={PERIODS.map((value) => ({ value, label: `${value} days` }))}
          onChange={(value) => void navigate({ to: path, search: { days: value } as never, replace: true })}
        />
      </Group>
      <ByDay days={days} />
      {may('cases.read') && <ByOutcome days={days} />}
    </Stack>
  )
}

// The beginning of a day: the same period is not asked for twice.
const since = (days: string) =>
  new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - (Number(days) - 1) * DAY_MS).toISOString()

function ByDay({ days }: { days: string }) {
  const client = useClient()
  const { environment } = useSession()
  const from = since(days)
  const query = useQuery({
    queryKey: ['analytics-claims', environment, from],
    queryFn: () => client.analytics.claims.retrieve({ from }),
    placeholderData: keepPreviousData,
  })
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) return <Waiting />
  const rows = query.data.days
  const count = rows.reduce((sum, { total }) => sum + total, 0)
  if (count === 0) return <Text size="sm">No claim began in this period.</Text>
  return (
    <Part title="New claims by risk and day">
      <Chart label={`${formatNumber(count)} claims, by risk and day`} rows={rows} by="day" series={RISKS} />
      <DayTable rows={rows} />
    </Part>
  )
}

function DayTable({ rows }: { rows: readonly ClaimDay[] }) {
  const { environment } = useSession()
  return (
    <Facts
      label="New claims by risk and day"
      head={['Day', 'All', ...RISKS.map(({ title }) => title), 'Failed of all']}
    >
      {rows
        .filter(({ total }) => total > 0)
        .toReversed()
        .map(({ day, total, passed, review, failed, pending }) => (
          <Table.Tr key={day}>
            <Table.Th scope="row" fw={500}>
              <Link {...addressOf(environment, `claims?createdGte=${dayAt(day, 0)}&createdLt=${dayAt(day, 1)}`)}>
                {new Date(`${day}T00:00Z`).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })}
              </Link>
            </Table.Th>
            <Counts values={[total, passed, review, failed, pending]} />
            <Table.Td ta="right">{formatPercent(failed / total)}</Table.Td>
          </Table.Tr>
        ))}
    </Facts>
  )
}

const dayAt = (day: string, more: number) => new Date(Date.parse(`${day}T00:00Z`) + more * DAY_MS).toISOString()

function ByOutcome({ days }: { days: string }) {
  const client = useClient()
  const { environment } = useSession()
  const from = since(days)
  const query = useQuery({
    queryKey: ['analytics-factors', environment, from],
    queryFn: () => client.analytics.factors.retrieve({ from }),
    placeholderData: keepPreviousData,
  })
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) return <Waiting />
  const { cases } = query.data
  const rows = query.data.factors.filter((factor) => sumOf(factor.cases) > 0)
  if (sumOf(cases) === 0) return <Text size="sm">No case ended in this period.</Text>
  return (
    <Part title="Factors by the outcome of cases">
      <Text size="sm" mb="xs">
        {formatNumber(sumOf(cases))} cases ended: {formatNumber(cases.fraud)} as fraud, {formatNumber(cases.legitimate)}{' '}
        as legitimate, {formatNumber(cases.other)} otherwise. A factor of as many legitimate as fraudulent claims says
        nothing.
      </Text>
      {rows.length === 0 ? (
        <Text size="sm">None of their claims has a factor.</Text>
      ) : (
        <>
          <Chart
            label="Ended cases whose claim has the factor, by outcome"
            rows={rows.map(({ code, cases: counts }) => ({ code, ...counts }))}
            by="code"
            series={OUTCOMES}
          />
          <FactorTable rows={rows} />
        </>
      )}
    </Part>
  )
}

function FactorTable({ rows }: { rows: readonly FactorOutcomes[] }) {
  return (
    <Facts
      label="Factors by the outcome of cases"
      head={['Factor', 'Points', ...OUTCOMES.map(({ title }) => title), 'Fraud of all']}
    >
      {rows.map(({ code, points, cases }) => (
        <Table.Tr key={code}>
          <Table.Th scope="row" fw={400}>
            <Reason code={code} />
          </Table.Th>
          <Table.Td ta="right">{points === null ? <Nothing /> : formatNumber(points)}</Table.Td>
          <Counts values={[cases.fraud, cases.legitimate, cases.other]} />
          <Table.Td ta="right">{formatPercent(cases.fraud / sumOf(cases))}</Table.Td>
        </Table.Tr>
      ))}
    </Facts>
  )
}

const sumOf = ({ fraud, legitimate, other }: CaseOutcomeCounts) => fraud + legitimate + other

interface ChartProps {
  label: string
  rows: readonly object[]
  /** The member that is below each bar. */
  by: string
  series: readonly Series[]
}

/** An image for those who see it: the table below has every number of it. */
function Chart({ label, rows, by, series }: ChartProps) {
  const text = { fontSize: 12, fill: 'var(--mantine-color-text)' }
  return (
    <div role="img" aria-label={label} style={{ height: 280 }}>
      <ResponsiveContainer width="100%" height="100%">
        <BarChart data={[...rows]} accessibilityLayer={false} margin={{ left: 0, right: 8 }}>
          <CartesianGrid vertical={false} stroke="var(--mantine-color-default-border)" />
          <XAxis dataKey={by} tick={text} minTickGap={16} />
          <YAxis allowDecimals={false} width={44} tick={text} tickFormatter={formatNumber} />
          <Tooltip
            contentStyle={{ background: 'var(--mantine-color-body)' }}
            itemStyle={{ color: 'var(--mantine-color-text)' }}
            cursor={{ fillOpacity: 0.2 }}
          />
          <Legend
            wrapperStyle={{ fontSize: 12 }}
            formatter={(value) => (
              <Text span size="xs">
                {value}
              </Text>
            )}
          />
          {series.map(({ name, title, color }) => (
            <Bar key={name} dataKey={name} name={title} fill={color} stackId="all" isAnimationActive={false} />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  )
}

function Facts({ label, head, children }: { label: string; head: readonly string[]; children: ReactNode }) {
  return (
    <Table.ScrollContainer minWidth={560} mah={420} type="native">
      <Table fz="sm" verticalSpacing={4} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {head.map((title, index) => (
              <Table.Th key={title} ta={index === 0 ? undefined : 'right'}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Counts({ values }: { values: readonly number[] }) {
  return values.map((value, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the columns are always the same
    <Table.Td key={index} ta="right">
      <Num value={value} />
    </Table.Td>
  ))
}

function Waiting() {
  return (
    <Stack gap="xs" role="status" aria-label="Loading">
      <Skeleton height={280} />
      <Skeleton height={160} />
    </Stack>
  )
}
