import type { Revocation } from '@countersign/client'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Revoke } from './revoke.tsx'

const listPage: ListPage<Revocation> = {
  title: 'Revocations',
  name: 'revocations',
  permission: 'intents.read',
  about: 'Tokens, agent sessions and devices that were revoked. A revocation holds from the next verification on.',
  list: (client, query) => client.intent.revocations.list(query as object),
  idOf: ({ revocationId }) => revocationId,
  pathOf: ({ revocationId }) => `revocations/${revocationId}`,
  actions: <Revoke />,
  filters: [
    { kind: 'choices', name: 'scope', title: 'What', values: ['token', 'session', 'device'] },
    { kind: 'text', name: 'subjectId', title: 'Its id' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Revocation', show: ({ revocationId }) => <Id id={revocationId} /> },
    { name: 'scope', title: 'What', show: ({ scope }) => <Status value={scope} /> },
    { name: 'subject', title: 'Its id', show: (row) => <Subject row={row} /> },
    { name: 'reason', title: 'Reason', show: ({ reason }) => reason },
    {
      name: 'tokens',
      title: 'Tokens ended',
      isNumber: true,
      show: ({ tokensRevoked }) => <Num value={tokensRevoked} />,
    },
    { name: 'by', title: 'By', show: ({ revokedBy }) => revokedBy.label ?? revokedBy.type },
    { name: 'created', title: 'At', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'expires', title: 'Until', show: ({ expiresAt }) => <Time at={expiresAt} /> },
  ],
  empty: {
    sentence: 'Nothing was revoked.',
    curl: `curl {base_url}/v1/intent/revocations -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"scope": "device", "device_id": "laptop-1", "reason": "lost"}'`,
  },
}

export const Page = () => <List page={listPage} />

const detailPage: DetailPage<Revocation> = {
  kind: 'Revocation',
  name: 'revocations',
  permission: 'intents.read',
  listPath: 'revocations',
  retrieve: (client, id, signal) => client.intent.revocations.retrieve(id, { signal }),
  statusOf: ({ scope }) => scope,
  facts: (row) => [
    ['What', row.scope],
    ['Its id', <Subject key="subject" row={row} />],
    ['Reason', row.reason],
    ['Tokens ended', <Num key="tokens" value={row.tokensRevoked} />],
    ['By', row.revokedBy.label ?? row.revokedBy.type],
    ['At', <Time key="at" at={row.createdAt} />],
    ['Gets no new tokens until', row.expiresAt === null ? 'it never does' : <Time key="until" at={row.expiresAt} />],
  ],
  hasEvents: true,
}

export const DetailOf = () => <Detail page={detailPage} />

// Callers chose the names of sessions and devices.
function Subject({ row: { jti, agentSessionId, deviceId } }: { row: Revocation }) {
  return jti === null ? (agentSessionId ?? deviceId) : <Id id={jti} />
}
