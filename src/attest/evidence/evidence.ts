// Everything that is known of a claim in one signed packet: what a dispute needs when this service is not asked any more.

import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { Pager } from '#src/platform/http/page.ts'
import { checkId, type Environment, type Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { createTurns } from '#src/platform/turns.ts'
import { findClaim } from '../claims/claim-rows.ts'
import { findAttestationsOfClaim } from '../claims/rows.ts'
import { withState } from '../devices/devices.ts'
import { findDevicesByIds } from '../devices/rows.ts'
import type { RevocationSnapshot } from '../hardware/revocations.ts'
import { digestOf, PACKET_TYP, PDF_TYP, partDigests } from './digests.ts'
import { composePacket, type Sources } from './packet.ts'
import { sealPdf } from './pdf-file.ts'
import type { RenderPdf } from './renderer.ts'
import {
  countAttestations,
  findCasesOfClaim,
  findEarlierResults,
  findEntriesOfCases,
  findEventsOfClaim,
  findMediaRows,
  findSigners,
  findSizes,
} from './rows.ts'
import { MAX_EVENTS } from './timeline.ts'
import type { Packet, SignedPacket } from './views.ts'

/** Of one packet. */
export const MAX_ATTESTATIONS = 100
// What a packet's attestations may take together; at least one is always there.
const MAX_BYTES = 4 * 1024 * 1024
// A claim has one case, and a few if it is reopened by others.
const MAX_CASES = 20
const MAX_ENTRIES = 500
const MAX_EARLIER = 5
// A packet is some megabytes while it is made, a document as much again.
const SLOTS = 2
const MAX_WAITING = 20

export interface EvidenceDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  jwks(): Promise<KeySet>
  revocations(): Promise<RevocationSnapshot>
  /** A small picture (WebP); undefined where there is none to be had. */
  thumbnail(scope: Scope, mediaId: string): Promise<Uint8Array | undefined>
  renderPdf: RenderPdf
  /** The service's public address, without a trailing slash. */
  baseUrl: string
  now: () => Date
  log: Log
}

export interface EvidenceRequest {
  limit: number
  cursor?: string | undefined
  requestId: string
}

export type EvidenceExport = ReturnType<typeof createEvidence>

export function createEvidence(deps: EvidenceDeps) {
  const { db, pager, signRecord, now, log } = deps
  const inTurn = createTurns(SLOTS)
  let underWay = 0

  async function bounded<R>(work: () => Promise<R>): Promise<R> {
    if (underWay >= SLOTS + MAX_WAITING) throw busy()
    underWay += 1
    try {
      return await inTurn(work)
    } finally {
      underWay -= 1
    }
  }

  async function make(caller: Caller, claimId: string, request: EvidenceRequest): Promise<SignedPacket> {
    checkId(claimId, 'clm', caller.environment)
    note({ claim: claimId })
    const binding = { route: 'GET /v1/claims/:id/evidence', scope: caller, query: { id: claimId } }
    const before = pager.decode(request.cursor, binding)
    const [keys, revocations] = await Promise.all([deps.jwks(), deps.revocations()])
    // As of one moment: the claim and its attestations must not contradict each other, and others must not wait for that.
    const rows = await db.tenant(caller, (tx) => gatherRows(tx, claimId, { before, limit: request.limit }), {
      isSnapshot: true,
    })
    const issuedAt = now()
    const { sizes, devices, ...found } = rows
    const page = pager.page(sizes, rows.attestations.length, ({ id }) => id, binding)
    const packet = composePacket({
      ...found,
      scope: { accountId: caller.accountId, environment: caller.environment },
      devices: devices.map((row) => withState(row, issuedAt, revocations)),
      nextCursor: page.next_cursor,
      keys: keys.keys,
      keysAt: `${deps.baseUrl}/.well-known/jwks.json`,
      maySeeNotes: caller.scopes.some((scope) => scope === 'escalate' || scope === 'all'),
      issuedAt,
    })
    const sha256 = digestOf(packet)
    const signature = await signRecord(caller.environment, PACKET_TYP, {
      ...idsOf(packet),
      packet_sha256: sha256,
      parts: partDigests(packet),
      iat: Math.floor(issuedAt.getTime() / 1_000),
    })
    return { object: 'evidence_packet', packet, packet_sha256: sha256, signature }
  }

  function record(caller: Caller, { packet }: SignedPacket, format: 'json' | 'pdf', { requestId }: EvidenceRequest) {
    const { packet_id, claim_id, attestations } = packet.about
    log.info(
      {
        account: caller.accountId,
        environment: caller.environment,
        claim: claim_id,
        key: caller.keyId,
        requestId,
        packet: packet_id,
        format,
        attestations: attestations.included,
      },
      'an evidence packet was exported',
    )
  }

  return {
    /**
     * The packet of a claim, signed.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` at `?cursor`; `service_unavailable` when too
     * many are being made.
     */
    readJson(caller: Caller, claimId: string, request: EvidenceRequest): Promise<SignedPacket> {
      return bounded(async () => {
        const signed = await make(caller, claimId, request)
        record(caller, signed, 'json', request)
        return signed
      })
    },

    /** The same as a document to read, with the packet as its attachment. @throws {Failure} as `readJson`. */
    readPdf(caller: Caller, claimId: string, request: EvidenceRequest): Promise<Uint8Array> {
      return bounded(async () => {
        const signed = await make(caller, claimId, request)
        const thumbnails = await thumbnailsOf(caller, signed.packet)
        const pdf = await deps.renderPdf({ signed, thumbnails })
        const sealed = await sealPdf(pdf, (pdfSha256) =>
          signRecord(caller.environment, PDF_TYP, {
            ...idsOf(signed.packet),
            packet_sha256: signed.packet_sha256,
            pdf_sha256: pdfSha256,
          }),
        )
        record(caller, signed, 'pdf', request)
        return sealed
      })
    },
  }

  // One after the other: making one takes the image library's thread, which uploads wait for too.
  async function thumbnailsOf(scope: Scope, { attestations }: Packet): Promise<Record<string, Uint8Array>> {
    const made: Record<string, Uint8Array> = {}
    for (const { media } of attestations) {
      if (media.is_erased || media.media_id in made) continue
      const picture = await deps.thumbnail(scope, media.media_id)
      if (picture !== undefined) made[media.media_id] = picture
    }
    return made
  }
}

