import type { Schedule } from '@countersign/client'
import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Schedule> = {
  title: 'Schedules',
  name: 'schedules',
  permission: 'schedules.read',
  about: 'Standing schedules: one counterparty is paid once in each cycle, and never more often.',
  list: (client, query) => client.schedules.list(query as object),
  idOf: ({ scheduleId }) => scheduleId,
  pathOf: ({ scheduleId }) => `schedules/${scheduleId}`,
  actions: <Cycles />,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['active', 'paused', 'exhausted', 'cancelled'] },
    { kind: 'text', name: 'counterparty', title: 'Counterparty' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'counterparty', title: 'Counterparty', show: (row) => <Counterparty row={row} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'amount', title: 'Amount', isNumber: true, show: ({ amount }) => amountOf(amount) },
    { name: 'frequency', title: 'Frequency', show: ({ frequency }) => frequency },
    { name: 'next', title: 'Next cycle', show: ({ nextCycle }) => <Time at={nextCycle?.opensAt} /> },
    { name: 'last', title: 'Last paid', show: ({ lastExecution }) => <Time at={lastExecution?.executedAt} /> },
    { name: 'remaining', title: 'Cycles left', isNumber: true, show: ({ remaining }) => <Num value={remaining} /> },
    { name: 'zone', title: 'Time zone', isHidden: true, show: ({ timezone }) => timezone || <Nothing /> },
    { name: 'created', title: 'Set up', isHidden: true, show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ scheduleId }) => <Id id={scheduleId} /> },
  ],
  empty: {
    sentence: 'A schedule is set up with a key that has the scope escalate.',
    curl: `curl {base_url}/v1/schedules -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"counterparty": "Example Leasing", "amount": {"type": "fixed", "value": "310.00", "currency": "EUR"}, "frequency": "monthly", "anchor_at": "2027-01-01T08:00:00Z", "timezone": "Europe/Berlin", "occurrences": 12}'`,
  },
}

export const Page = () => <List page={page} />

/** `max`: at most this amount. */
export function amountOf({ type, value, currency }: Schedule['amount']): string {
  return `${type === 'max' ? 'up to ' : ''}${value} ${currency}`
}

function Counterparty({ row: { scheduleId, counterparty } }: { row: Schedule }) {
  const { environment } = useSession()
  return (
    <Anchor component={Link} {...addressOf(environment, `schedules/${scheduleId}`)} size="sm" lineClamp={2} maw={260}>
      {counterparty}
    </Anchor>
  )
}

const AHEAD_MS = 28 * 86_400_000

/** The next cycles of all schedules. */
function Cycles() {
  const { environment } = useSession()
  const from = new Date()
  from.setHours(0, 0, 0, 0)
  const to = new Date(from.getTime() + AHEAD_MS)
  const path = `schedules/cycles?from=${from.toISOString()}&to=${to.toISOString()}`
  return (
    <Button component={Link} {...addressOf(environment, path)} variant="default" size="xs">
      Next cycles
    </Button>
  )
}
