import type { EventConsumer } from '@countersign/client'
import { Badge } from '@mantine/core'
import { Act } from '../../parts/act.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { Num, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<EventConsumer> = {
  title: 'Consumers',
  name: 'consumers',
  permission: 'webhooks.read',
  about: 'Programs that pull events in their order, in place of an endpoint: how far each has read.',
  list: (client, query) => client.events.consumers.list(query as object),
  idOf: ({ name }) => name,
  columns: [
    { name: 'name', title: 'Name', show: ({ name }) => name },
    { name: 'position', title: 'Position', isNumber: true, show: ({ position }) => <Num value={position} /> },
    { name: 'latest', title: 'Newest event', isNumber: true, show: ({ latest }) => <Num value={latest} /> },
    { name: 'lag', title: 'Behind by', isNumber: true, show: ({ lag }) => <Num value={lag} /> },
    { name: 'oldest', title: 'Oldest unread', show: ({ oldestUnreadCreatedAt: at }) => <Time at={at} /> },
    { name: 'missed', title: 'Missed', isNumber: true, show: ({ missed }) => <Missed count={missed} /> },
    { name: 'reported', title: 'Last report', show: ({ acknowledgedAt }) => <Time at={acknowledgedAt} /> },
    { name: 'created', title: 'Created', isHidden: true, show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  rowActions: ({ name, lag }) => (
    <Act
      title="Delete"
      permission="webhooks.write"
      name={`consumer.${name}`}
      isSmall
      isDangerous
      about={`The position of “${name}” is forgotten: it would begin again with the oldest event. ${formatNumber(lag)} events wait for it. Events stay.`}
      send={(client, _, options) => client.events.consumers.delete(name, options)}
    />
  ),
  empty: {
    sentence: 'A consumer begins with the first position that a program stores.',
    curl: `curl -X PUT {base_url}/v1/event-consumers/billing -H 'Authorization: Bearer <API_KEY>' && curl '{base_url}/v1/events/pull?consumer=billing&wait=30' -H 'Authorization: Bearer <API_KEY>'`,
  },
}

export const Page = () => <List page={page} />

/** Events that were deleted before the consumer read them. */
function Missed({ count }: { count: number }) {
  return count === 0 ? <span>0</span> : <Badge color="red">{formatNumber(count)}</Badge>
}
