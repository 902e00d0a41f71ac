import type { DueScheduleCycle } from '@countersign/client'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<DueScheduleCycle> = {
  title: 'Cycles of all schedules',
  name: 'schedule-cycles',
  permission: 'schedules.read',
  about: 'Cycles that begin in the period, in their order. Without a period: a week back and a week ahead.',
  list: (client, query) => client.schedules.cycles.list(query as object),
  idOf: ({ scheduleId, cycle }) => `${scheduleId} ${cycle}`,
  pathOf: ({ scheduleId }) => `schedules/${scheduleId}`,
  filters: [
    { kind: 'day', name: 'from', title: 'From' },
    { kind: 'day', name: 'to', title: 'Before' },
  ],
  columns: [
    { name: 'opens', title: 'Begins', show: ({ opensAt }) => <Time at={opensAt} /> },
    { name: 'closes', title: 'Ends', show: ({ closesAt }) => <Time at={closesAt} /> },
    { name: 'counterparty', title: 'Counterparty', show: (row) => <Counterparty row={row} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'cycle', title: 'Cycle', isNumber: true, show: ({ cycle }) => <Num value={cycle} /> },
    {
      name: 'amount',
      title: 'Paid',
      isNumber: true,
      show: ({ amount, currency }) => (amount === null ? <Nothing /> : `${amount} ${currency}`),
    },
    { name: 'executed', title: 'Paid at', show: ({ executedAt }) => <Time at={executedAt} /> },
    { name: 'token', title: 'Token', isHidden: true, show: ({ jti }) => <Id id={jti} /> },
  ],
  empty: { sentence: 'No cycle of a schedule begins in this period.' },
}

export const Page = () => <List page={page} />

function Counterparty({ row: { scheduleId, counterparty } }: { row: DueScheduleCycle }) {
  const { environment } = useSession()
  return (
    <Anchor component={Link} {...addressOf(environment, `schedules/${scheduleId}`)} size="sm" lineClamp={2} maw={260}>
      {counterparty}
    </Anchor>
  )
}
