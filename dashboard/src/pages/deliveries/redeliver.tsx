// Sends a delivery again now: one press, as nothing is lost by it.

import type { Delivery } from '@countersign/client'
import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useOnceKey, useOneAtATime } from '../../parts/send.tsx'

interface RedeliverProps {
  delivery: Pick<Delivery, 'deliveryId' | 'webhookEndpointId'>
  isSmall?: boolean
}

export function Redeliver({ delivery: { deliveryId, webhookEndpointId }, isSmall = false }: RedeliverProps) {
  const client = useClient()
  const { may } = useSession()
  const cache = useQueryClient()
  const { keyOf, renew } = useOnceKey()
  const { start, end } = useOneAtATime()
  const send = useMutation({
    mutationFn: async () =>
      await client.webhooks.deliveries.redeliver(webhookEndpointId, deliveryId, { idempotencyKey: keyOf(deliveryId) }),
    onSuccess: async () => {
      renew()
      await cache.invalidateQueries()
    },
    onSettled: end,
  })
  if (!may('webhooks.write')) return null
  return (
    <>
      <Button
        size={isSmall ? 'compact-xs' : 'xs'}
        variant={isSmall ? 'default' : 'filled'}
        loading={send.isPending}
        onClick={() => start(() => send.mutate())}
      >
        Send again
      </Button>
      {send.isError && <Failed error={send.error} />}
    </>
  )
}
