import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { createConsumers } from './consumers.ts'
import { createEvents } from './events.ts'
import { NOTES } from './notes.ts'
import { eventRoutes } from './routes.ts'
import { findMoved } from './rows.ts'

export type EventsFeature = ReturnType<typeof eventsFeature>

/** Events by pull, for receivers that take no webhooks, and the positions of those that read them. */
export function eventsFeature(p: Platform) {
  const waits = createPolledWaits({ db: p.db, reason: 'awaited events', find: findMoved })
  p.onClose(waits.close, 'waits for events')
  const events = createEvents({ ...p, waits })
  const consumers = createConsumers(p)
  return defineFeature(
    {
      name: 'events',
      data: [{ table: 'event_consumers', key: ['name'] }],
      routes: eventRoutes(events, consumers),
      notes: NOTES,
    },
    { events, consumers },
  )
}
