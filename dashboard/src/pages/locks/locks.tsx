import type { SessionLock } from '@countersign/client'
import { Codes, Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Clear } from './clear.tsx'

const listPage: ListPage<SessionLock> = {
  title: 'Locks',
  name: 'locks',
  permission: 'locks.read',
  about:
    'Agent sessions that a canary has locked. Until a person clears the lock, every action in the session is refused.',
  list: (client, query) => client.trace.locks.list(query as object),
  idOf: ({ lockId }) => lockId,
  pathOf: ({ lockId }) => `locks/${lockId}`,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['locked', 'cleared'] },
    { kind: 'text', name: 'agentId', title: 'Agent' },
    { kind: 'text', name: 'agentSessionId', title: 'Agent session' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Lock', show: ({ lockId }) => <Id id={lockId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'session', title: 'Agent session', show: ({ agentSessionId }) => agentSessionId ?? 'all of the agent' },
    { name: 'agent', title: 'Agent', show: ({ agentId }) => <Id id={agentId} /> },
    { name: 'families', title: 'Tripped', show: ({ trippedFamilies }) => <Codes values={trippedFamilies} /> },
    { name: 'source', title: 'Found by', show: ({ source }) => source },
    { name: 'locked', title: 'Locked', show: ({ lockedAt }) => <Time at={lockedAt} /> },
    { name: 'cleared', title: 'Cleared', show: ({ clearedAt }) => <Time at={clearedAt} /> },
  ],
  empty: {
    sentence: 'No canary has tripped. A reading above its threshold locks the agent session in which it was made.',
  },
}

export const Page = () => <List page={listPage} />

const detailPage: DetailPage<SessionLock> = {
  kind: 'Lock',
  name: 'locks',
  permission: 'locks.read',
  listPath: 'locks',
  retrieve: (client, id, signal) => client.trace.locks.retrieve(id, { signal }),
  statusOf: ({ status }) => status,
  facts: (lock) => [
    ['Agent session', lock.agentSessionId ?? 'all sessions of the agent'],
    ['Agent', <Id key="agent" id={lock.agentId} />],
    ['Tripped', <Codes key="families" values={lock.trippedFamilies} />],
    ['Found by', lock.source],
    ['Trace', <Id key="trace" id={lock.traceId} />],
    ['Token', <Id key="token" id={lock.jti} />],
    ['Rule', lock.matchedRuleId ?? <Nothing key="rule" />],
    ['Locked', <Time key="locked" at={lock.lockedAt} />],
    ['Cleared', <Time key="cleared" at={lock.clearedAt} />],
    ['Cleared by', lock.clearedBy?.label ?? <Nothing key="by" />],
    ['Note', lock.note ?? <Nothing key="note" />],
  ],
  actions: (lock) => lock.status === 'locked' && <Clear lock={lock} />,
  hasEvents: true,
}

export const DetailOf = () => <Detail page={detailPage} />
