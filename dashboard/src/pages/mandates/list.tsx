import type { Mandate } from '@countersign/client'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Mandate> = {
  title: 'Mandates',
  name: 'mandates',
  permission: 'mandates.read',
  about: 'What agents may spend and do, for whom and until when. A mandate can be granted within another one.',
  list: (client, query) => client.mandates.list(query as object),
  idOf: ({ mandateId }) => mandateId,
  pathOf: ({ mandateId }) => `mandates/${mandateId}`,
  filters: [
    {
      kind: 'choices',
      name: 'status',
      title: 'State',
      values: ['active', 'suspended', 'lapsed', 'expired', 'revoked'],
    },
    { kind: 'text', name: 'agentId', title: 'Agent' },
    { kind: 'text', name: 'parentId', title: 'Within' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'description', title: 'Mandate', show: (row) => <Description row={row} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'principal', title: 'For', show: ({ principal }) => principal },
    { name: 'left', title: 'Left', isNumber: true, show: (row) => leftOf(row) ?? <Nothing /> },
    { name: 'period', title: 'Period', show: ({ budget }) => budget?.period ?? <Nothing /> },
    { name: 'agent', title: 'Agent', show: ({ agentId }) => <Id id={agentId} /> },
    { name: 'expires', title: 'Expires', show: ({ expiresAt }) => <Time at={expiresAt} /> },
    { name: 'within', title: 'Within', isHidden: true, show: ({ parentId }) => <Id id={parentId} /> },
    { name: 'created', title: 'Granted', isHidden: true, show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ mandateId }) => <Id id={mandateId} /> },
  ],
  empty: {
    sentence: 'A mandate is granted with a key that has the scope escalate.',
    curl: `curl {base_url}/v1/mandates -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"principal": "Example GmbH", "description": "Repairs of the fleet", "budget": {"limit": "500.00", "currency": "EUR", "period": "month"}, "expires_at": "2027-06-30T00:00:00Z"}'`,
  },
}

export const Page = () => <List page={page} />

function Description({ row: { mandateId, description } }: { row: Mandate }) {
  const { environment } = useSession()
  return (
    <Anchor component={Link} {...addressOf(environment, `mandates/${mandateId}`)} size="sm" lineClamp={2} maw={320}>
      {description}
    </Anchor>
  )
}

/** What is left of the budgets of a mandate and of those within which it is; null without a budget. */
export function leftOf({ remaining, budget, constraints }: Mandate): string | null {
  return remaining === null ? null : `${remaining} ${budget?.currency ?? constraints.currency ?? ''}`.trim()
}
