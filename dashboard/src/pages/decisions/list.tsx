import type { Decision } from '@countersign/client'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { answerOf, KINDS } from './kinds.ts'

const page: ListPage<Decision> = {
  title: 'Decisions',
  name: 'decisions',
  permission: 'decisions.read',
  about: 'The ledger: each decision is an entry of a log that nobody can change later without being noticed.',
  list: (client, query) => client.decisions.list(query as object),
  idOf: ({ decisionId }) => decisionId,
  pathOf: ({ decisionId }) => `decisions/${decisionId}`,
  filters: [
    { kind: 'choices', name: 'kind', title: 'Kind', values: KINDS },
    { kind: 'text', name: 'reason', title: 'Reason' },
    { kind: 'text', name: 'jti', title: 'Token' },
    { kind: 'text', name: 'subjectId', title: 'About' },
    { kind: 'text', name: 'agentId', title: 'Agent' },
    { kind: 'text', name: 'mandateId', title: 'Mandate' },
    { kind: 'text', name: 'matchedRuleId', title: 'Rule' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'kind', title: 'Kind', show: (row) => <Kind row={row} /> },
    { name: 'answer', title: 'Answer', show: ({ valid }) => <Status value={answerOf(valid)} /> },
    { name: 'reason', title: 'Reason', show: ({ reason }) => <ReasonTags codes={reason === null ? [] : [reason]} /> },
    { name: 'rule', title: 'Rule', show: ({ matchedRuleId }) => matchedRuleId ?? <Nothing /> },
    { name: 'subject', title: 'About', show: ({ subjectId }) => <Id id={subjectId} /> },
    { name: 'agent', title: 'Agent', show: ({ agentId }) => <Id id={agentId} /> },
    { name: 'mandate', title: 'Mandate', isHidden: true, show: ({ mandateId }) => <Id id={mandateId} /> },
    { name: 'token', title: 'Token', isHidden: true, show: ({ jti }) => <Id id={jti} /> },
    { name: 'by', title: 'By', isHidden: true, show: ({ actor }) => actor.label ?? actor.type },
    { name: 'at', title: 'At', show: ({ at }) => <Time at={at} /> },
  ],
  empty: {
    sentence: 'A decision is recorded with each authorization and each verification.',
    curl: `curl {base_url}/v1/intent/authorize -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"action_description": "Pay 18.00 EUR", "action_payload": {"amount": "18.00", "currency": "EUR"}, "agent_session_id": "checkout-1", "device_id": "laptop-1"}'`,
  },
}

export const Page = () => <List page={page} />

function Kind({ row: { decisionId, kind } }: { row: Decision }) {
  const { environment } = useSession()
  return (
    <Anchor component={Link} {...addressOf(environment, `decisions/${decisionId}`)} size="sm">
      {kind.replaceAll('_', ' ')}
    </Anchor>
  )
}
