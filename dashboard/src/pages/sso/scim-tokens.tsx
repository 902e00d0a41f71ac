import type { ScimToken } from '@countersign/client'
import { Text } from '@mantine/core'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { CopyLine, Secret } from '../../parts/secret.tsx'
import { Id, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<ScimToken> = {
  title: 'Directory tokens',
  name: 'scim-tokens',
  permission: 'sso.write',
  about: 'With a token the directory of your organization adds and removes users by SCIM 2.0. Two work at a time.',
  list: (client, query) => client.auth.scimTokens.list(query as object),
  idOf: ({ scimTokenId }) => scimTokenId,
  actions: <Create />,
  filters: [
    { kind: 'day', name: 'createdGte', title: 'Created from' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'end', title: 'Token', show: ({ last4 }) => `…${last4}` },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'used', title: 'Last used', show: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { name: 'created', title: 'Created', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'by', title: 'By', show: ({ createdBy }) => <By actor={createdBy} /> },
    { name: 'revoked', title: 'Revoked', show: ({ revokedAt }) => <Time at={revokedAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ scimTokenId }) => <Id id={scimTokenId} /> },
  ],
  rowActions: ({ scimTokenId, status, last4, lastUsedAt }) =>
    status === 'active' && (
      <Act
        title="Revoke"
        permission="sso.write"
        name={`${scimTokenId}.revoke`}
        isSmall
        isDangerous
        about={
          <>
            The next request with the token …{last4} is refused. It was last used <Time at={lastUsedAt} />.
          </>
        }
        send={(client, _, options) => client.auth.scimTokens.delete(scimTokenId, options)}
      />
    ),
  empty: { sentence: 'No directory is connected. It takes the plan enterprise, and a token that is shown once.' },
}

export const Page = () => <List page={page} />

function Create() {
  return (
    <Act
      title="Create a token"
      permission="sso.write"
      name="scim-tokens.create"
      about="The directory can add, change and remove users with it, and nothing else."
      send={(client, _, options) => client.auth.scimTokens.create(options)}
      result={({ token }) => (
        <>
          <Secret title="Directory token" value={token} />
          <Text size="sm">The address of the service, for the directory:</Text>
          <CopyLine label="Base address of SCIM" value={`${window.location.origin}/v1/scim/v2`} />
        </>
      )}
    />
  )
}
