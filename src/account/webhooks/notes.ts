import { IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const endpoint = {
  webhook_endpoint_id: IDS.endpoint,
  url: 'https://claims.example.com/hooks',
  event_types: ['claim.provenance_updated', 'claim.escalated'],
  description: 'Claims desk',
  metadata: { team: 'claims' },
  max_per_second: 20,
  max_concurrency: 4,
  status: 'enabled',
  disabled_reason: null,
  disabled_at: null,
  circuit: { status: 'closed', opened_at: null, probe_at: null },
  last_success_at: null,
  created_at: '2026-11-20T15:00:00.000Z',
  secret_rotated_at: null,
  previous_secret_expires_at: null,
  version: 1,
}
const statistics = {
  webhook_endpoint_id: IDS.endpoint,
  window: '24h',
  from: '2026-11-19T16:00:00.000Z',
  to: '2026-11-20T15:11:00.000Z',
  attempts: 1_250,
  delivered: 1_240,
  failed: 10,
  success_rate: 0.992,
  arrival_ms: { p50: 190, p99: 5_405 },
  response_ms: { p50: 68, p99: 907 },
  pending: { count: 3, is_exact: true, oldest_created_at: '2026-11-20T15:10:58.310Z' },
}
const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g'

export const NOTES: Record<string, Note> = {
  'POST /v1/webhook-endpoints': {
    description:
      'The URL is https (in sandbox http too) at a public address, port 443, 8443 or above 1024. `event_types` are ' +
      'names of events, or `["*"]` for all. Keep `signing_secret`: it can not be read again.',
    examples: {
      'All events': { url: endpoint.url, event_types: ['*'] },
      'Changes of claims': { url: endpoint.url, event_types: endpoint.event_types },
      'With limits': {
        url: endpoint.url,
        event_types: endpoint.event_types,
        description: endpoint.description,
        metadata: endpoint.metadata,
        max_per_second: 20,
        max_concurrency: 4,
      },
    },
    answers: { 200: { example: { ...endpoint, signing_secret: SECRET } } },
    problems: ['limit_reached'],
  },
  'GET /v1/webhook-endpoints': {
    description:
      'A disabled endpoint says why, and stays disabled until you enable it. `window` adds the delivery statistics of each.',
    answers: {
      200: {
        examples: {
          'By themselves': listed(endpoint),
          'With statistics (`window=24h`)': listed({ ...endpoint, statistics }),
        },
      },
    },
  },
  'GET /v1/webhook-endpoints/:id': {
    description: 'The answer does not contain the secret.',
    answers: { 200: { example: endpoint } },
  },
  'PATCH /v1/webhook-endpoints/:id': {
    description:
      'Members that are absent keep their values; `metadata` is replaced as a whole. Disabling cancels waiting ' +
      'deliveries. An endpoint that is enabled again gets later events only.',
    examples: {
      'Another address': { url: 'https://claims.example.com/hooks/v2' },
      'Enable it again': { status: 'enabled' },
      'Slow down': { max_per_second: 5, max_concurrency: 1 },
    },
    answers: { 200: { example: { ...endpoint, version: 2 } } },
    headers: IF_MATCH,
    problems: ['precondition_failed'],
  },
  'GET /v1/webhook-endpoints/:id/stats': {
    description:
      'Covers 24 hours or 7 days: the current hour and the whole hours before it. `arrival_ms` is the time from the ' +
      'event to the 2xx, waits between attempts included; `response_ms` is the time of each call. Both are exact to ' +
      '10 %. Attempts are counted when they end, so that the answer is as fast for millions of attempts.',
    answers: {
      200: {
        example: statistics,
      },
    },
  },
  'POST /v1/webhook-endpoints/:id/rotate-secret': {
    description:
      'The current secret signs beside the new one for `grace_seconds` (0 to 604800, 86400 when absent); older ' +
      'secrets no longer sign. With 0 only the new secret signs, at once.',
    examples: { 'A day of overlap': { grace_seconds: 86_400 }, 'At once': { grace_seconds: 0 } },
    answers: {
      200: {
        example: {
          ...endpoint,
          secret_rotated_at: '2026-11-20T16:00:00.000Z',
          previous_secret_expires_at: '2026-11-21T16:00:00.000Z',
          signing_secret: SECRET,
        },
      },
    },
  },
  'DELETE /v1/webhook-endpoints/:id': {
    description: 'Its delivery log stays readable.',
    answers: { 200: { example: { webhook_endpoint_id: IDS.endpoint, deleted: true } } },
  },
  'POST /v1/webhook-endpoints/:id/test': {
    description: 'The ping goes to this endpoint only, whatever it subscribed to.',
    answers: {
      202: {
        description: 'The ping is queued.',
        example: { webhook_endpoint_id: IDS.endpoint, event_id: IDS.event, delivery_id: IDS.delivery },
      },
    },
    problems: ['conflict'],
  },
}

export const EVENTS: EventNotes = {
  ping: { example: { webhook_endpoint_id: IDS.endpoint } },
}
