import { DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

export const certificate = {
  subject: 'CN=Phone 1',
  serial: '4f0a1c2b3d4e5f60718293a4b5c6d7e8',
  not_before: '2026-11-20T00:00:00.000Z',
  not_after: '2027-11-20T00:00:00.000Z',
  fingerprint: DIGEST,
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

export const NOTES: Record<string, Note> = {
  'POST /v1/admin/root-cas': {
    description:
      'The certificate chain of a device must lead to a root CA of the account; otherwise its captures raise ' +
      '`cert_unknown_ca`.',
    examples: {
      'PEM, shortened': {
        name: 'Our phones',
        certificate: pem,
      },
    },
    answers: { 200: { example: rootCa } },
    problems: ['limit_reached'],
  },
  'GET /v1/admin/root-cas': {
    description: 'Each root CA has its certificate in PEM.',
    answers: { 200: { example: listed(rootCa) } },
  },
  'GET /v1/admin/root-cas/:id': {
    description: 'The answer has the certificate in PEM.',
    answers: { 200: { example: rootCa } },
  },
  'DELETE /v1/admin/root-cas/:id': {
    description: 'Earlier results stay as they are.',
    answers: { 200: { example: { root_ca_id: IDS.rootCa, deleted: true } } },
  },
  'POST /v1/admin/c2pa-anchors': {
    description: 'A manifest is `trusted` when its signer leads to an anchor of the account or of the deployment.',
    examples: {
      'PEM, shortened': {
        name: 'Cameras of our assessors',
        certificate: pem,
      },
    },
    answers: { 200: { example: anchor } },
    problems: ['limit_reached'],
  },
  'GET /v1/admin/c2pa-anchors': {
    description: 'Each anchor has its certificate in PEM. The list leaves out the deployment’s anchors.',
    answers: { 200: { example: listed(anchor) } },
  },
  'GET /v1/admin/c2pa-anchors/:id': {
    description: 'The answer has the certificate in PEM.',
    answers: { 200: { example: anchor } },
  },
  'DELETE /v1/admin/c2pa-anchors/:id': {
    description: 'Earlier results stay as they are.',
    answers: { 200: { example: { c2pa_anchor_id: IDS.anchor, deleted: true } } },
  },
}
