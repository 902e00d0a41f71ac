import { CHALLENGE, DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { certificate } from '../trust/notes.ts'
import { enrollRequest } from './routes.ts'

const device = {
  device_id: IDS.device,
  name: 'Phone 1',
  status: 'enrolled',
  hardware_tier: 'none',
  hardware: null,
  certificate,
  spki_sha256: DIGEST,
  enrolled_at: '2026-11-20T15:00:00.000Z',
  expires_at: certificate.not_after,
  revoked_at: null,
  revoke_effective_at: null,
  revoke_reason: null,
}

const provenDevice = {
  ...device,
  hardware_tier: 'tee',
  hardware: {
    format: 'android-key',
    proven_tier: 'tee',
    reasons: [],
    android: {
      security_level: 'tee',
      attestation_version: 300,
      keymint_version: 300,
      provisioning: 'remote',
      boot_state: 'verified',
      device_locked: true,
      os_version: 160000,
      os_patch_level: '2026-10',
      vendor_patch_level: '2026-10-05',
      boot_patch_level: '2026-10-05',
      os_patch_age_days: 50,
      user_authentication: 'biometric',
      auth_timeout_seconds: null,
      packages: [{ name: 'com.example.claims', version: 12 }],
      signing_digests: [DIGEST],
      brand: 'google',
      model: 'Pixel 8a',
    },
    apple: null,
    verified_at: '2026-11-20T15:00:00.000Z',
    revocation: { status: 'good', list_fetched_at: '2026-11-20T14:30:00.000Z', serial: null, listed_as: null },
  },
}

export const NOTES: Record<string, Note> = {
  'POST /v1/admin/devices': {
    description:
      '`certificate_chain` is base64 of DER, leaf first, without the root. The same key again is the same device. ' +
      '`attestation` is evidence of the key’s hardware: what does not verify leaves a device of tier `none` that ' +
      'says why.',
    // Shortened: no certificate is that small.
    examples: { 'One device': { name: 'Phone 1', certificate_chain: ['MIIB'] } },
    answers: { 200: { example: device } },
    problems: ['device_revoked'],
  },
  'POST /v1/admin/devices/batches': {
    description:
      'Each line is a body of `POST /v1/admin/devices`. Bad lines are reported and do not affect the others; with a ' +
      'publishable key 1,000 lines. An interrupted upload stores nothing.',
    bodies: {
      'application/x-ndjson': {
        schema: enrollRequest,
        isLines: true,
        examples: {
          'Two devices': '{"name":"Phone 1","certificate_chain":["MIIB"]}\n{"certificate_chain":["MIIC"]}\n',
        },
      },
    },
    answers: {
      200: {
        example: {
          object: 'device_batch',
          accepted: 1,
          rejected: [
            {
              line: 2,
              errors: [
                {
                  pointer: '/certificate_chain',
                  code: 'unknown_ca',
                  detail: 'leads to no root CA: none is registered yet (POST /v1/admin/root-cas)',
                },
              ],
            },
          ],
          devices: [{ line: 1, device_id: IDS.device }],
        },
      },
    },
  },
  'POST /v1/admin/devices/challenges': {
    description:
      'Hardware evidence must contain one: 32 bytes in base64url, each valid once and for a day. See the guide to ' +
      'hardware evidence, docs/attest/hardware.md.',
    examples: { 'For two phones': { count: 2 } },
    answers: {
      200: {
        example: {
          challenges: [
            {
              challenge_id: IDS.challenge,
              challenge: CHALLENGE,
              expires_at: '2026-11-21T15:00:00.000Z',
            },
          ],
        },
      },
    },
  },
  'POST /v1/admin/devices/:id/attestation': {
    description:
      'Newer evidence replaces the stored one, whether the tier rises or falls. Evidence that is not about this ' +
      'device is refused and changes nothing; the errors say why.',
    // Shortened: no certificate is that small.
    examples: {
      Android: { format: 'android-key', challenge: CHALLENGE, chain: ['MIIB', 'MIIC', 'MIID', 'MIIE'] },
      iOS: { format: 'apple-appattest', challenge: CHALLENGE, object: 'o2Nm' },
    },
    answers: { 200: { example: provenDevice } },
    problems: ['device_revoked'],
  },
  'GET /v1/admin/devices': {
    description:
      'A device must match all filters; of several statuses, any. `expired`: the certificate has expired, and the device ' +
      'counts as not enrolled. `status=enrolled` with `expires_lt`, `order_by=expires` and `order=asc` are those to renew, ' +
      'the most urgent first.',
    answers: { 200: { example: listed(device) } },
  },
  'GET /v1/admin/devices/:id': {
    description: 'With its certificate and what the server knows of its hardware.',
    answers: { 200: { example: provenDevice } },
  },
  'PATCH /v1/admin/devices/:id': {
    description: 'The name is for people, and no result depends on it. A repeat changes nothing.',
    examples: { 'Another name': { name: 'Phone of the Berlin office' }, 'No name': { name: null } },
    answers: { 200: { example: { ...device, name: 'Phone of the Berlin office' } } },
  },
  'POST /v1/admin/devices/:id/revoke': {
    description:
      'New captures of the device raise `device_revoked` from now on, whatever their time. Those that were ' +
      'accepted at or after `effective_at` are re-evaluated: see `GET /v1/account/reevaluations`. Its key can not ' +
      'be enrolled again. A repeat changes nothing.',
    examples: { 'A lost phone': { reason: 'Lost on the way home', effective_at: '2026-11-20T18:00:00Z' } },
    answers: {
      200: {
        example: {
          ...device,
          status: 'revoked',
          revoked_at: '2026-11-21T08:00:00.000Z',
          revoke_effective_at: '2026-11-20T18:00:00.000Z',
          revoke_reason: 'Lost on the way home',
        },
      },
    },
    problems: ['invalid_state_transition'],
  },
}
