// Certificates that an account trusts: columns, facts and forms that roots and C2PA anchors have in common.

import type { PemCertificate } from '@countersign/client'
import { Code } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { Time } from '../../parts/values.tsx'
import type { Fact } from '../../recipe/detail-page.tsx'
import type { Client, Column } from '../../recipe/list-page.tsx'

interface Trusted {
  name: string
  certificate: PemCertificate
  createdAt: string
}

export const COLUMNS: readonly Column<Trusted>[] = [
  { name: 'name', title: 'Name', show: ({ name }) => name },
  { name: 'subject', title: 'Subject', show: ({ certificate }) => certificate.subject },
  { name: 'expires', title: 'Expires', show: ({ certificate }) => <Time at={certificate.notAfter} /> },
  {
    name: 'fingerprint',
    title: 'Fingerprint',
    show: ({ certificate: { fingerprint } }) => <Code title={fingerprint}>{fingerprint.slice(0, 12)}…</Code>,
  },
  { name: 'created', title: 'Added', show: ({ createdAt }) => <Time at={createdAt} /> },
]

export const factsOf = ({ certificate, createdAt }: Trusted): readonly Fact[] => [
  ['Subject', certificate.subject],
  ['Serial', <Code key="serial">{certificate.serial}</Code>],
  ['Valid from', <Time key="from" at={certificate.notBefore} />],
  ['Expires', <Time key="expires" at={certificate.notAfter} />],
  ['Fingerprint', <Code key="fingerprint">{certificate.fingerprint}</Code>],
  ['Added', <Time key="created" at={createdAt} />],
  [
    'PEM',
    <Code key="pem" block>
      {certificate.pem}
    </Code>,
  ],
]

interface AddProps {
  title: string
  name: string
  send(
    client: Client,
    sent: { name: string; certificate: string },
    options: { idempotencyKey: string },
  ): PromiseLike<unknown>
}

export function Add({ title, name, send }: AddProps) {
  return (
    <Act
      title={title}
      permission="devices.write"
      name={name}
      fields={[
        { name: 'name', title: 'Name', isRequired: true, maxLength: 200 },
        { name: 'certificate', title: 'Certificate', about: 'PEM, or base64 of DER', kind: 'area', isRequired: true },
      ]}
      send={(client, { name: chosen = '', certificate = '' }, options) =>
        send(client, { name: chosen, certificate }, options)
      }
    />
  )
}

interface RemoveProps {
  id: string
  listPath: string
  about: string
  send(client: Client, options: { idempotencyKey: string }): PromiseLike<unknown>
}

export function Remove({ id, listPath, about, send }: RemoveProps) {
  const { environment } = useSession()
  const navigate = useNavigate()
  return (
    <Act
      title="Remove"
      permission="devices.write"
      name={`${id}.remove`}
      about={about}
      isDangerous
      send={(client, _values, options) => send(client, options)}
      onDone={() => void navigate(addressOf(environment, listPath))}
    />
  )
}
