// Notes on media, devices and their anchors of trust for the API reference.

import { enrollRequest } from '#src/attest/devices/routes.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IDS, listed } from './examples.ts'

const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const media = {
  media_id: IDS.media,
  sha256: DIGEST,
  size: 204811,
  content_type: 'image/jpeg',
  width: 4032,
  height: 3024,
  created_at: '2026-11-20T15:11:02.000Z',
}

const certificate = {
  subject: 'CN=Phone 1',
  serial: '4f0a1c2b3d4e5f60718293a4b5c6d7e8',
  not_before: '2026-11-20T00:00:00.000Z',
  not_after: '2027-11-20T00:00:00.000Z',
  fingerprint: DIGEST,
}

const device = {
  device_id: IDS.device,
  name: 'Phone 1',
  state: 'enrolled',
  hardware_tier: 'none',
  hardware: null,
  certificate,
  spki_sha256: DIGEST,
  enrolled_at: '2026-11-20T15:00:00.000Z',
  revoked_at: null,
  revoke_effective_at: null,
  revoke_reason: null,
}

const CHALLENGE = 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s'

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
    revocation: { state: 'good', list_fetched_at: '2026-11-20T14:30:00.000Z', serial: null, status: null },
  },
}

const pem = '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n'

const rootCa = {
  root_ca_id: IDS.rootCa,
  name: 'Our phones',
  certificate: { ...certificate, subject: 'CN=Our phones', pem },
  created_at: '2026-11-20T15:00:00.000Z',
}

const anchor = {
  c2pa_anchor_id: IDS.anchor,
  name: 'Cameras of our assessors',
  certificate: { ...certificate, subject: 'CN=Cameras of our assessors', pem },
  created_at: '2026-11-20T15:00:00.000Z',
}

const MEDIA: Record<string, Note> = {
  'POST /v1/media': {
    description:
      'The raw bytes as the body. The content type is detected from the bytes and must agree. Uploading the same ' +
      'bytes again answers the same `media_id`. Unreferenced media are deleted after 7 days.',
    headers: { 'Content-Digest': '`sha-256=:<base64>:` (RFC 9530): compared with what arrives.' },
    answers: { 200: { example: media } },
  },
  'GET /v1/media/:id': {
    description: 'Byte for byte as it was uploaded, as an attachment. Its ETag is the SHA-256 in hex.',
    headers: {
      Range: '`bytes=0-1023`: one range (RFC 9110 14.2).',
      'If-Range': 'An ETag: the range only counts while it is the same.',
    },
    answers: {
      200: { description: 'All of it.', headers: { 'Accept-Ranges': '`bytes`.' } },
      206: { description: 'The range.', headers: { 'Content-Range': 'Which part of how many bytes this is.' } },
    },
    problems: ['range_not_satisfiable'],
  },
  'GET /v1/media/:id/thumbnail': {
    description:
      'Made at the first request. 404 where the pixels can not be read here (HEIC), or not within 8 s and 768 MB. An ' +
      'account has one picture decoded at a time: with 64 more waiting it is 503 with `Retry-After`.',
  },
}

const DEVICES: Record<string, Note> = {
  'POST /v1/admin/devices': {
    description:
      '`certificate_chain` is base64 of DER, leaf first, without the root. The same key again is the same device. ' +
      'As NDJSON, bad lines are reported and do not affect the others; with a publishable key 1,000 lines. ' +
      '`attestation` is evidence of the key’s hardware: what does not verify leaves a device of tier `none` that ' +
      'says why.',
    bodies: {
      'application/json': {
        schema: enrollRequest,
        // Shortened: no certificate is that small.
        examples: { 'One device': { name: 'Phone 1', certificate_chain: ['MIIB'] } },
      },
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
        examples: {
          'One device': device,
          'Two lines, of which one is refused': {
            object: 'device_import',
            accepted: 1,
            rejected: [
              {
                line: 2,
                errors: [
                  {
                    pointer: '/certificate_chain',
                    code: 'unknown_ca',
                    detail: 'no root CA is registered yet: see POST /v1/admin/root-cas',
                  },
                ],
              },
            ],
            devices: [{ line: 1, device_id: IDS.device }],
          },
        },
      },
    },
    problems: ['conflict'],
  },
  'POST /v1/admin/devices/challenges': {
    description:
      'Hardware evidence must contain one: 32 bytes in base64url, each valid once and for a day. See the guide to ' +
      'hardware evidence, docs/hardware.md.',
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
    problems: ['conflict'],
  },
  'GET /v1/admin/devices': {
    description: '`expired`: the certificate has expired, and the device counts as not enrolled.',
    answers: { 200: { example: listed(device) } },
  },
  'GET /v1/admin/devices/:id': {
    description: 'With its certificate and what the server knows of its hardware.',
    answers: { 200: { example: provenDevice } },
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
          state: 'revoked',
          revoked_at: '2026-11-21T08:00:00.000Z',
          revoke_effective_at: '2026-11-20T18:00:00.000Z',
          revoke_reason: 'Lost on the way home',
        },
      },
    },
    problems: ['invalid_state_transition'],
  },
  'POST /v1/admin/root-cas': {
    description: 'Chains of devices must lead to one of these, or their captures raise `cert_unknown_ca`.',
    examples: {
      'PEM, shortened': {
        name: 'Our phones',
        certificate: pem,
      },
    },
    answers: { 200: { example: rootCa } },
    problems: ['conflict'],
  },
  'GET /v1/admin/root-cas': {
    description: 'Each with its certificate in PEM.',
    answers: { 200: { example: listed(rootCa) } },
  },
  'GET /v1/admin/root-cas/:id': {
    description: 'With its certificate in PEM.',
    answers: { 200: { example: rootCa } },
  },
  'DELETE /v1/admin/root-cas/:id': {
    description: 'What was evaluated before stays as it is.',
    answers: { 200: { example: { id: IDS.rootCa, deleted: true } } },
  },
  'POST /v1/admin/c2pa-anchors': {
    description: 'Manifests whose signer leads to one of these, or to one of the deployment’s own, are `trusted`.',
    examples: {
      'PEM, shortened': {
        name: 'Cameras of our assessors',
        certificate: pem,
      },
    },
    answers: { 200: { example: anchor } },
    problems: ['conflict'],
  },
  'GET /v1/admin/c2pa-anchors': {
    description: 'Each with its certificate in PEM. The deployment’s own are not among them.',
    answers: { 200: { example: listed(anchor) } },
  },
  'GET /v1/admin/c2pa-anchors/:id': {
    description: 'With its certificate in PEM.',
    answers: { 200: { example: anchor } },
  },
  'DELETE /v1/admin/c2pa-anchors/:id': {
    description: 'What was evaluated before stays as it is.',
    answers: { 200: { example: { id: IDS.anchor, deleted: true } } },
  },
}

export const DEVICE_NOTES: Record<string, Note> = { ...MEDIA, ...DEVICES }
