import type { AccountExport } from '@countersign/client'
import { Code } from '@mantine/core'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { formatBytes, formatNumber } from '../../parts/measures.ts'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, type Fact } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Download } from './download.tsx'

const page: ListPage<AccountExport> = {
  title: 'Exports',
  name: 'exports',
  permission: 'account.export',
  about: 'Archives of everything that the account has, of both environments.',
  list: (client, query) => client.account.exports.list(query as object),
  idOf: ({ exportId }) => exportId,
  pathOf: ({ exportId }) => `exports/${exportId}`,
  actions: <Request />,
  columns: [
    { name: 'id', title: 'Export', show: ({ exportId }) => <Id id={exportId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'media', title: 'Photos and videos', show: ({ includesMedia }) => (includesMedia ? 'yes' : 'no') },
    {
      name: 'size',
      title: 'Size',
      isNumber: true,
      show: ({ size }) => (size === null ? <Nothing /> : formatBytes(size)),
    },
    { name: 'by', title: 'By', show: ({ requestedBy }) => <By actor={requestedBy} /> },
    { name: 'created', title: 'Requested', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'expires', title: 'Until', show: ({ expiresAt }) => <Time at={expiresAt} /> },
  ],
  empty: { sentence: 'An export is a ZIP archive: a file with a JSON object a line for each table.' },
}

const detail: DetailPage<AccountExport> = {
  kind: 'Export',
  name: 'exports',
  permission: 'account.export',
  listPath: 'exports',
  retrieve: (client, id, signal) => client.account.exports.retrieve(id, {}, { signal }),
  statusOf: ({ status }) => status,
  isMoving: ({ status }) => status === 'queued' || status === 'running',
  facts: (row) => [
    ['Progress', `${formatNumber(row.progress.files)} files, ${formatNumber(row.progress.rows)} rows`],
    ['Photos and videos', row.includesMedia ? 'yes' : 'no'],
    ['Requested', <Time key="created" at={row.createdAt} />],
    ['Requested by', <By key="by" actor={row.requestedBy} />],
    ...archiveOf(row),
  ],
  actions: (row) => <Download archive={row} />,
}

export const Page = () => <List page={page} />
export const DetailOf = () => <Detail page={detail} />

function archiveOf({ failure, size, sha256, finishedAt, expiresAt }: AccountExport): Fact[] {
  if (failure !== null) return [['Why it failed', failure.detail]]
  if (size === null) return []
  return [
    ['Finished', <Time key="finished" at={finishedAt} />],
    ['Size', formatBytes(size)],
    ['SHA-256', <Code key="sha256">{sha256}</Code>],
    ['Can be downloaded until', <Time key="expires" at={expiresAt} />],
  ]
}

function Request() {
  return (
    <Act
      title="Request an export"
      permission="account.export"
      name="exports.create"
      fields={[{ name: 'includeMedia', title: 'Photos and videos too', about: 'It takes longer', kind: 'flag' }]}
      send={(client, { includeMedia }, options) =>
        client.account.exports.create({ includeMedia: includeMedia === 'true' }, options)
      }
    />
  )
}
