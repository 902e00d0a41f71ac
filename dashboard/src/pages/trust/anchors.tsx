import type { C2paAnchor } from '@countersign/client'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Add, COLUMNS, factsOf, Remove } from './certificate.tsx'

const page: ListPage<C2paAnchor> = {
  title: 'C2PA anchors',
  name: 'anchors',
  permission: 'devices.read',
  about: 'Roots of content credentials that you trust besides the published lists.',
  list: (client, query) => client.media.c2paAnchors.list(query as object),
  idOf: ({ c2paAnchorId }) => c2paAnchorId,
  pathOf: ({ c2paAnchorId }) => `anchors/${c2paAnchorId}`,
  actions: (
    <Add
      title="Add a C2PA anchor"
      name="anchors.add"
      send={(client, sent, options) => client.media.c2paAnchors.create(sent, options)}
    />
  ),
  filters: [
    { kind: 'day', name: 'createdGte', title: 'Added from' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: COLUMNS,
  empty: {
    sentence: 'The published trust lists apply. An anchor adds a root of your own.',
    curl: `curl {base_url}/v1/admin/c2pa-anchors -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"name": "Camera maker", "certificate": "<PEM>"}'`,
  },
}

const detail: DetailPage<C2paAnchor> = {
  kind: 'C2PA anchor',
  name: 'anchors',
  permission: 'devices.read',
  listPath: 'anchors',
  retrieve: (client, id, signal) => client.media.c2paAnchors.retrieve(id, { signal }),
  titleOf: ({ name }) => name,
  facts: factsOf,
  actions: ({ c2paAnchorId }) => (
    <Remove
      id={c2paAnchorId}
      listPath="anchors"
      about="Earlier results stay as they are. Later content credentials whose chain leads to it alone are not trusted."
      send={(client, options) => client.media.c2paAnchors.delete(c2paAnchorId, options)}
    />
  ),
}

export const Page = () => <List page={page} />
export const DetailOf = () => <Detail page={detail} />
