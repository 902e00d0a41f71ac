// The queues of cases: each is a set of filters of `GET /v1/cases`.

import type { Case, ListCasesQuery } from '@countersign/client'
import type { Client, Query } from '../../recipe/list-page.tsx'

export const QUEUES = [
  { value: 'mine', label: 'Mine' },
  { value: 'unassigned', label: 'Unassigned' },
  { value: 'overdue', label: 'Overdue' },
  { value: 'all', label: 'All open' },
  { value: 'closed', label: 'Closed' },
] as const
export const DEFAULT_QUEUE = 'mine'

const CLOSED = ['approved', 'denied', 'withdrawn', 'closed_undecided'] as const
// Due dates belong to open cases: the list by due date has no others.
const BY_DUE = { orderBy: 'due', order: 'asc' } as const

const OF_QUEUE: Record<string, ListCasesQuery> = {
  mine: { assignee: 'me', ...BY_DUE },
  unassigned: { assignee: 'none', ...BY_DUE },
  overdue: { overdue: 'true', ...BY_DUE },
  all: BY_DUE,
  closed: { status: CLOSED },
}

/** The arguments of the list for the filters of an address. */
export function argumentsOf({ queue = DEFAULT_QUEUE, priority, status, ...filters }: Query): ListCasesQuery {
  return {
    ...OF_QUEUE[queue],
    ...(filters as ListCasesQuery),
    ...(priority === undefined ? {} : { priority: priority.split(',') as NonNullable<ListCasesQuery['priority']> }),
    ...(status === undefined ? {} : { status: status.split(',') as NonNullable<ListCasesQuery['status']> }),
  }
}

// How far the next case is looked for behind one that is open: cases decided by others meanwhile stand between them.
const LOOK_AHEAD = 100

/** The case after this one in the queue of the address; undefined when there is no other. */
export async function findNext(client: Client, query: Query, current: string): Promise<Case | undefined> {
  const { cursor: _cursor, ...filters } = query
  const { data } = await client.cases.list({ ...argumentsOf(filters), limit: LOOK_AHEAD }).page()
  const place = data.findIndex(({ caseId }) => caseId === current)
  return [...data.slice(place + 1), ...data.slice(0, Math.max(place, 0))].find(({ caseId }) => caseId !== current)
}
