import { z } from 'zod'
import { keyRevocationView } from '#src/platform/crypto/key-views.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { caseView, entryView } from '../cases/views.ts'
import { attestationView, claimView } from '../claims/views.ts'
import { deviceView } from '../devices/views.ts'

const iso = timestampView
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const sha256 = z.string().describe('SHA-256, lower-case hex.')

const certificate = z.object({
  der: z.string().describe('base64 of DER.'),
  subject: z.string(),
  issuer: z.string(),
  serial: z.string(),
  not_before: iso,
  not_after: iso,
  fingerprint: sha256,
})

const attestation = z
  .object({
    attestation_id: z.string(),
    external_id: z.string().nullable(),
    batch_id: z.string().nullable(),
    device_id: z.string().nullable(),
    status: z.enum(['queued', 'evaluated', 'failed', 'cancelled']).meta({ id: 'PacketAttestationStatus' }),
    accepted_at: iso,
    evaluated_at: iso.nullable(),
    erased_at: iso.nullable().describe('When its media and positions were erased.'),
    media: z.object({
      media_id: z.string(),
      sha256,
      size: z.number().int(),
      content_type: z.string(),
      width: z.number().int().nullable(),
      height: z.number().int().nullable(),
      is_erased: z.boolean(),
    }),
    submission: z
      .object({
        media_type: z.string(),
        claim: z.unknown().optional(),
        bundle: z.unknown().optional(),
        assertion: z.string().optional(),
        signature: z.object({ alg: z.string(), value: z.string() }).optional(),
        stream: z.string().optional().describe('The capture session that the media were streamed to.'),
      })
      .describe('As it was sent; after an erasure, what is left.'),
    bundle_sha256: z
      .string()
      .nullable()
      .describe('base64url SHA-256 of the canonical bundle (RFC 8785), as the signed result has it.'),
    key: z
      .object({ source: z.enum(['certificate', 'device']), spki: z.string().describe('base64 of DER.') })
      .nullable()
      .describe('The key that checks the bundle’s signature.'),
    certificates: z.object({
      source: z.enum(['submission', 'device', 'none']).describe('device: none was sent, these are enrolled.'),
      chain: z.array(certificate),
    }),
    distance: z
      .object({ metres: z.number(), accuracy_metres: z.number(), mock: z.boolean() })
      .nullable()
      .describe(
        'From the position of the bundle to where the loss was: of the claim’s first-stated place and this submission’s ' +
          'own, the farther.',
      ),
    result: attestationView
      .pick({ observations: true })
      .extend({
        provenance_status: z.string(),
        risk_status: z.string(),
        risk_score: z.number().int(),
        hardware_tier: z.string(),
        rules_version: z.string(),
        factors: attestationView.shape.factors.unwrap(),
        advisory_factors: attestationView.shape.advisory_factors.unwrap(),
        observations: attestationView.shape.observations.unwrap(),
        result_jws: z.string(),
        signing_key_revoked: keyRevocationView.optional().describe('Of the key that signed `result_jws`.'),
      })
      .nullable(),
    found_later: attestationView.shape.observations
      .unwrap()
      .describe('Found after the result was signed: the same or a similar picture in other claims.'),
    earlier_results: z
      .array(
        z.object({
          evaluated_at: iso,
          replaced_at: iso,
          risk_status: z.string(),
          risk_score: z.number().int(),
          provenance_status: z.string(),
          result_jws: z.string(),
          signing_key_revoked: keyRevocationView.optional(),
        }),
      )
      .describe('Results that later ones replaced, oldest first: the five newest of them.'),
    failure: z.string().nullable(),
  })
  .meta({ id: 'PacketAttestation', verbatim: true })

const entry = entryView
  .omit({ by: true })
  .extend({
    via: z.enum(['api_key', 'session', 'system']).meta({ id: 'PacketEntryVia' }),
    actor: z
      .string()
      .nullable()
      .describe('With an API key as the caller stated it, with a session its user; null for the service itself.'),
    api_key_id: z.string().nullable(),
    note_withheld: z.boolean().describe('There is a note; the key has no scope escalate.'),
  })
  .meta({ id: 'PacketCaseEntry', verbatim: true })

const caseRecord = caseView
  .pick({
    case_id: true,
    claim_id: true,
    status: true,
    reason_code: true,
    assignee: true,
    priority: true,
    version: true,
    created_at: true,
    updated_at: true,
    closed_at: true,
  })
  .extend({
    fraud_suspected_by: z.string().nullable().describe('The first who named suspected_fraud.'),
    history: z.array(entry).describe('Oldest first.'),
    history_omitted: z.number().int().describe('Entries before the first that is here.'),
  })
  .meta({ id: 'PacketCase', verbatim: true })

const moment = z.object({
  at: iso,
  kind: z.string(),
  subject: z.string().describe('The id that it is about.'),
  detail: z.record(z.string(), z.unknown()),
})

/** RFC 7517; see /.well-known/jwks.json. */
export const publishedKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  kid: z.string(),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
  env: environment,
  family: z.enum(['token', 'record']),
  revoked: keyRevocationView.optional(),
})

export const PACKET_VERSION = 'evidence-packet/1'

/** The signed content. Its members are parts: each has its own digest in the signature. */
export const packetView = z
  .object({
    about: z.object({
      version: z.literal(PACKET_VERSION),
      packet_id: z.string().describe('Derived from the content: two packets with one id have the same content.'),
      issued_at: iso,
      account_id: z.string(),
      environment,
      claim_id: z.string(),
      keys_at: z.string().describe('Address of the published keys.'),
      attestations: z.object({
        total: z.number().int(),
        included: z.number().int(),
        is_complete: z.boolean(),
        next_cursor: z.string().nullable(),
      }),
      statement: z.string().describe('What the packet contains and what it does not, as text.'),
    }),
    claim: claimView.omit({ case_id: true }).meta({ id: 'PacketClaim', verbatim: true }),
    attestations: z.array(attestation).describe('Newest first.'),
    devices: z.array(deviceView.extend({ spki: z.string() }).meta({ id: 'PacketDevice', verbatim: true })),
    cases: z.array(caseRecord),
    timeline: z.object({
      moments: z.array(moment).describe('Oldest first.'),
      omitted: z.number().int().describe('Earlier events that did not fit.'),
    }),
    keys: z.array(publishedKey).describe('The record keys of the environment, to verify offline what is signed here.'),
  })
  .meta({ id: 'EvidencePacket', verbatim: true })

export const signedPacketView = z
  .object({
    object: z.literal('evidence_packet'),
    packet: packetView,
    packet_sha256: z.string().describe('SHA-256 (hex) of the canonical packet (RFC 8785).'),
    signature: z
      .string()
      .describe(
        'A JWS (typ evidence-packet+jwt) over packet_sha256 and the digest of each part: docs/attest/evidence.md.',
      ),
  })
  .meta({ id: 'SignedEvidencePacket' })

export type EvidencePacket = z.output<typeof packetView>
export type PacketAttestation = EvidencePacket['attestations'][number]
export type PacketDevice = EvidencePacket['devices'][number]
export type SignedPacket = z.output<typeof signedPacketView>
