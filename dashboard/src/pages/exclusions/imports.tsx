import type { ExclusionImport } from '@countersign/client'
import { By } from '../../parts/by.tsx'
import { formatBytes } from '../../parts/measures.ts'
import { Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { Verbatim } from '../../parts/verbatim.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const common = { name: 'exclusion-imports', permission: 'prescribers.read' } as const

const listPage: ListPage<ExclusionImport> = {
  ...common,
  title: 'List imports',
  about: 'Files of exclusion lists that this account uploaded, and why a file was refused.',
  list: (client, query) => client.clinical.exclusionImports.list(query as object),
  idOf: ({ exclusionImportId }) => exclusionImportId,
  pathOf: ({ exclusionImportId }) => `exclusion-imports/${exclusionImportId}`,
  filters: [
    { kind: 'choice', name: 'list', title: 'List', values: ['leie', 'sam'] },
    { kind: 'choices', name: 'status', title: 'State', values: ['queued', 'running', 'succeeded', 'failed'] },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Import', show: ({ exclusionImportId }) => <Id id={exclusionImportId} /> },
    { name: 'list', title: 'List', show: ({ list }) => list.toUpperCase() },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'failure', title: 'Refused', show: ({ failure }) => failure?.code ?? <Nothing /> },
    { name: 'rows', title: 'Rows', isNumber: true, show: ({ rows }) => <Num value={rows} /> },
    { name: 'date', title: 'Date of the list', show: ({ listDate }) => listDate ?? <Nothing /> },
    { name: 'by', title: 'By', show: ({ requestedBy }) => <By actor={requestedBy} /> },
    { name: 'created', title: 'Uploaded', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: {
    sentence: 'No file was uploaded. Until then the list of the operator is in force, if there is one.',
    curl: `curl '{base_url}/v1/clinical/exclusion-lists/leie/import?file_name=UPDATED.csv' -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: text/csv' --data-binary @UPDATED.csv`,
  },
}

export const Page = () => <List page={listPage} />

const detailPage: DetailPage<ExclusionImport> = {
  ...common,
  kind: 'Import',
  listPath: 'exclusion-imports',
  retrieve: (client, id, signal) => client.clinical.exclusionImports.retrieve(id, {}, { signal }),
  statusOf: ({ status }) => status,
  isMoving: ({ status }) => status === 'queued' || status === 'running',
  facts: (row) => [
    ['List', row.list.toUpperCase()],
    ['File', row.fileName === null ? <Nothing key="name" /> : <Verbatim key="name" text={row.fileName} />],
    ['Kind', row.kind],
    ['Refused', row.failure === null ? <Nothing key="failure" /> : `${row.failure.code}: ${row.failure.detail}`],
    ['Rows of the list', <Num key="rows" value={row.rows} />],
    ['Date of the list', row.listDate ?? <Nothing key="date" />],
    ['Size', formatBytes(row.size)],
    ['SHA-256', row.sha256],
    ['Forced', row.force ? 'yes' : 'no'],
    ['By', <By key="by" actor={row.requestedBy} />],
    ['Uploaded', <Time key="created" at={row.createdAt} />],
    ['Ended', <Time key="finished" at={row.finishedAt} />],
  ],
}

export const DetailOf = () => <Detail page={detailPage} />
