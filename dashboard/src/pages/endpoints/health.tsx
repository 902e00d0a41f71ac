// Whether an endpoint accepts what it is sent; where it does not, why, and since when.

import type { Delivery, WebhookEndpoint } from '@countersign/client'
import { Alert, Badge, Text } from '@mantine/core'
import { formatTime } from '../../parts/measures.ts'
import { Time } from '../../parts/values.tsx'

export type Health = 'healthy' | 'unproven' | 'failing' | 'disabled'

export function healthOf({ status, circuit, lastSuccessAt }: WebhookEndpoint): Health {
  if (status === 'disabled') return 'disabled'
  if (circuit.status !== 'closed') return 'failing'
  return lastSuccessAt === null ? 'unproven' : 'healthy'
}

const MARKS: Record<Health, { color: string; text: string }> = {
  healthy: { color: 'green', text: 'healthy' },
  unproven: { color: 'gray', text: 'accepted nothing yet' },
  failing: { color: 'red', text: 'failing' },
  disabled: { color: 'red', text: 'disabled' },
}

export function HealthMark({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { color, text } = MARKS[healthOf(endpoint)]
  return (
    <Badge color={color} variant="dot" tt="none">
      {text}
    </Badge>
  )
}

const DISABLED: Record<string, string> = {
  gone: 'It answered 410 Gone: it asked not to be sent anything any more.',
  failing: 'It accepted nothing for five days.',
  manual: 'A person or a key of the account disabled it.',
}

/** @param last The newest delivery that was tried and not accepted. */
export function Why({ endpoint, last }: { endpoint: WebhookEndpoint; last: Delivery | undefined }) {
  const { circuit, disabledAt, disabledReason } = endpoint
  const health = healthOf(endpoint)
  if (health === 'healthy' || health === 'unproven') return null
  const cause = last === undefined ? undefined : causeOf(last)
  return (
    <Alert color="red" title={health === 'disabled' ? 'It is disabled, and is sent nothing' : 'It accepts nothing'}>
      <Text size="sm" component="div">
        {health === 'disabled' ? (
          <>
            Since <Time at={disabledAt} />. {DISABLED[disabledReason ?? ''] ?? disabledReason}
          </>
        ) : (
          <>
            Since <Time at={circuit.openedAt} />. Deliveries wait, and use no attempts;{' '}
            {circuit.probeAt === null
              ? 'the next one is tried now.'
              : `the next one is tried ${formatTime(circuit.probeAt)}.`}
          </>
        )}
      </Text>
      {cause !== undefined && <Text size="sm">The last attempt: {cause}</Text>}
    </Alert>
  )
}

/** What was wrong with the last attempt of a delivery; undefined where it was accepted, or has not ended. */
export function causeOf({ attempts, status }: Delivery): string | undefined {
  const last = attempts.at(-1)
  if (status === 'delivered' || last === undefined) return undefined
  if (last.responseStatus !== null) return `it answered ${last.responseStatus}.`
  return last.error === null ? undefined : `${last.error.replaceAll('_', ' ')}. ${last.errorDetail ?? ''}`.trim()
}
