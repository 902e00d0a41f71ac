// Composes the packet that is signed from rows. Pure: the same rows give the same packet, except for its issue time.

import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { PublishedKey } from '#src/platform/crypto/signing-keys.ts'
import type { Certificate } from '#src/platform/crypto/x509.ts'
import { contentId, type Scope } from '#src/platform/ids.ts'
import type { CaseRow, EntryRow } from '../cases/rows.ts'
import type { ListedClaim } from '../claims/claim-rows.ts'
import type { ClaimEvidence } from '../claims/claims.ts'
import { certificatesOf, chainAt } from '../claims/verify-capture.ts'
import { revocationMember, toAttestationView, toClaimView } from '../claims/views.ts'
import type { Device } from '../devices/devices.ts'
import { toDeviceView } from '../devices/views.ts'
import { observationsOf } from '../duplicates/observations.ts'
import { haversineMetres } from '../factors/geofence.ts'
import { digestOf, jsonOf } from './digests.ts'
import type { EarlierRow, EventRow, MediaRow } from './rows.ts'
import { timelineOf } from './timeline.ts'
import { type EvidencePacket, PACKET_VERSION, type PacketAttestation, packetView } from './views.ts'

export interface Sources {
  scope: Scope
  claim: ListedClaim
  /** Newest first. */
  attestations: readonly ClaimEvidence[]
  totalAttestations: number
  nextCursor: string | null
  media: readonly MediaRow[]
  devices: readonly Device[]
  earlier: readonly EarlierRow[]
  cases: readonly CaseRow[]
  entries: readonly (EntryRow & { caseId: string })[]
  /** Newest first; one more than the limit shows that there are more. */
  events: readonly EventRow[]
  keys: PublishedKey[]
  keysAt: string
  /** Whether the caller may read adjusters' notes. */
  maySeeNotes: boolean
  issuedAt: Date
}

/** The packet after its view: only what is shown is signed. */
export function composePacket(sources: Sources): EvidencePacket {
  const { scope, claim, attestations, totalAttestations, nextCursor, issuedAt } = sources
  const { case_id: _open, ...claimed } = toClaimView(claim)
  const content = {
    claim: claimed,
    attestations: attestations.map((row) => describe(row, sources)),
    devices: sources.devices.map((device) => ({ ...toDeviceView(device), spki: device.spki.toString('base64') })),
    cases: sources.cases.map((row) => describeCase(row, sources)),
    timeline: timelineOf(sources),
    keys: sources.keys.filter(({ env, family }) => env === scope.environment && family === 'record'),
  }
  const isComplete = attestations.length === totalAttestations
  const about = {
    version: PACKET_VERSION,
    account_id: scope.accountId,
    environment: scope.environment,
    claim_id: claim.id,
    keys_at: sources.keysAt,
    attestations: {
      total: totalAttestations,
      included: attestations.length,
      is_complete: isComplete,
      next_cursor: nextCursor,
    },
    statement: statementOf(sources, isComplete),
  }
  const packetId = contentId('evp', digestOf({ about, ...content }))
  return packetView.parse(
    jsonOf({ about: { ...about, packet_id: packetId, issued_at: issuedAt.toISOString() }, ...content }),
  )
}

function statementOf(sources: Sources, isComplete: boolean): string {
  const { claim, attestations, totalAttestations, nextCursor } = sources
  const erased = claim.erasedAt
  const older = nextCursor === null ? 'there are no older ones' : 'next_cursor leads to older ones'
  return [
    isComplete
      ? `This packet holds ${totalAttestations === 1 ? 'the one attestation' : `all ${totalAttestations} attestations`} of the claim.`
      : `This packet holds ${attestations.length} of the ${totalAttestations} attestations of the claim; ${older}.`,
    ...(erased === null
      ? []
      : [
          `The claim was erased at ${erased.toISOString()}: its photos and positions are gone, their digests and the signed results remain.`,
        ]),
    'Photos are not part of the packet; each is named by its SHA-256. Events are kept for a limited time, so that old ones may be missing from the timeline.',
  ].join(' ')
}

function describe(row: ClaimEvidence, sources: Sources): PacketAttestation {
  const { submission } = row
  const media = sources.media.find(({ id }) => id === row.mediaId)
  if (media === undefined) throw new Error(`the media of ${row.id} has no row`)
  const signer = signerOf(row, sources.devices)
  const view = toAttestationView(row, sources)
  const { claim, assertion, signature, stream, media_type } = submission
  return {
    attestation_id: row.id,
    external_id: row.externalId,
    batch_id: row.batchId,
    device_id: row.deviceId,
    status: row.status,
    accepted_at: view.accepted_at,
    evaluated_at: view.evaluated_at ?? null,
    erased_at: view.erased_at ?? null,
    media: {
      media_id: media.id,
      sha256: media.sha256.toString('hex'),
      size: media.size,
      content_type: media.contentType,
      width: media.width,
      height: media.height,
      is_erased: media.isErased,
    },
    submission: { media_type, claim, bundle: submission.bundle, assertion, signature, stream },
    bundle_sha256: bundleDigestOf(row),
    key: signer.key,
    certificates: { source: signer.source, chain: signer.chain.map(describeCertificate) },
    distance: distanceOf(row, sources.claim),
    result: resultOf(row, sources),
    found_later: observationsOf(row.duplicates),
    earlier_results: sources.earlier
      .filter(({ attestationId }) => attestationId === row.id)
      .map((one) => ({
        evaluated_at: one.evaluatedAt.toISOString(),
        replaced_at: one.replacedAt.toISOString(),
        risk_status: one.riskStatus,
        risk_score: one.riskScore,
        provenance_status: one.provenanceStatus,
        result_jws: one.resultJws,
        ...revocationMember(one.resultJws, sources),
      })),
    failure: row.failure,
  }
}

