import type { ExclusionChange, ExclusionScreening } from '@countersign/client'
import { useParams } from '@tanstack/react-router'
import { Codes, Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const listPage: ListPage<ExclusionScreening> = {
  title: 'List screenings',
  name: 'exclusion-screenings',
  permission: 'prescribers.read',
  about:
    'Comparisons of all prescribers with both lists: after each import, after changes of prescribers, and once a day.',
  list: (client, query) => client.clinical.exclusionScreenings.list(query as object),
  idOf: ({ exclusionScreeningId }) => exclusionScreeningId,
  pathOf: ({ exclusionScreeningId }) => `exclusion-screenings/${exclusionScreeningId}`,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['queued', 'running', 'succeeded', 'failed'] },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Screening', show: ({ exclusionScreeningId }) => <Id id={exclusionScreeningId} /> },
    { name: 'cause', title: 'Cause', show: ({ cause }) => cause },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'failure', title: 'Failed', show: ({ failure }) => failure?.detail ?? <Nothing /> },
    { name: 'screened', title: 'Compared', isNumber: true, show: ({ screened }) => <Num value={screened} /> },
    { name: 'changed', title: 'Changed', isNumber: true, show: ({ changed }) => <Num value={changed} /> },
    { name: 'created', title: 'Begun', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: { sentence: 'The first comparison follows the first import, or the first prescriber.' },
}

export const Page = () => <List page={listPage} />

function changesOf(id: string): ListPage<ExclusionChange> {
  return {
    title: 'Changes of a screening',
    name: `exclusion-changes.${id}`,
    permission: 'prescribers.read',
    about: 'Prescribers whose status was another one than before.',
    list: (client, query) => client.clinical.exclusionScreenings.listChanges(id, query as object),
    idOf: ({ prescriberId }) => prescriberId,
    pathOf: ({ prescriberId }) => `prescribers/${prescriberId}`,
    columns: [
      { name: 'prescriber', title: 'Prescriber', show: ({ prescriberId }) => <Id id={prescriberId} /> },
      { name: 'before', title: 'Before', show: ({ statusBefore }) => <Status value={statusBefore} /> },
      { name: 'status', title: 'Now', show: ({ status }) => <Status value={status} /> },
      {
        name: 'evidence',
        title: 'Matched on',
        show: ({ evidence }) => <Codes values={evidence.map(({ list, matchedOn }) => `${list} ${matchedOn}`)} />,
      },
      { name: 'changed', title: 'Changed', show: ({ changedAt }) => <Time at={changedAt} /> },
    ],
    empty: { sentence: 'No status of a prescriber changed.' },
  }
}

export function Changes() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return <List page={changesOf(id)} />
}
