import type { RootCa } from '@countersign/client'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Add, COLUMNS, factsOf, Remove } from './certificate.tsx'

const page: ListPage<RootCa> = {
  title: 'Root CAs',
  name: 'roots',
  permission: 'devices.read',
  about: 'Roots of the certificate chains of your devices: a device is enrolled where its chain leads to one of them.',
  list: (client, query) => client.devices.roots.list(query as object),
  idOf: ({ rootCaId }) => rootCaId,
  pathOf: ({ rootCaId }) => `roots/${rootCaId}`,
  actions: (
    <Add
      title="Add a root CA"
      name="roots.add"
      send={(client, sent, options) => client.devices.roots.create(sent, options)}
    />
  ),
  filters: [
    { kind: 'day', name: 'createdGte', title: 'Added from' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: COLUMNS,
  empty: {
    sentence: 'Without a root CA no device can be enrolled.',
    curl: `curl {base_url}/v1/admin/root-cas -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"name": "Device maker", "certificate": "<PEM>"}'`,
  },
}

const detail: DetailPage<RootCa> = {
  kind: 'Root CA',
  name: 'roots',
  permission: 'devices.read',
  listPath: 'roots',
  retrieve: (client, id, signal) => client.devices.roots.retrieve(id, { signal }),
  titleOf: ({ name }) => name,
  facts: factsOf,
  actions: ({ rootCaId }) => (
    <Remove
      id={rootCaId}
      listPath="roots"
      about="Earlier results stay as they are. A device whose chain leads to it alone is no longer trusted."
      send={(client, options) => client.devices.roots.delete(rootCaId, options)}
    />
  ),
}

export const Page = () => <List page={page} />
export const DetailOf = () => <Detail page={detail} />
