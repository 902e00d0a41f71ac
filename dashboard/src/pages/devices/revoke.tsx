// Revokes a device permanently. Before it is sent, the person sees from which time captures lose their trust, and how many
// claims the device has.

import type { Device } from '@countersign/client'
import { Alert, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Act, timeOf } from '../../parts/act.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber, formatTime } from '../../parts/measures.ts'

export function Revoke({ device }: { device: Device }) {
  const { deviceId } = device
  return (
    <Act
      title="Revoke"
      permission="devices.write"
      name={`${deviceId}.revoke`}
      isDangerous
      fields={[
        { name: 'reason', title: 'Reason', about: 'For its history', isRequired: true, maxLength: 200 },
        {
          name: 'effectiveAt',
          title: 'No longer trusted from',
          about: 'In your time zone. When the key was lost, not when you noticed it. Empty: from now on',
          kind: 'time',
        },
      ]}
      review={({ reason = '', effectiveAt }) => (
        <Review device={device} reason={reason} effectiveAt={timeOf(effectiveAt)} />
      )}
      send={(client, { reason = '', effectiveAt }, options) =>
        client.devices.revoke(deviceId, { reason, effectiveAt: timeOf(effectiveAt) }, options)
      }
    />
  )
}

interface ReviewProps {
  device: Device
  reason: string
  effectiveAt: string | undefined
}

function Review({ device: { deviceId, name, certificate }, reason, effectiveAt }: ReviewProps) {
  const client = useClient()
  const { environment, may } = useSession()
  const query = useQuery({
    queryKey: ['device-claims', environment, deviceId],
    queryFn: () => client.claims.list({ deviceId, limit: 1, include: 'total_count' }).page(),
    enabled: may('claims.read'),
  })
  return (
    <Stack gap="xs">
      <Alert color="red" title={`${name ?? certificate.subject} is revoked permanently`}>
        <Text size="sm">
          Its key can not be enrolled again. Captures that were accepted{' '}
          {effectiveAt === undefined
            ? 'until now stay trusted'
            : `from ${formatTime(effectiveAt)} on are evaluated again`}
          , and every later one has the factor device_revoked.
        </Text>
        {environment === 'live' && (
          <Text size="sm" fw={600}>
            This is the live environment.
          </Text>
        )}
      </Alert>
      <Text size="sm">Reason: “{reason}”</Text>
      {query.isLoading && <Skeleton height={20} maw={300} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data?.totalCount != null && (
        <Text size="sm">Claims with captures of this device: {formatNumber(query.data.totalCount)}.</Text>
      )}
    </Stack>
  )
}
