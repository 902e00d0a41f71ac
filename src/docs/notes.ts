// The prose of the OpenAPI document, which guards nothing: what the features declare, and that of the service's own
// routes. test/house/openapi.test.ts compares it with the route table and with the schemas.

import type { EventNotes, Feature } from '#src/platform/feature.ts'
import type { Notes } from '#src/platform/http/openapi.ts'
import { DESCRIPTION, PURPOSE, SERVICE_NOTES, TAGS } from './service-notes.ts'
import { webhookNotes } from './webhook-notes.ts'

export function notesOf(features: readonly Pick<Feature, 'notes' | 'events'>[]): Notes {
  const events: EventNotes = Object.assign({}, ...features.map(({ events = {} }) => events))
  return {
    summary: PURPOSE,
    description: DESCRIPTION,
    tags: TAGS,
    operations: Object.assign({}, ...features.map(({ notes = {} }) => notes), SERVICE_NOTES),
    webhooks: webhookNotes(events),
  }
}