function resultOf(row: ClaimEvidence, sources: Sources): PacketAttestation['result'] {
  const { riskStatus, riskScore, provenanceStatus, hardwareTier, rulesVersion, resultJws } = row
  if (riskStatus === null || riskScore === null || provenanceStatus === null) return null
  return {
    provenance_status: provenanceStatus,
    risk_status: riskStatus,
    risk_score: riskScore,
    hardware_tier: hardwareTier ?? 'none',
    rules_version: rulesVersion ?? '',
    factors: row.factors ?? [],
    advisory_factors: row.advisoryFactors ?? [],
    observations: row.observations ?? [],
    result_jws: resultJws ?? '',
    ...revocationMember(resultJws, sources),
  }
}

function placeOf(lat: number | null, lng: number | null): { lat: number; lng: number }[] {
  return lat === null || lng === null ? [] : [{ lat, lng }]
}

// A statement whose position was erased can't be hashed again, so the signed result's digest is used.
function bundleDigestOf({ submission: { bundle }, erasedAt, resultJws }: ClaimEvidence): string | null {
  if (erasedAt === null) return bundle === undefined ? null : sha256Base64url(canonicalize(jsonOf(bundle)))
  const payload = resultJws?.split('.')[1] ?? ''
  const digest: unknown = payload === '' ? null : JSON.parse(Buffer.from(payload, 'base64url').toString()).bundle_sha256
  return typeof digest === 'string' ? digest : null
}

interface Signer {
  key: PacketAttestation['key']
  source: PacketAttestation['certificates']['source']
  chain: Certificate[]
}

// The same choice as the evaluation: the submitted certificate, otherwise the key of the device that the bundle names.
function signerOf({ submission, deviceId }: ClaimEvidence, devices: readonly Device[]): Signer {
  const sent = certificatesOf((submission.certificate_chain ?? []).map((der) => Buffer.from(der, 'base64')))
  const [leaf] = sent
  if (leaf !== undefined) {
    return { key: { source: 'certificate', spki: leaf.spki.toString('base64') }, source: 'submission', chain: sent }
  }
  const device = devices.find(({ id }) => id === (submission.bundle?.device_id ?? deviceId))
  if (device === undefined || submission.bundle === undefined) return { key: null, source: 'none', chain: [] }
  const chain = chainAt(device, new Date(submission.bundle.captured_at))
  return { key: { source: 'device', spki: device.spki.toString('base64') }, source: 'device', chain }
}

function describeCertificate(one: Certificate): PacketAttestation['certificates']['chain'][number] {
  return {
    der: one.der.toString('base64'),
    subject: one.subject,
    issuer: one.issuer,
    serial: one.serialNumberHex,
    not_before: one.notBefore.toISOString(),
    not_after: one.notAfter.toISOString(),
    fingerprint: one.fingerprint,
  }
}

function distanceOf({ submission }: ClaimEvidence, { lossLat, lossLng }: ListedClaim): PacketAttestation['distance'] {
  const gps = submission.bundle?.gps
  const own = submission.claim?.loss_location
  const places = [...(own === undefined ? [] : [own]), ...placeOf(lossLat, lossLng)]
  if (gps === null || gps === undefined || places.length === 0) return null
  const metres = Math.round(Math.max(...places.map((place) => haversineMetres(gps, place))) * 100) / 100
  return { metres, accuracy_metres: gps.accuracy_m, mock: gps.mock ?? false }
}

function describeCase(row: CaseRow, { entries, maySeeNotes }: Sources): EvidencePacket['cases'][number] {
  const own = entries.filter(({ caseId }) => caseId === row.id).sort((a, b) => a.seq - b.seq)
  const history = own.map((entry) => {
    const isWithheld = entry.note !== null && !maySeeNotes
    return {
      version: entry.seq,
      kind: entry.kind,
      at: entry.at.toISOString(),
      via: viaOf(entry),
      actor: entry.actor,
      api_key_id: entry.keyId,
      from: entry.from,
      to: entry.to,
      reason_code: entry.reasonCode,
      note: isWithheld ? null : entry.note,
      note_erased_at: entry.noteErasedAt?.toISOString() ?? null,
      changes: entry.changes ?? [],
      note_withheld: isWithheld,
    }
  })
  return {
    case_id: row.id,
    claim_id: row.claimId,
    status: row.state,
    reason_code: row.reasonCode,
    assignee: row.assignee,
    priority: row.priority,
    fraud_suspected_by: row.fraudActor,
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    closed_at: row.closedAt?.toISOString() ?? null,
    history,
    history_omitted: (own[0]?.seq ?? 1) - 1,
  }
}

function viaOf({ keyId, actor }: EntryRow): 'api_key' | 'session' | 'system' {
  if (keyId !== null) return 'api_key'
  return actor === null ? 'system' : 'session'
}
