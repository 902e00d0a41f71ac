import type { Device } from '@countersign/client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { Enroll } from './enroll.tsx'

const page: ListPage<Device> = {
  title: 'Devices',
  name: 'devices',
  permission: 'devices.read',
  about: 'Devices whose certificates sign captures. One that is expired or revoked counts as not enrolled.',
  list: (client, query) => client.devices.list(query as object),
  idOf: ({ deviceId }) => deviceId,
  pathOf: ({ deviceId }) => `devices/${deviceId}`,
  actions: (
    <>
      <Expiring />
      <Enroll />
    </>
  ),
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['enrolled', 'expired', 'revoked'] },
    {
      kind: 'choice',
      name: 'hardwareTier',
      title: 'Key',
      values: ['none', 'software', 'tee', 'strongbox', 'secure_enclave'],
    },
    { kind: 'day', name: 'expiresLt', title: 'Expires before' },
    { kind: 'day', name: 'createdGte', title: 'Enrolled from' },
  ],
  columns: [
    { name: 'name', title: 'Name', show: ({ name }) => name ?? <Nothing /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'tier', title: 'Key', show: ({ hardwareTier }) => <Status value={hardwareTier} /> },
    { name: 'subject', title: 'Certificate', show: ({ certificate }) => certificate.subject },
    { name: 'expires', title: 'Expires', show: ({ expiresAt }) => <Time at={expiresAt} /> },
    { name: 'enrolled', title: 'Enrolled', show: ({ enrolledAt }) => <Time at={enrolledAt} /> },
    { name: 'revoked', title: 'Revoked', isHidden: true, show: ({ revokedAt }) => <Time at={revokedAt} /> },
    { name: 'id', title: 'Id', show: ({ deviceId }) => <Id id={deviceId} /> },
  ],
  empty: {
    sentence: 'Register the root CA of your devices first, then enroll a device by its certificate chain.',
    curl: `curl {base_url}/v1/admin/devices -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"name": "Phone 1", "certificate_chain": ["<base64 of DER>"]}'`,
  },
}

export const Page = () => <List page={page} />

// The same as `expiring_soon` of the counts.
const SOON_MS = 30 * 86_400_000

function Expiring() {
  const { environment } = useSession()
  const client = useClient()
  const counts = useQuery({ queryKey: ['device-counts', environment], queryFn: () => client.devices.counts.retrieve() })
  const soon = counts.data?.expiringSoon ?? 0
  const until = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + SOON_MS).toISOString()
  const address = addressOf(environment, `devices?status=enrolled&orderBy=expires&order=asc&expiresLt=${until}`)
  return (
    <Button component={Link} {...address} variant="default" size="xs">
      {counts.data === undefined ? 'Expiring soon' : `${formatNumber(soon)} expiring soon`}
    </Button>
  )
}
