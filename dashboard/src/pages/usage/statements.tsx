import type { Statement } from '@countersign/client'
import { Anchor } from '@mantine/core'
import { formatNumber } from '../../parts/measures.ts'
import { Nothing, Num, Status } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Statement> = {
  title: 'Statements',
  name: 'statements',
  permission: 'usage.read',
  about: 'What was used in each month. A statement no longer changes one hour after its month has ended.',
  list: (client, query) => client.account.invoices.list(query as object),
  idOf: ({ month }) => month,
  pathOf: ({ month }) => `usage?month=${month}`,
  columns: [
    { name: 'month', title: 'Month', show: ({ month }) => month },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'total', title: 'Operations', isNumber: true, show: ({ totalUnits }) => <Num value={totalUnits} /> },
    { name: 'operations', title: 'By operation', show: ({ operations }) => <Lines operations={operations} /> },
    { name: 'payment', title: 'Payment', show: (statement) => <Payment statement={statement} /> },
  ],
  empty: { sentence: 'The first statement is that of the month in which the account began.' },
}

export const Page = () => <List page={page} />

function Lines({ operations }: Pick<Statement, 'operations'>) {
  if (operations.length === 0) return <Nothing />
  return operations.map(({ operation, units }) => `${operation.replaceAll('_', ' ')} ${formatNumber(units)}`).join(', ')
}

function Payment({ statement: { payment, paymentProcessor } }: { statement: Statement }) {
  if (payment === null) return paymentProcessor === 'none' ? 'none is collected' : <Nothing />
  return (
    <>
      <Status value={payment.status} />{' '}
      {payment.url !== null && (
        <Anchor href={payment.url} target="_blank" rel="noreferrer" size="sm">
          Open
        </Anchor>
      )}
    </>
  )
}
