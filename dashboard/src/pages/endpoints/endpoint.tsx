// One endpoint: whether it accepts what it is sent, or why not and since when; each attempt with request and answer; a ping,
// a recovery, its secrets, and a check of signatures.

import type { WebhookEndpoint, WebhookEndpointStatistics } from '@countersign/client'
import { SegmentedControl, Skeleton, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber, formatPercent, formatSeconds } from '../../parts/measures.ts'
import { Codes, Nothing, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, type Fact, Facts, Part } from '../../recipe/detail-page.tsx'
import { HealthMark, Why } from './health.tsx'
import { Log, useLastFailure } from './log.tsx'
import { Ping } from './ping.tsx'
import { Recoveries } from './recoveries.tsx'
import { Settings } from './settings.tsx'
import { VerifySignature } from './verify.tsx'

const page: DetailPage<WebhookEndpoint> = {
  kind: 'Endpoint',
  name: 'endpoints',
  permission: 'webhooks.read',
  listPath: 'endpoints',
  retrieve: (client, id, signal) => client.webhooks.retrieve(id, { signal }),
  titleOf: ({ url }) => url,
  facts: (endpoint) => [
    ['State', <HealthMark key="health" endpoint={endpoint} />],
    ['Last accepted', <Time key="success" at={endpoint.lastSuccessAt} />],
    ['Events', <Codes key="types" values={endpoint.eventTypes} />],
    ['Description', endpoint.description === '' ? <Nothing key="none" /> : endpoint.description],
    ['Most at once', formatNumber(endpoint.maxConcurrency)],
    ['Most per second', endpoint.maxPerSecond === null ? 'no limit of its own' : formatNumber(endpoint.maxPerSecond)],
    ['Created', <Time key="created" at={endpoint.createdAt} />],
    ...secretsOf(endpoint),
  ],
  actions: (endpoint) => <Settings endpoint={endpoint} />,
  children: (endpoint) => (
    <>
      <WhyNot endpoint={endpoint} />
      <Numbers id={endpoint.webhookEndpointId} />
      <Ping id={endpoint.webhookEndpointId} isEnabled={endpoint.status === 'enabled'} />
      <Log id={endpoint.webhookEndpointId} />
      <Recoveries id={endpoint.webhookEndpointId} isEnabled={endpoint.status === 'enabled'} />
      <VerifySignature />
    </>
  ),
}

export const Page = () => <Detail page={page} />

/** The age of the secret, and what is left of the one before. */
function secretsOf({ secretRotatedAt, createdAt, previousSecretExpiresAt }: WebhookEndpoint): Fact[] {
  const facts: Fact[] = [
    [
      'Signing secret',
      <span key="secret">
        made <Time at={secretRotatedAt ?? createdAt} />
      </span>,
    ],
  ]
  if (previousSecretExpiresAt !== null) {
    facts.push([
      'Previous secret',
      <span key="previous">
        signs as well for another <Countdown until={previousSecretExpiresAt} />
      </span>,
    ])
  }
  return facts
}

function WhyNot({ endpoint }: { endpoint: WebhookEndpoint }) {
  const last = useLastFailure(endpoint.webhookEndpointId)
  return <Why endpoint={endpoint} last={last} />
}

const WINDOWS = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
] as const
type Window = (typeof WINDOWS)[number]['value']

function Numbers({ id }: { id: string }) {
  const client = useClient()
  const { environment } = useSession()
  const [window, setWindow] = useState<Window>('24h')
  const query = useQuery({
    queryKey: ['endpoint-statistics', environment, id, window],
    queryFn: () => client.webhooks.stats.retrieve(id, { window }),
    placeholderData: keepPreviousData,
  })
  return (
    <Part title="Numbers">
      <SegmentedControl
        size="xs"
        mb="xs"
        aria-label="Period"
        value={window}
        data={[...WINDOWS]}
        onChange={(chosen) => setWindow(chosen as Window)}
      />
      {query.isPending && <Skeleton height={150} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data !== undefined && <Facts facts={numbersOf(query.data)} />}
    </Part>
  )
}

function numbersOf({
  attempts,
  failed,
  successRate,
  arrivalMs,
  responseMs,
  pending,
}: WebhookEndpointStatistics): Fact[] {
  return [
    ['Attempts', formatNumber(attempts)],
    ['Not accepted', formatNumber(failed)],
    ['Accepted', successRate === null ? <Nothing key="none" /> : formatPercent(successRate)],
    ['Event to arrival', <Quantiles key="arrival" {...arrivalMs} />],
    ['Request to answer', <Quantiles key="response" {...responseMs} />],
    [
      'Waiting',
      <Text key="waiting" size="sm" span>
        {formatNumber(pending.count)}
        {!pending.isExact && ' or more'}
        {pending.oldestCreatedAt !== null && (
          <>
            , the oldest <Time at={pending.oldestCreatedAt} />
          </>
        )}
      </Text>,
    ],
  ]
}

function Quantiles({ p50, p99 }: { p50: number | null; p99: number | null }) {
  if (p50 === null || p99 === null) return <Nothing />
  return (
    <span>
      half within {formatSeconds(p50 / 1_000)}, 99 % within {formatSeconds(p99 / 1_000)}
    </span>
  )
}
