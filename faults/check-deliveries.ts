// I4 and I5: what receivers got, compared with what they should have got.

import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import type { Finding } from './check.ts'
import { scopeOf } from './check-intake.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'
import type { Endpoint, Received } from './journal.ts'

/** What it reads. */
export type DeliveryEvidence = Pick<Evidence, 'events' | 'endpoints' | 'deliveries' | 'received' | 'acknowledged'>

export function checkDeliveries(evidence: DeliveryEvidence): Finding[] {
  return [
    ...checkAttempts(evidence).map((what): Finding => ({ invariant: 'I4', what })),
    ...checkSignatures(evidence).map((what): Finding => ({ invariant: 'I5', what })),
  ]
}

function checkAttempts({ events, endpoints, deliveries, received, acknowledged }: DeliveryEvidence): string[] {
  const wrong: string[] = []
  const rows = new Map(deliveries.map((row) => [`${row.eventId} ${row.endpointId}`, row]))
  const receptions = groupBy(received, pairOf)
  const statuses = new Map(acknowledged.map(({ n, status }) => [n, status]))
  const byScope = groupBy(endpoints, scopeOf)
  for (const { id, scope, type } of events) {
    for (const { endpointId, receiver, eventTypes } of byScope.get(scope) ?? []) {
      if (!eventTypes.includes(type)) continue
      const row = rows.get(`${id} ${endpointId}`)
      const seen = receptions.get(`${id} ${receiver}`) ?? []
      const isTaken = seen.some(({ n }) => isSuccess(statuses.get(n)))
      if (row === undefined) wrong.push(`${id} has no delivery to ${receiver}`)
      else if (seen.length === 0 && row.status !== 'failed')
        wrong.push(`${id} is ${row.status} and never came to ${receiver}`)
      else if (row.attempts === 0) wrong.push(`${id} was never tried at ${receiver}`)
      else if (row.status === 'delivered' && !isTaken)
        wrong.push(`${id} counts as delivered, and ${receiver} never took it`)
      else if (row.status !== 'delivered' && row.status !== 'failed')
        wrong.push(`${id} to ${receiver} is ${row.status}`)
    }
  }
  const wanted = new Map(endpoints.map((endpoint) => [endpoint.endpointId, endpoint]))
  const types = new Map(events.map(({ id, type }) => [id, type]))
  for (const { id, eventId, endpointId } of deliveries) {
    const endpoint = wanted.get(endpointId)
    if (endpoint !== undefined && !endpoint.eventTypes.includes(types.get(eventId) ?? '')) {
      wrong.push(`${id} goes to ${endpoint.receiver}, which did not ask for it`)
    }
  }
  return wrong
}

function checkSignatures({ endpoints, received }: DeliveryEvidence): string[] {
  const byReceiver = new Map<string, Endpoint>(endpoints.map((endpoint) => [endpoint.receiver, endpoint]))
  return received.flatMap(({ receiver, headers, body, at }) => {
    const endpoint = byReceiver.get(receiver)
    if (endpoint === undefined) return [`something was sent to ${receiver}, which is no endpoint`]
    const verdict = verifyWebhookSignature(
      { rawBody: Buffer.from(body), headers },
      [endpoint.secret],
      Math.floor(at / 1_000),
    )
    return verdict.valid ? [] : [`${headers['service-delivery-id']} at ${receiver}: ${verdict.reason}`]
  })
}

/** Deliveries that came although the receiver had accepted the same event before, and how many it accepted in total. */
export function countDuplicates({ received, acknowledged }: Pick<Evidence, 'received' | 'acknowledged'>): {
  taken: number
  duplicates: number
} {
  const ends = new Map(acknowledged.map(({ n, at, status }) => [n, { at, status }]))
  let taken = 0
  let duplicates = 0
  for (const receptions of groupBy(received, pairOf).values()) {
    const takenAt = receptions.flatMap(({ n }) => {
      const end = ends.get(n)
      return end !== undefined && isSuccess(end.status) ? [end.at] : []
    })
    if (takenAt.length === 0) continue
    taken += 1
    duplicates += receptions.filter(({ at }) => at > Math.min(...takenAt)).length
  }
  return { taken, duplicates }
}

function pairOf({ headers, receiver }: Received): string {
  return `${headers['service-event-id']} ${receiver}`
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}
