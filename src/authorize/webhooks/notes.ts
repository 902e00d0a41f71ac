import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const state = {
  rotated_at: '2026-11-20T15:00:00.000Z',
  rotated_by: { type: 'key', id: IDS.key, label: 'deployments' },
  previous_expires_at: '2026-11-21T15:00:00.000Z',
}

export const NOTES: Record<string, Note> = {
  'GET /v1/policy/webhook-secret': {
    description: 'Each environment of an account has its own secret. The secret itself can not be read.',
    answers: { 200: { example: state } },
  },
  'POST /v1/policy/webhook-secret/rotate': {
    description:
      'The first call makes the first secret: until then no webhook is called, and each webhook rule that matches ' +
      'denies with `policy_webhook_unavailable`. The previous secret signs as well for `grace_seconds` (24 hours when ' +
      'absent), so that receivers can be changed one after the other; another rotation ends it at once.',
    examples: { 'An hour for both': { grace_seconds: 3_600 } },
    answers: { 200: { example: { ...state, secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g' } } },
  },
}
