import type { Prescriber } from '@countersign/client'
import { By } from '../../parts/by.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { Verbatim } from '../../parts/verbatim.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Reinstate, Suspend } from './acts.tsx'
import { PrescriberFacts } from './facts.tsx'

const PERMISSION = 'prescribers.read'
const statusOf = ({ suspendedAt }: Prescriber) => (suspendedAt === null ? 'active' : 'suspended')

const listPage: ListPage<Prescriber> = {
  title: 'Prescribers',
  name: 'prescribers',
  permission: PERMISSION,
  about: 'Users of the account who order. The tier follows from facts that were checked about them.',
  list: (client, query) => client.clinical.prescribers.list(query as object),
  idOf: ({ prescriberId }) => prescriberId,
  pathOf: ({ prescriberId }) => `prescribers/${prescriberId}`,
  filters: [
    { kind: 'text', name: 'npi', title: 'NPI' },
    { kind: 'text', name: 'userId', title: 'User' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Prescriber', show: ({ prescriberId }) => <Id id={prescriberId} /> },
    { name: 'name', title: 'Name', show: ({ first, last }) => <Verbatim text={`${first} ${last}`} /> },
    { name: 'npi', title: 'NPI', show: ({ npi }) => npi },
    { name: 'tier', title: 'Tier', isNumber: true, show: ({ tier }) => tier },
    { name: 'status', title: 'State', show: (row) => <Status value={statusOf(row)} /> },
    { name: 'user', title: 'User', show: ({ userId }) => <Id id={userId} /> },
    { name: 'created', title: 'Entered', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: {
    sentence: 'A prescriber is entered with a key, for one user and one NPI.',
    curl: `curl {base_url}/v1/clinical/prescribers -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"user_id": "<USER_ID>", "npi": "1234567893", "first": "Robin", "last": "Example", "dob": "1980-05-01"}'`,
  },
}

export const Page = () => <List page={listPage} />

const detailPage: DetailPage<Prescriber> = {
  kind: 'Prescriber',
  name: 'prescribers',
  permission: PERMISSION,
  listPath: 'prescribers',
  retrieve: (client, id, signal) => client.clinical.prescribers.retrieve(id, { signal }),
  titleOf: ({ first, last }) => `${first} ${last}`,
  statusOf,
  facts: (row) => [
    ['Tier at this moment', row.tier],
    ['NPI', row.npi],
    ['Birth date', row.dob ?? <Nothing key="dob" />],
    ['User', <Id key="user" id={row.userId} />],
    ['Suspended', <Time key="suspended" at={row.suspendedAt} />],
    ['Suspended by', <By key="by" actor={row.suspendedBy} />],
    ['Reason', row.suspendedReason ?? <Nothing key="reason" />],
    ['Entered by', <By key="entered" actor={row.createdBy} />],
    ['Entered', <Time key="created" at={row.createdAt} />],
  ],
  actions: (row) => (row.suspendedAt === null ? <Suspend prescriber={row} /> : <Reinstate prescriber={row} />),
  children: (row) => <PrescriberFacts prescriber={row} />,
}

export const DetailOf = () => <Detail page={detailPage} />
