import type { ApiKey } from '@countersign/client'
import { Act, textOf } from '../../parts/act.tsx'
import { listOf } from '../../parts/act-field.tsx'
import { By } from '../../parts/by.tsx'
import { Codes, Id, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, type Fact } from '../../recipe/detail-page.tsx'
import { Revoke, Rotate } from './end.tsx'
import { KeyStatus, Masked } from './list.tsx'

const page: DetailPage<ApiKey> = {
  kind: 'API key',
  name: 'keys',
  permission: 'keys.manage',
  listPath: 'keys',
  retrieve: (client, id, signal) => client.account.keys.retrieve(id, { signal }),
  titleOf: ({ name }) => name,
  facts: (key) => [
    ['Key', <Masked key="key" apiKey={key} />],
    ['State', <KeyStatus key="state" apiKey={key} />],
    ['Last used', <Time key="used" at={key.lastUsedAt} />],
    ['Scopes', <Codes key="scopes" values={key.scopes} />],
    ['Products', key.products === null ? 'every product' : <Codes key="products" values={key.products} />],
    ['It only reads', key.readOnly ? 'yes' : 'no'],
    ['Addresses', key.ipAllow === null ? 'every address' : <Codes key="addresses" values={key.ipAllow} />],
    ['Created', <Time key="created" at={key.createdAt} />],
    ['Created by', <By key="by" actor={key.createdBy} />],
    ['Expires', <Time key="expires" at={key.expiresAt} />],
    ...endOf(key),
  ],
  actions: (key) => (
    <>
      {key.status === 'active' && <Change apiKey={key} />}
      <Revoke apiKey={key} />
      <Rotate apiKey={key} />
    </>
  ),
}

export const Page = () => <Detail page={page} />

function endOf({ graceExpiresAt, revokedAt, replacedByApiKeyId, replacesApiKeyId }: ApiKey): Fact[] {
  const facts: Fact[] = []
  if (graceExpiresAt !== null) facts.push(['Accepted until', <Time key="grace" at={graceExpiresAt} />])
  else if (revokedAt !== null) facts.push(['Revoked', <Time key="revoked" at={revokedAt} />])
  if (replacedByApiKeyId !== null) facts.push(['Replaced by', <Id key="next" id={replacedByApiKeyId} />])
  if (replacesApiKeyId !== null) facts.push(['Replaces', <Id key="before" id={replacesApiKeyId} />])
  return facts
}

function Change({ apiKey: { apiKeyId, name, ipAllow, version } }: { apiKey: ApiKey }) {
  return (
    <Act
      title="Change"
      permission="keys.manage"
      name={`${apiKeyId}.${version}`}
      fields={[
        { name: 'name', title: 'Name', initial: name, isRequired: true, maxLength: 200 },
        {
          name: 'ipAllow',
          title: 'Addresses',
          about: 'Addresses or ranges from which it is accepted. Empty: from everywhere',
          initial: ipAllow?.join(' ') ?? '',
        },
      ]}
      send={(client, values, options) => {
        const addresses = listOf(values.ipAllow)
        const change = { name: textOf(values.name), ipAllow: addresses.length === 0 ? null : addresses }
        return client.account.keys.update(apiKeyId, { ...change, ifMatch: `"${version}"` }, options)
      }}
    />
  )
}
