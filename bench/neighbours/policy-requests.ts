// Requests of the honest tenant about its policy: a small one, as most accounts have.

import type { Ask } from './steady.ts'

const DOCUMENT = {
  rules: [
    {
      id: 'wire-over-10k',
      when: {
        all: [
          { field: 'action_type', op: 'eq', value: 'wire' },
          { field: 'context.transaction_amount', op: 'gt', value: 10_000 },
        ],
      },
      require: { hardware: true },
    },
    {
      id: 'known-countries-only',
      when: { field: 'action_payload.country', op: 'not_in', value: ['DE', 'FR'] },
      require: { deny: true },
    },
  ],
}
const INPUT = { action_type: 'wire', action_payload: { country: 'DE', amount: '12000.00' } }
const ANY = { 'If-Match': '*', 'Content-Type': 'application/json' }

interface Asking {
  get(path: string): Ask
  send(method: 'POST' | 'PUT', path: string, body: unknown, more?: Partial<Ask>): Ask
}

export function policyRequests({ get, send }: Asking): Record<string, () => Ask> {
  return {
    'GET /v1/policy': () => get('/v1/policy'),
    'PUT /v1/policy': () => send('PUT', '/v1/policy', { document: DOCUMENT }, { headers: ANY }),
    'GET /v1/policy/versions': () => get('/v1/policy/versions'),
    'GET /v1/policy/versions/:version': () => get('/v1/policy/versions/0'),
    'GET /v1/policy/shadow-report': () => get('/v1/policy/shadow-report'),
    'POST /v1/policy/validate': () => send('POST', '/v1/policy/validate', { document: DOCUMENT }),
    'POST /v1/policy/analyze': () => send('POST', '/v1/policy/analyze', { document: DOCUMENT }),
    'POST /v1/policy/simulate': () => send('POST', '/v1/policy/simulate', { document: DOCUMENT, input: INPUT }),
    'POST /v1/policy/replay': () => {
      const to = new Date()
      const from = new Date(to.getTime() - 60_000)
      return send('POST', '/v1/policy/replay', { document: DOCUMENT, from: from.toISOString(), to: to.toISOString() })
    },
  }
}
