// What an owner sets of an endpoint: what is accepted, and what the audit log says of it.

import { EVENT_TYPES, isEventType } from '#src/catalogue/events.ts'
import { QUEUES } from '#src/catalogue/queues.ts'
import { type Failure, invalidField } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import type { EndpointRow, EndpointSettings } from './rows.ts'

/** A sixteenth of what an account alone gets of a worker: a few receivers that hang leave most of it to its others. */
export const MAX_CONCURRENCY = 32
/** More than one endpoint gets from one process. */
export const MAX_PER_SECOND = 1_000

export const DEFAULTS = {
  description: '',
  metadata: {},
  maxPerSecond: null,
  maxConcurrency: QUEUES.deliver.laneCap,
} satisfies Partial<EndpointSettings>

/** Settings in a request: a member that it leaves out keeps its value, or gets its default. */
export type GivenSettings = Partial<EndpointSettings>

/** @throws {Failure} `invalid_request` at `/url`. Resolved names are checked again at each attempt. */
export function checkUrl(outbound: Pick<Outbound, 'check'>, { environment }: Scope, url: string): void {
  const parsed = outbound.check(url, environment)
  if (!parsed.ok) throw invalidField('/url', parsed.code, parsed.detail)
}

/** @throws {Failure} `invalid_request` at the wrong element of `/event_types`. */
export function checkEventTypes(types: readonly string[]): void {
  types.forEach((type, index) => {
    const pointer = `/event_types/${index}`
    if (type === '*') {
      if (types.length > 1)
        throw invalidField(pointer, 'not_alone', 'is "*", which stands for all types: send it alone')
    } else if (!isEventType(type)) {
      throw unknownType(pointer, type, [...Object.keys(EVENT_TYPES), '"*" for all'])
    } else if (types.indexOf(type) < index) {
      throw invalidField(pointer, 'duplicate', `repeats ${type}`)
    }
  })
}

export function unknownType(pointer: string, type: string, choices = Object.keys(EVENT_TYPES)): Failure {
  const detail = `is no event type (${JSON.stringify(type.slice(0, 64))}); choose from ${choices.join(', ')}`
  return invalidField(pointer, 'unknown_event_type', detail)
}

// A path or a query may contain the receiver's secret, and metadata anything.
export function auditedOf({ url, eventTypes, status, maxPerSecond, maxConcurrency }: EndpointRow) {
  return {
    origin: new URL(url).origin,
    event_types: eventTypes,
    status,
    max_per_second: maxPerSecond,
    max_concurrency: maxConcurrency,
  }
}
