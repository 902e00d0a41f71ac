import type { Device } from '@countersign/client'
import { Code } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Act, textOf } from '../../parts/act.tsx'
import { Value, withApiNames } from '../../parts/finding.tsx'
import { Nothing, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, type Fact, Facts, Part } from '../../recipe/detail-page.tsx'
import { History } from './history.tsx'
import { Revoke } from './revoke.tsx'

const page: DetailPage<Device> = {
  kind: 'Device',
  name: 'devices',
  permission: 'devices.read',
  listPath: 'devices',
  retrieve: (client, id, signal) => client.devices.retrieve(id, { signal }),
  titleOf: ({ name }) => name,
  statusOf: ({ status }) => status,
  facts: (device) => [
    ['Key', <Status key="tier" value={device.hardwareTier} />],
    ['Certificate', device.certificate.subject],
    ['Serial', <Code key="serial">{device.certificate.serial}</Code>],
    ['Public key', <Code key="spki">{device.spkiSha256}</Code>],
    ['Enrolled', <Time key="enrolled" at={device.enrolledAt} />],
    ['Expires', <Time key="expires" at={device.expiresAt} />],
    ...(device.revokedAt === null ? [] : revocationOf(device)),
    ['Claims', <Claims key="claims" deviceId={device.deviceId} />],
  ],
  actions: (device) => (
    <>
      <Act
        title="Rename"
        permission="devices.write"
        name={`${device.deviceId}.name`}
        fields={[{ name: 'name', title: 'Name', about: 'Empty: it has no name', maxLength: 200 }]}
        send={(client, { name }, options) =>
          client.devices.update(device.deviceId, { name: textOf(name) ?? null }, options)
        }
      />
      {device.status !== 'revoked' && <Revoke device={device} />}
    </>
  ),
  children: ({ deviceId, hardware }) => (
    <>
      <Part title="Hardware">
        {hardware === null ? (
          'It was enrolled without evidence of its hardware.'
        ) : (
          <Facts
            facts={Object.entries(withApiNames(hardware)).map(([name, value]) => [
              name.replaceAll('_', ' '),
              <Value key={name} name={name} value={value} />,
            ])}
          />
        )}
      </Part>
      <History deviceId={deviceId} />
    </>
  ),
  hasEvents: true,
}

export const Page = () => <Detail page={page} />

const revocationOf = ({ revokedAt, revokeEffectiveAt, revokeReason }: Device): Fact[] => [
  ['Revoked', <Time key="revoked" at={revokedAt} />],
  ['No longer trusted from', <Time key="effective" at={revokeEffectiveAt} />],
  ['Reason', revokeReason ?? <Nothing key="none" />],
]

function Claims({ deviceId }: { deviceId: string }) {
  const { environment } = useSession()
  return <Link {...addressOf(environment, `claims?deviceId=${deviceId}`)}>What it captured</Link>
}
