import { CHALLENGE, IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { refreshRequest } from './life-routes.ts'

// Shortened: no certificate is that small.
const line = {
  device_id: IDS.device,
  attestation: { format: 'android-key', challenge: CHALLENGE, chain: ['MIIB', 'MIIC', 'MIID', 'MIIE'] },
}

export const LIFE_NOTES: Record<string, Note> = {
  'GET /v1/admin/devices/counts': {
    description:
      'Counts the devices of the account and environment. `expired` devices count as not enrolled; renew certificates ' +
      'before they expire.',
    answers: {
      200: {
        example: {
          object: 'device_counts',
          total: 1204,
          by_status: { enrolled: 1180, expired: 20, revoked: 4 },
          expiring_soon: 31,
          by_hardware_tier: { none: 4, software: 0, tee: 800, strongbox: 200, secure_enclave: 200 },
        },
      },
    },
  },
  'GET /v1/admin/devices/:id/history': {
    description:
      'An entry says that the device was enrolled, renewed by a newer certificate, attested by newer evidence or ' +
      'revoked, by which key, and by whom if the caller said so. A device expires automatically at `expires_at` of ' +
      'its last enrolment or renewal.',
    answers: {
      200: {
        example: {
          object: 'list',
          data: [
            {
              kind: 'revoked',
              at: '2026-11-21T08:00:00.000Z',
              by: { type: 'key', id: 'key_test_01m7x7enn9exb9d4gh0kbvf97d', label: 'a.admin@example.com' },
              reason: 'Lost on the way home',
              detail: { effective_at: '2026-11-20T18:00:00.000Z' },
            },
          ],
          has_more: false,
          next_cursor: null,
        },
      },
    },
  },
  'POST /v1/admin/devices/attestations': {
    description:
      'One device per line; bad lines are reported and do not affect the others, and an incomplete body changes ' +
      'nothing. A publishable key may send 1,000 lines. Repeat with the same Idempotency-Key: each challenge is ' +
      'valid once.',
    bodies: {
      'application/x-ndjson': {
        schema: refreshRequest,
        isLines: true,
        examples: { 'One phone': `${JSON.stringify(line)}\n` },
      },
    },
    answers: {
      200: {
        example: {
          object: 'device_refresh',
          accepted: 1,
          rejected: [],
          devices: [{ line: 1, device_id: IDS.device, proven_tier: 'tee' }],
        },
      },
    },
  },
}
