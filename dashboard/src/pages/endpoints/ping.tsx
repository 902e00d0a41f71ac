// Sends a signed ping, and shows what the endpoint answers.

import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isActive } from '../../app/activity.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { StillWaiting, useOnceKey, useOneAtATime } from '../../parts/send.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { Attempts } from '../deliveries/attempt.tsx'

const POLL_MS = 1_000

export function Ping({ id, isEnabled }: { id: string; isEnabled: boolean }) {
  const client = useClient()
  const { may } = useSession()
  const { keyOf, renew } = useOnceKey()
  const { start, end } = useOneAtATime()
  const [deliveryId, setDeliveryId] = useState<string>()
  const ping = useMutation({
    mutationFn: async () => await client.webhooks.test(id, { idempotencyKey: keyOf(id) }),
    onSuccess: (sent) => {
      renew()
      setDeliveryId(sent.deliveryId)
    },
    onSettled: end,
  })
  if (!may('webhooks.write')) return null
  return (
    <Part title="Ping">
      <Group gap="sm">
        <Button size="xs" loading={ping.isPending} disabled={!isEnabled} onClick={() => start(() => ping.mutate())}>
          Send a ping
        </Button>
        <Text size="sm" c="dimmed">
          {isEnabled
            ? 'An event of the type ping, signed as every other, to this endpoint alone.'
            : 'A disabled endpoint is sent nothing: enable it first.'}
        </Text>
      </Group>
      {ping.isError && <Failed error={ping.error} />}
      {deliveryId !== undefined && <Answer key={deliveryId} id={deliveryId} />}
    </Part>
  )
}

function Answer({ id }: { id: string }) {
  const client = useClient()
  const cache = useQueryClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['ping', environment, id],
    queryFn: async () => {
      const delivery = await client.webhooks.deliveries.retrieve(id)
      // The page says now how the endpoint is.
      if (hasAnswer(delivery.attempts)) await cache.invalidateQueries({ queryKey: ['endpoint-deliveries'] })
      return delivery
    },
    refetchInterval: ({ state: { data } }) =>
      (data === undefined || !hasAnswer(data.attempts)) && isActive() ? POLL_MS : false,
  })
  const isWaiting = query.data === undefined || !hasAnswer(query.data.attempts)
  return (
    <Stack gap="xs" mt="sm" aria-live="polite">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {isWaiting ? <Text size="sm">Waiting for the answer...</Text> : <Attempts delivery={query.data} />}
      <StillWaiting isPending={isWaiting} />
    </Stack>
  )
}

const hasAnswer = (attempts: readonly { finishedAt: string | null }[]) =>
  attempts.some(({ finishedAt }) => finishedAt !== null)
