import type { WebhookEndpoint } from '@countersign/client'
import { formatNumber, formatPercent } from '../../parts/measures.ts'
import { Codes, Id, Nothing, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { HealthMark } from './health.tsx'
import { CreateEndpoint } from './settings.tsx'

const page: ListPage<WebhookEndpoint> = {
  title: 'Endpoints',
  name: 'endpoints',
  permission: 'webhooks.read',
  about:
    'Addresses of yours to which the service sends events as they happen. The numbers are those of the last 24 hours.',
  list: (client, query) => client.webhooks.list({ ...(query as object), window: '24h' }),
  idOf: ({ webhookEndpointId }) => webhookEndpointId,
  pathOf: ({ webhookEndpointId }) => `endpoints/${webhookEndpointId}`,
  actions: <CreateEndpoint />,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['enabled', 'disabled'] },
    { kind: 'day', name: 'createdGte', title: 'Created from' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'url', title: 'Address', show: ({ url }) => <span style={{ overflowWrap: 'anywhere' }}>{url}</span> },
    { name: 'health', title: 'State', show: (endpoint) => <HealthMark endpoint={endpoint} /> },
    { name: 'types', title: 'Events', show: ({ eventTypes }) => <Codes values={eventTypes} /> },
    {
      name: 'attempts',
      title: 'Attempts',
      isNumber: true,
      show: ({ statistics }) => formatNumber(statistics?.attempts ?? 0),
    },
    {
      name: 'accepted',
      title: 'Accepted',
      isNumber: true,
      show: ({ statistics }) => (statistics?.successRate == null ? <Nothing /> : formatPercent(statistics.successRate)),
    },
    {
      name: 'pending',
      title: 'Waiting',
      isNumber: true,
      show: ({ statistics: { pending } = {} }) =>
        `${formatNumber(pending?.count ?? 0)}${pending?.isExact === false ? '+' : ''}`,
    },
    { name: 'success', title: 'Last accepted', show: ({ lastSuccessAt }) => <Time at={lastSuccessAt} /> },
    { name: 'created', title: 'Created', isHidden: true, show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ webhookEndpointId }) => <Id id={webhookEndpointId} /> },
  ],
  empty: {
    sentence: 'An endpoint is an address of yours that takes POST requests. Its signing secret is shown once.',
    curl: `curl {base_url}/v1/webhook-endpoints -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"url": "https://example.com/webhooks", "event_types": ["*"]}'`,
  },
}

export const Page = () => <List page={page} />
