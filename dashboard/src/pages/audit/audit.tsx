import type { AuditEntry } from '@countersign/client'
import { Code } from '@mantine/core'
import { By } from '../../parts/by.tsx'
import { Value } from '../../parts/finding.tsx'
import { Id, Nothing, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<AuditEntry> = {
  title: 'Audit log',
  name: 'audit',
  permission: 'audit.read',
  about: 'Administrative acts, reads of photos, videos and evidence, and what was refused, of the whole account.',
  list: (client, query) => client.account.audit.list(query as object),
  idOf: ({ auditEntryId }) => auditEntryId,
  pathOf: ({ auditEntryId }) => `audit/${auditEntryId}`,
  filters: [
    { kind: 'text', name: 'action', title: 'Action' },
    { kind: 'text', name: 'actorId', title: 'Key or user' },
    { kind: 'text', name: 'subjectId', title: 'Object' },
    { kind: 'choice', name: 'environment', title: 'Environment', values: ['sandbox', 'live'] },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'at', title: 'At', show: ({ at }) => <Time at={at} /> },
    { name: 'action', title: 'Action', show: ({ action }) => <Code>{action}</Code> },
    { name: 'actor', title: 'By', show: ({ actor }) => <By actor={actor} /> },
    { name: 'subject', title: 'Object', show: ({ subjectId }) => <Id id={subjectId} /> },
    { name: 'environment', title: 'Environment', show: ({ environment }) => environment ?? 'the account' },
    { name: 'ip', title: 'Address', show: ({ from }) => from.ip ?? <Nothing /> },
    { name: 'request', title: 'Request', isHidden: true, show: ({ requestId }) => requestId ?? <Nothing /> },
    { name: 'id', title: 'Entry', show: ({ auditEntryId }) => <Id id={auditEntryId} /> },
  ],
  empty: { sentence: 'Nothing was recorded yet.' },
}

const detail: DetailPage<AuditEntry> = {
  kind: 'Entry of the audit log',
  name: 'audit',
  permission: 'audit.read',
  listPath: 'audit',
  retrieve: (client, id, signal) => client.account.audit.retrieve(id, { signal }),
  titleOf: ({ action }) => action,
  facts: (entry) => [
    ['At', <Time key="at" at={entry.at} />],
    ['By', <By key="by" actor={entry.actor} />],
    ['Object', <Id key="subject" id={entry.subjectId} />],
    ['Environment', entry.environment ?? 'the account'],
    ['Address', entry.from.ip ?? <Nothing key="none" />],
    ['Browser or program', entry.from.userAgent ?? <Nothing key="none" />],
    ['Request', entry.requestId ?? <Nothing key="none" />],
  ],
  children: ({ before, after }) => (
    <>
      <Part title="Before">
        <Value value={before} />
      </Part>
      <Part title="After">
        <Value value={after} />
      </Part>
    </>
  ),
}

export const Page = () => <List page={page} />
export const DetailOf = () => <Detail page={detail} />
