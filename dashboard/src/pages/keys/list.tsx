import type { ApiKey } from '@countersign/client'
import { Code } from '@mantine/core'
import { Countdown } from '../../parts/countdown.tsx'
import { Codes, Id, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { CreateKey } from './create.tsx'
import { Revoke, Rotate } from './end.tsx'

const page: ListPage<ApiKey> = {
  title: 'API keys',
  name: 'keys',
  permission: 'keys.manage',
  about: 'With a key your programs call the service. It belongs to the environment above.',
  list: (client, query) => client.account.keys.list(query as object),
  idOf: ({ apiKeyId }) => apiKeyId,
  pathOf: ({ apiKeyId }) => `keys/${apiKeyId}`,
  actions: <CreateKey />,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['active', 'rotating', 'expired', 'revoked'] },
    { kind: 'day', name: 'createdGte', title: 'Created from' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'name', title: 'Name', show: ({ name }) => name },
    { name: 'key', title: 'Key', show: (key) => <Masked apiKey={key} /> },
    { name: 'status', title: 'State', show: (key) => <KeyStatus apiKey={key} /> },
    { name: 'scopes', title: 'Scopes', show: ({ scopes }) => <Codes values={scopes} /> },
    { name: 'used', title: 'Last used', show: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { name: 'created', title: 'Created', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'expires', title: 'Expires', show: ({ expiresAt }) => <Time at={expiresAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ apiKeyId }) => <Id id={apiKeyId} /> },
  ],
  rowActions: (key) => (
    <>
      <Rotate apiKey={key} isSmall /> <Revoke apiKey={key} isSmall />
    </>
  ),
  empty: {
    sentence: 'A key is made here, or by another key that may administer. It is shown once.',
    curl: `curl {base_url}/v1/account/keys -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"name": "Claims system", "scopes": ["attest"]}'`,
  },
}

export const Page = () => <List page={page} />

export function Masked({ apiKey: { prefix, last4 } }: { apiKey: ApiKey }) {
  return (
    <Code>
      {prefix}…{last4}
    </Code>
  )
}

/** The state; of a replaced key also what is left until it ends. */
export function KeyStatus({ apiKey: { status, graceExpiresAt } }: { apiKey: ApiKey }) {
  return (
    <>
      <Status value={status} />{' '}
      {status === 'rotating' && graceExpiresAt !== null && <Countdown until={graceExpiresAt} />}
    </>
  )
}
