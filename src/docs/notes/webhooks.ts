// Notes on webhook endpoints and on the service itself for the API reference.

import type { Note } from '#src/platform/http/openapi.ts'
import { IDS } from './examples.ts'

const endpoint = {
  endpoint_id: IDS.endpoint,
  url: 'https://claims.example.com/hooks',
  event_types: ['claim.provenance_updated', 'claim.escalated'],
  status: 'enabled',
  disabled_reason: null,
  last_success_at: null,
  created_at: '2026-11-20T15:00:00.000Z',
}

const delivery = {
  delivery_id: IDS.delivery,
  event_id: IDS.event,
  event_type: 'claim.escalated',
  status: 'pending',
  created_at: '2026-11-20T15:11:04.310Z',
  next_attempt_at: '2026-11-20T15:11:09.802Z',
  delivered_at: null,
  attempts: [
    {
      attempt: 1,
      started_at: '2026-11-20T15:11:04.402Z',
      finished_at: '2026-11-20T15:11:04.511Z',
      response_status: 503,
      error: null,
      duration_ms: 109,
    },
  ],
}

const keys = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'pZE0lJtuFqDq3C9y6vZS3oiRmPZFkhFGhZqXouxlfuY',
      y: 'Klxf68h2MBZUdXACGgGxA0hptCHA_8H2t5xSKg0kLUk',
      kid: 'xY5V9Gt8B5Vpb_CKveDc53w7NBiwGKvc5CNuAMCwL2M',
      alg: 'ES256',
      use: 'sig',
      env: 'sandbox',
      family: 'record',
    },
  ],
}

export const ENDPOINT_NOTES: Record<string, Note> = {
  'POST /v1/webhook-endpoints': {
    description:
      'The URL is https (in sandbox http too) at a public address, port 443, 8443 or above 1024. `event_types` are ' +
      'names of events, or `["*"]` for all. Keep `signing_secret`: it can not be read again.',
    examples: {
      'All events': { url: endpoint.url, event_types: ['*'] },
      'Changes of claims': { url: endpoint.url, event_types: endpoint.event_types },
    },
    answers: {
      200: { example: { ...endpoint, signing_secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g' } },
    },
    problems: ['conflict'],
  },
  'GET /v1/webhook-endpoints': {
    description: 'A disabled endpoint says why and stays disabled: register another.',
    answers: { 200: { example: { object: 'list', data: [endpoint], has_more: false, next_cursor: null } } },
  },
  'GET /v1/webhook-endpoints/:id': { description: 'Without its secret.', answers: { 200: { example: endpoint } } },
  'DELETE /v1/webhook-endpoints/:id': {
    description: 'Its delivery log stays readable.',
    answers: { 200: { example: { endpoint_id: IDS.endpoint, deleted: true } } },
  },
  'POST /v1/webhook-endpoints/:id/test': {
    description: 'The ping goes to this endpoint only, whatever it subscribed to.',
    answers: {
      202: {
        description: 'On its way.',
        example: { endpoint_id: IDS.endpoint, event_id: IDS.event, delivery_id: IDS.delivery },
      },
    },
    problems: ['conflict'],
  },
  'GET /v1/webhook-endpoints/:id/deliveries': {
    description: 'What was sent, what was answered, how long it took, and when the next attempt is due.',
    answers: { 200: { example: { object: 'list', data: [delivery], has_more: false, next_cursor: null } } },
  },
}

export const SERVICE_NOTES: Record<string, Note> = {
  'GET /health': {
    description: 'It does not check the database or the queues: the internal port does.',
    answers: { 200: { example: { status: 'ok' } } },
  },
  'GET /.well-known/jwks.json': {
    description:
      'Keys of `family` `record` verify `result_jws`, and stay published permanently. Cache them for 5 minutes.',
    answers: { 200: { example: keys } },
  },
  'GET /v1/jwks': { description: 'The same as /.well-known/jwks.json.', answers: { 200: { example: keys } } },
  'GET /v1/openapi.json': {
    description: 'Generated from the routes of this service.',
    answers: { 200: { example: { openapi: '3.1.1' } } },
  },
  'GET /': { description: 'For people: links to the guides, the reference and the addresses for machines.' },
  'GET /docs': { description: 'Every guide with its first sentence.' },
  'GET /docs/api-reference': { description: 'This page, if that is where you read this.' },
  'GET /docs/decisions': { description: 'One record per choice.' },
  'GET /docs/decisions/:name': { description: 'What was chosen, why, and what was not.' },
  'GET /docs/search.json': {
    description: 'Sections of the guides, error codes and operations, each with its address.',
  },
  'GET /docs/errors': { description: 'One section per code; `type` of every problem leads to its own.' },
  'GET /docs/:name': { description: 'Such as `integrate`: from a key to a verified webhook, step by step.' },
  'GET /docs/assets/:name': { description: 'Names carry the hash of what is in them.' },
}
