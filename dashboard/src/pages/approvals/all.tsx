import type { ApprovalSummary } from '@countersign/client'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Codes, Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { Verbatim } from '../../parts/verbatim.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<ApprovalSummary> = {
  title: 'All approvals',
  name: 'approvals',
  permission: 'approvals.read',
  about: 'Actions of agents that people were asked to approve, also those that others decide.',
  list: (client, query) => client.approvals.list(query as object),
  idOf: ({ approvalId }) => approvalId,
  pathOf: ({ approvalId }) => `approvals/${approvalId}`,
  filters: [
    {
      kind: 'choices',
      name: 'status',
      title: 'State',
      values: ['pending', 'approved', 'denied', 'expired', 'cancelled'],
    },
    { kind: 'text', name: 'agentSessionId', title: 'Agent session' },
    { kind: 'text', name: 'jti', title: 'Token' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'action', title: 'Action', show: (row) => <Action row={row} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    {
      name: 'by',
      title: 'Asked for by',
      show: ({ requestedBy, authorizedBy }) => (requestedBy ?? authorizedBy).label ?? <Nothing />,
    },
    { name: 'rules', title: 'Rules', show: ({ rules }) => <Codes values={rules.map(({ ruleId }) => ruleId)} /> },
    { name: 'agent', title: 'Agent', show: ({ agentId }) => <Id id={agentId} /> },
    { name: 'session', title: 'Agent session', isHidden: true, show: ({ agentSessionId }) => agentSessionId },
    { name: 'created', title: 'Asked', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'decided', title: 'Ended', show: ({ decidedAt }) => <Time at={decidedAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ approvalId }) => <Id id={approvalId} /> },
  ],
  empty: {
    sentence: 'A rule of the policy with require.approval asks people before an action runs.',
    curl: `curl {base_url}/v1/policy -X PUT -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -H 'If-Match: *' -d '{"document": {"rules": [{"id": "ask-a-person", "when": {"field": "context.transaction_amount", "op": "gt", "value": 150}, "require": {"approval": {"min_approvals": 1}}}]}}'`,
  },
}

export const Page = () => <List page={page} />

function Action({ row: { approvalId, actionDescription } }: { row: ApprovalSummary }) {
  const { environment } = useSession()
  return (
    <Anchor component={Link} {...addressOf(environment, `approvals/${approvalId}`)} size="sm" lineClamp={2} maw={320}>
      <Verbatim text={actionDescription} />
    </Anchor>
  )
}
