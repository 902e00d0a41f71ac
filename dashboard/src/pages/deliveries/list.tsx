import type { Delivery } from '@countersign/client'
import { Code } from '@mantine/core'
import { formatNumber, formatSeconds } from '../../parts/measures.ts'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { useEventTypes } from '../events/types.ts'
import { answerOf } from './attempt.tsx'
import { Redeliver } from './redeliver.tsx'

const page: ListPage<Delivery> = {
  title: 'Deliveries',
  name: 'deliveries',
  permission: 'webhooks.read',
  about: 'What was sent to your endpoints, and what they answered.',
  list: (client, query) => client.webhooks.deliveries.list(query as object),
  idOf: ({ deliveryId }) => deliveryId,
  pathOf: ({ deliveryId }) => `deliveries/${deliveryId}`,
  columns: [
    { name: 'created', title: 'Created', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'type', title: 'Event', show: ({ eventType }) => <Code>{eventType}</Code> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'answer', title: 'Last answer', show: (delivery) => <LastAnswer delivery={delivery} /> },
    { name: 'attempts', title: 'Attempts', isNumber: true, show: ({ attempts }) => formatNumber(attempts.length) },
    { name: 'duration', title: 'Took', isNumber: true, show: (delivery) => <Duration delivery={delivery} /> },
    { name: 'next', title: 'Next attempt', show: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
    { name: 'endpoint', title: 'Endpoint', show: ({ webhookEndpointId }) => <Id id={webhookEndpointId} /> },
    { name: 'event', title: 'Event id', isHidden: true, show: ({ eventId }) => <Id id={eventId} /> },
    { name: 'id', title: 'Id', show: ({ deliveryId }) => <Id id={deliveryId} /> },
  ],
  rowActions: (delivery) => delivery.status !== 'pending' && <Redeliver delivery={delivery} isSmall />,
  empty: { sentence: 'A delivery begins with an event that one of your endpoints takes.' },
}

export function Page() {
  const types = useEventTypes()
  const filters: ListPage<Delivery>['filters'] = [
    { kind: 'choices', name: 'status', title: 'State', values: ['pending', 'delivered', 'failed', 'cancelled'] },
    { kind: 'choices', name: 'eventType', title: 'Event', values: types },
    { kind: 'text', name: 'webhookEndpointId', title: 'Endpoint' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ]
  return <List page={{ ...page, filters }} />
}

export function LastAnswer({ delivery: { attempts } }: { delivery: Pick<Delivery, 'attempts'> }) {
  const last = attempts.at(-1)
  return last === undefined ? <Nothing /> : <span>{answerOf(last)}</span>
}

export function Duration({ delivery: { attempts } }: { delivery: Pick<Delivery, 'attempts'> }) {
  const duration = attempts.at(-1)?.durationMs
  return duration == null ? <Nothing /> : <span>{formatSeconds(duration / 1_000)}</span>
}