type Rows = Pick<
  Sources,
  'claim' | 'attestations' | 'totalAttestations' | 'media' | 'earlier' | 'cases' | 'entries' | 'events'
> & {
  sizes: { id: string }[]
  devices: Awaited<ReturnType<typeof findDevicesByIds>>
}

async function gatherRows(
  tx: Tx,
  claimId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<Rows> {
  const [claim, sizes, totalAttestations, cases, events] = await Promise.all([
    findClaim(tx, claimId),
    findSizes(tx, claimId, { before, limit: limit + 1 }),
    countAttestations(tx, claimId),
    findCasesOfClaim(tx, claimId, MAX_CASES),
    findEventsOfClaim(tx, claimId, MAX_EVENTS + 1),
  ])
  if (claim === undefined) throw new Failure('not_found', `There is no claim ${claimId}.`)
  const attestations = await findAttestationsOfClaim(tx, claimId, {
    before,
    limit: fitting(sizes, limit),
    // What was signed, to the last byte.
    isWhole: true,
  })
  const ids = attestations.map(({ id }) => id)
  const [media, signers, earlier, entries] = await Promise.all([
    findMediaRows(tx, [...new Set(attestations.map(({ mediaId }) => mediaId))]),
    findSigners(tx, ids),
    findEarlierResults(tx, ids, MAX_EARLIER),
    findEntriesOfCases(
      tx,
      cases.map(({ id }) => id),
      MAX_ENTRIES,
    ),
  ])
  const named = attestations.flatMap(({ deviceId, submission }) => [deviceId, submission.bundle?.device_id])
  const deviceIds = new Set([...named, ...signers].filter((id) => id !== null && id !== undefined))
  const devices = await findDevicesByIds(tx, [...deviceIds])
  return { claim, attestations, totalAttestations, sizes, media, earlier, devices, cases, entries, events }
}

/** How many of them fit, the first in any case. */
function fitting(sizes: readonly { bytes: number }[], limit: number): number {
  let bytes = 0
  const over = sizes.findIndex((size) => {
    bytes += size.bytes
    return bytes > MAX_BYTES
  })
  return Math.min(limit, over === -1 ? sizes.length : Math.max(1, over))
}

function idsOf({ about }: Packet) {
  return {
    packet_id: about.packet_id,
    claim_id: about.claim_id,
    account_id: about.account_id,
    environment: about.environment,
    issued_at: about.issued_at,
  }
}

function busy(): Failure {
  return new Failure('service_unavailable', {
    detail: 'Too many evidence packets are being made at once. Try again in a few seconds.',
    headers: { 'Retry-After': '5' },
  })
}
