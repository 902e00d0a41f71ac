// The queues of cases, by due date.

import type { Case } from '@countersign/client'
import { Anchor, Group, SegmentedControl, Text } from '@mantine/core'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { addressOf, withQuery } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Reason } from '../../parts/reason.tsx'
import { Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage, type Query } from '../../recipe/list-page.tsx'
import { argumentsOf, DEFAULT_QUEUE, QUEUES } from './queues.ts'
import { TakeNext } from './take-next.tsx'

export function Page() {
  const search = useLocation({ select: ({ search: found }) => found as Query })
  const { environment } = useSession()
  return <List key={search.queue ?? DEFAULT_QUEUE} page={pageOf(search, environment)} />
}

function pageOf(search: Query, environment: string): ListPage<Case> {
  const { queue = DEFAULT_QUEUE } = search
  // The case needs the queue, to find the one after it.
  const pathOf = ({ caseId }: Case) => withQuery(`cases/${caseId}`, { ...search, queue, cursor: undefined })
  return {
    title: 'Cases',
    name: 'cases',
    permission: 'cases.read',
    list: (client, query) => client.cases.list(argumentsOf(query)),
    idOf: ({ caseId }) => caseId,
    pathOf,
    actions: (
      <Group gap="xs">
        <Queues queue={queue} />
        <TakeNext filters={search} />
      </Group>
    ),
    filters: [
      { kind: 'choices', name: 'priority', title: 'Priority', values: ['urgent', 'high', 'normal', 'low'] },
      ...(queue === 'closed'
        ? [{ kind: 'flag' as const, name: 'claimChanged', title: 'Claim changed since' }]
        : [
            {
              kind: 'choices' as const,
              name: 'status',
              title: 'State',
              values: ['open', 'in_review', 'info_requested', 'escalated'],
            },
          ]),
      { kind: 'day', name: 'createdGte', title: 'From' },
    ],
    columns: [
      {
        name: 'claim',
        title: 'Claim',
        show: (row) => (
          <Anchor
            component={Link}
            {...addressOf(environment, pathOf(row))}
            size="sm"
            lineClamp={2}
            maw={260}
            title={row.claimReference ?? row.claimId}
          >
            {row.claimReference ?? row.claimId}
          </Anchor>
        ),
      },
      { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
      { name: 'due', title: 'Due', show: (row) => <Due row={row} /> },
      { name: 'score', title: 'Score', isNumber: true, show: ({ riskScore }) => <Num value={riskScore} /> },
      { name: 'risk', title: 'Risk', show: ({ riskStatus }) => <Status value={riskStatus} /> },
      { name: 'priority', title: 'Priority', show: ({ priority }) => priority },
      { name: 'assignee', title: 'Assignee', show: ({ assigneeLabel }) => assigneeLabel ?? <Nothing /> },
      {
        name: 'reason',
        title: 'Reason',
        isHidden: queue !== 'closed',
        show: ({ reasonCode }) => <Reason code={reasonCode} />,
      },
      { name: 'created', title: 'Opened', isHidden: true, show: ({ createdAt }) => <Time at={createdAt} /> },
      { name: 'id', title: 'Id', isHidden: true, show: ({ caseId }) => <Id id={caseId} /> },
    ],
    empty: {
      sentence:
        'A claim that becomes failed gets a case by itself. A case for another claim is opened on the page of the claim.',
    },
  }
}

/** When it is due. Overdue is said by a word, not by the colour alone. */
export function Due({ row }: { row: Pick<Case, 'dueAt' | 'overdue' | 'sla'> }) {
  const { dueAt, overdue, sla } = row
  return (
    <Text span size="sm" c={overdue ? 'red' : undefined} fw={overdue ? 600 : undefined}>
      <Time at={dueAt} />
      {overdue ? ', overdue' : ''}
      {sla.pausedAt === null ? '' : ', paused'}
    </Text>
  )
}

function Queues({ queue }: { queue: string }) {
  const navigate = useNavigate()
  const path = useLocation({ select: ({ pathname }) => pathname })
  return (
    <SegmentedControl
      size="xs"
      aria-label="Queue"
      value={queue}
      data={[...QUEUES]}
      onChange={(value) => void navigate({ to: path, search: { queue: value } as never })}
    />
  )
}
