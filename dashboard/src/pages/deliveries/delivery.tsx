import type { FullDelivery } from '@countersign/client'
import { Code } from '@mantine/core'
import { Id, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { Attempts } from './attempt.tsx'
import { Redeliver } from './redeliver.tsx'

const page: DetailPage<FullDelivery> = {
  kind: 'Delivery',
  name: 'deliveries',
  permission: 'webhooks.read',
  listPath: 'deliveries',
  retrieve: (client, id, signal) => client.webhooks.deliveries.retrieve(id, { signal }),
  statusOf: ({ status }) => status,
  isMoving: ({ status, nextAttemptAt }) => status === 'pending' && isSoon(nextAttemptAt),
  facts: (delivery) => [
    ['Event', <Code key="type">{delivery.eventType}</Code>],
    ['Event id', <Id key="event" id={delivery.eventId} />],
    ['Endpoint', <Id key="endpoint" id={delivery.webhookEndpointId} />],
    ['Created', <Time key="created" at={delivery.createdAt} />],
    ['Accepted', <Time key="delivered" at={delivery.deliveredAt} />],
    ['Failed', <Time key="failed" at={delivery.failedAt} />],
    ['Next attempt', <Time key="next" at={delivery.nextAttemptAt} />],
  ],
  actions: (delivery) => delivery.status !== 'pending' && <Redeliver delivery={delivery} />,
  children: (delivery) => (
    <Part title="Attempts">
      <Attempts delivery={delivery} />
    </Part>
  ),
}

export const Page = () => <Detail page={page} />

const SOON_MS = 60_000

/** Whether the next attempt is so near that the page waits for it. */
export function isSoon(nextAttemptAt: string | null): boolean {
  return nextAttemptAt === null || Date.parse(nextAttemptAt) < Date.now() + SOON_MS
}
