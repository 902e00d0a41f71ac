import type { Reevaluation } from '@countersign/client'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Reevaluation> = {
  title: 'Re-evaluations',
  name: 'reevaluations',
  permission: 'policy.read',
  about: 'Results that were looked at again, because a device was revoked or the risk policy changed.',
  list: (client, query) => client.account.reevaluations.list(query as object),
  idOf: ({ reevaluationId }) => reevaluationId,
  pathOf: ({ reevaluationId }) => `reevaluations/${reevaluationId}`,
  columns: [
    { name: 'id', title: 'Re-evaluation', show: ({ reevaluationId }) => <Id id={reevaluationId} /> },
    { name: 'cause', title: 'Cause', show: (row) => <Cause row={row} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'touched', title: 'Captures', isNumber: true, show: ({ touched }) => <Num value={touched} /> },
    { name: 'changed', title: 'Changed', isNumber: true, show: ({ changed }) => <Num value={changed} /> },
    { name: 'pending', title: 'Waiting', isNumber: true, show: ({ pending }) => <Num value={pending} /> },
    { name: 'failed', title: 'Failed', isNumber: true, show: ({ failed }) => <Num value={failed} /> },
    { name: 'created', title: 'Began', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: { sentence: 'Nothing was evaluated again: no device was revoked, and the risk policy was not changed.' },
}

const detail: DetailPage<Reevaluation> = {
  kind: 'Re-evaluation',
  name: 'reevaluations',
  permission: 'policy.read',
  listPath: 'reevaluations',
  retrieve: (client, id, signal) => client.account.reevaluations.retrieve(id, {}, { signal }),
  statusOf: ({ status }) => status,
  facts: (row) => [
    ['Cause', <Cause key="cause" row={row} />],
    ['Looked at', <Num key="looked" value={row.looked} />],
    ['Captures', <Num key="touched" value={row.touched} />],
    ['Waiting', <Num key="pending" value={row.pending} />],
    ['Changed', <Num key="changed" value={row.changed} />],
    ['Unchanged', <Num key="unchanged" value={row.unchanged} />],
    ['Skipped', <Num key="skipped" value={row.skipped} />],
    ['Failed', <Num key="failed" value={row.failed} />],
    ['Began', <Time key="created" at={row.createdAt} />],
    ['All were found', <Time key="searched" at={row.searchedAt} />],
    ['Finished', <Time key="finished" at={row.finishedAt} />],
  ],
  hasEvents: true,
}

function Cause({ row: { cause, deviceId, policyVersion } }: { row: Reevaluation }) {
  return (
    <>
      {cause.replaceAll('_', ' ')} {deviceId === undefined ? null : <Id id={deviceId} />}
      {policyVersion === undefined ? null : `to version ${policyVersion}`}
    </>
  )
}

export const Page = () => <List page={page} />
export const DetailOf = () => <Detail page={detail} />
