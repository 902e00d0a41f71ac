// What a reader wants to know of media, devices, webhook endpoints and the service beyond what guards their routes.

import { enrollRequest } from '#src/attest/devices/routes.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IDS } from './attest.ts'

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

const endpoint = {
  endpoint_id: IDS.endpoint,
  url: 'https://claims.example.com/hooks',
  event_types: ['claim.provenance_updated', 'claim.escalated'],
  status: 'enabled',
  disabled_reason: null,
  last_success_at: null,
  created_at: '2026-11-20T15:00:00.000Z',
}

const MEDIA: Record<string, Note> = {
  'POST /v1/media': {
    description:
      'The bytes as they are, nothing around them. The content type is looked up in the bytes and must agree. Uploading ' +
      'the same bytes again answers the same `media_id`. Media that nothing refers to go after 7 days.',
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
    problems: [416],
  },
  'GET /v1/media/:id/thumbnail': {
    description:
      'Made when it is first asked for. 404 where the pixels can not be read here (HEIC), or not within 8 s and 768 MB. An ' +
      'account has one picture decoded at a time: with 64 more waiting it is 503 with `Retry-After`.',
  },
}

const DEVICES: Record<string, Note> = {
  'POST /v1/admin/devices': {
    description:
      '`certificate_chain` is base64 of DER, leaf first, without the root. The same key again is the same device. As ' +
      'NDJSON, bad lines are reported and cost the others nothing; with a publishable key 1,000 lines. `attestation` is ' +
      'evidence of the key’s hardware: what does not verify leaves a device of tier `none` that says why.',
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
    answers: { 200: { example: device } },
  },
  'POST /v1/admin/devices/challenges': {
    description:
      'What hardware evidence must answer: 32 bytes in base64url, each good once and for a day. See the guide to hardware ' +
      'evidence, docs/hardware.md.',
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
      'Newer evidence replaces what was known, for better and for worse. What proves nothing about this very device is ' +
      'refused and changes nothing; the errors say why.',
    // Shortened: no certificate is that small.
    examples: {
      Android: { format: 'android-key', challenge: CHALLENGE, chain: ['MIIB', 'MIIC', 'MIID', 'MIIE'] },
      iOS: { format: 'apple-appattest', challenge: CHALLENGE, object: 'o2Nm' },
    },
    answers: { 200: { example: provenDevice } },
  },
  'GET /v1/admin/devices': { description: '`expired`: the certificate is, which counts as not enrolled.' },
  'GET /v1/admin/devices/:id': { description: 'With its certificate and what the server knows of its hardware.' },
  'POST /v1/admin/devices/:id/revoke': {
    description:
      'New captures of the device raise `device_revoked` from now on, whatever their time. Those that were accepted at or ' +
      'after `effective_at` are judged again: see `GET /v1/account/reevaluations`. Its key can not be enrolled ' +
      'again. A repeat changes nothing.',
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
  },
  'POST /v1/admin/root-cas': {
    description: 'Chains of devices must lead to one of these, or their captures raise `cert_unknown_ca`.',
    examples: {
      'PEM, shortened': {
        name: 'Our phones',
        certificate: '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n',
      },
    },
  },
  'GET /v1/admin/root-cas': { description: 'Each with its certificate in PEM.' },
  'GET /v1/admin/root-cas/:id': { description: 'With its certificate in PEM.' },
  'DELETE /v1/admin/root-cas/:id': { description: 'What was evaluated before stays as it is.' },
  'POST /v1/admin/c2pa-anchors': {
    description: 'Manifests whose signer leads to one of these, or to one of the deployment’s own, are `trusted`.',
    examples: {
      'PEM, shortened': {
        name: 'Cameras of our assessors',
        certificate: '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n',
      },
    },
  },
  'GET /v1/admin/c2pa-anchors': {
    description: 'Each with its certificate in PEM. The deployment’s own are not among them.',
  },
  'GET /v1/admin/c2pa-anchors/:id': { description: 'With its certificate in PEM.' },
  'DELETE /v1/admin/c2pa-anchors/:id': { description: 'What was evaluated before stays as it is.' },
}

const WEBHOOKS: Record<string, Note> = {
  'POST /v1/webhook-endpoints': {
    description:
      'The URL is https (in sandbox http too) at a public address, port 443, 8443 or above 1024. `event_types` are names ' +
      'of events, or `["*"]` for all. Keep `signing_secret`: nobody can read it again.',
    examples: {
      'All events': { url: endpoint.url, event_types: ['*'] },
      'Changes of claims': { url: endpoint.url, event_types: endpoint.event_types },
    },
    answers: {
      200: { example: { ...endpoint, signing_secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g' } },
    },
  },
  'GET /v1/webhook-endpoints': {
    description: 'A disabled one says why; it stays disabled: register another.',
    answers: { 200: { example: { object: 'list', data: [endpoint], has_more: false, next_cursor: null } } },
  },
  'GET /v1/webhook-endpoints/:id': { description: 'Without its secret.', answers: { 200: { example: endpoint } } },
  'DELETE /v1/webhook-endpoints/:id': { description: 'Its delivery log stays readable.' },
  'POST /v1/webhook-endpoints/:id/test': {
    description: 'The ping goes to this endpoint only, whatever it subscribed to.',
    answers: {
      202: {
        description: 'On its way.',
        example: { endpoint_id: IDS.endpoint, event_id: IDS.event, delivery_id: IDS.delivery },
      },
    },
  },
  'GET /v1/webhook-endpoints/:id/deliveries': {
    description: 'What was sent, what was answered, how long it took, and when the next attempt is due.',
  },
}

const SERVICE: Record<string, Note> = {
  'GET /health': { description: 'It says nothing of the database or the queues: those are on the internal port.' },
  'GET /.well-known/jwks.json': {
    description: 'Keys of `family` `record` verify `result_jws`, and are published for ever. Cache them for 5 minutes.',
  },
  'GET /v1/jwks': { description: 'The same as /.well-known/jwks.json.' },
  'GET /v1/openapi.json': { description: 'Written from the routes that serve it.' },
  'GET /docs': { description: 'This page, if that is where you read this.' },
  'GET /docs/errors': { description: 'One section per code; `type` of every problem leads to its own.' },
  'GET /docs/integrate': { description: 'From a key to a verified webhook, step by step.' },
  'GET /docs/assets/:name': { description: 'Names carry the hash of what is in them.' },
}

export const ACCOUNT_NOTES: Record<string, Note> = { ...MEDIA, ...DEVICES, ...WEBHOOKS, ...SERVICE }
