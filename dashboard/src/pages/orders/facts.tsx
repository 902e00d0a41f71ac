// What stands beside the content of an order: its signatures, what the policy asks for, and what happened to it.

import type { Order } from '@countersign/client'
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { By } from '../../parts/by.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Id, Nothing, Time } from '../../parts/values.tsx'
import { Facts, Part } from '../../recipe/detail-page.tsx'

export function Signatures({ order: { signatures } }: { order: Order }) {
  if (signatures.length === 0) return <Text size="sm">None yet.</Text>
  return (
    <Stack gap={6}>
      {signatures.map(({ act, signedBy, method, signedAt, voidedAt, statementVersion, revision }) => (
        <Text size="sm" key={`${act} ${signedAt}`} td={voidedAt === null ? undefined : 'line-through'}>
          <By actor={signedBy} /> {act === 'sign' ? 'signed' : 'co-signed'} edit {revision}
          {method === 'passkey' ? ' with a passkey' : ' without a passkey'}, <Time at={signedAt} />, statement{' '}
          {statementVersion}
          {voidedAt !== null && ' (void: the order was edited afterwards)'}
        </Text>
      ))}
    </Stack>
  )
}

export function FurtherFacts({ order }: { order: Order }) {
  const { needs } = order
  const asked = [
    `tier ${needs.tier}`,
    needs.passkey && 'a passkey',
    needs.cosign && 'a co-signature',
    `at most ${needs.maxRefills} refills`,
    needs.validityDays !== null && `execution within ${needs.validityDays} days`,
  ].filter((part) => part !== false)
  return (
    <Facts
      facts={[
        ['The policy asks for', asked.join(', ')],
        ['Prescriber', <Id key="prescriber" id={order.prescriberId} />],
        ['Entered by', <By key="by" actor={order.createdBy} />],
        ['Entered', <Time key="created" at={order.createdAt} />],
        ['Edits', order.revision - 1],
        ['Expires', <Time key="expires" at={order.expiresAt} />],
        ['Authorized', <Time key="authorized" at={order.authorizedAt} />],
        ['Ended', <Time key="ended" at={order.endedAt} />],
        ['Ended by', <By key="ender" actor={order.endedBy} />],
        ['Reason', order.endedReason?.replaceAll('_', ' ') ?? <Nothing key="reason" />],
        ['Executed by', <Id key="decision" id={order.decisionId} />],
      ]}
    />
  )
}

export function History({ orderId }: { orderId: string }) {
  const { may } = useSession()
  return may('decisions.read') ? <Entries orderId={orderId} /> : null
}

function Entries({ orderId }: { orderId: string }) {
  const { environment } = useSession()
  const client = useClient()
  const query = useQuery({
    queryKey: ['decisions', environment, orderId],
    queryFn: () => client.decisions.list({ subjectId: orderId, limit: 50 }).page(),
  })
  return (
    <Part title="History">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data?.data.length === 0 && <Text size="sm">Nothing yet.</Text>}
      <Stack gap={4}>
        {query.data?.data.map(({ decisionId, reason, actor, at }) => (
          <Group key={decisionId} gap="sm">
            <Time at={at} />
            <Text size="sm">{reason}</Text>
            <By actor={actor} />
            <Id id={decisionId} />
          </Group>
        ))}
      </Stack>
    </Part>
  )
}
