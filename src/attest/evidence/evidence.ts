// Exports everything known about a claim in one signed packet, for a dispute in which this service is not available.

import { buffer } from 'node:stream/consumers'
import { recordAudit } from '#src/account/audit/record.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { Pager } from '#src/platform/http/page.ts'
import { actorOf, hasScope } from '#src/platform/http/principal.ts'
import { checkId, type Environment, noSuch, type Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { endsWithin } from '#src/platform/time-limit.ts'
import { findClaim } from '../claims/claim-rows.ts'
import { findWholeAttestations } from '../claims/rows.ts'
import { withState } from '../devices/devices.ts'
import { findDevicesByIds } from '../devices/rows.ts'
import type { RevocationSnapshot } from '../hardware/revocations.ts'
import type { MediaDomain } from '../media/media.ts'
import type { NoThumbnail } from '../media/thumbnails.ts'
import { digestOf, PACKET_TYP, PDF_TYP, partDigests } from './digests.ts'
import { composePacket, type Sources } from './packet.ts'
import { sealPdf } from './pdf-file.ts'
import type { Rendering, RenderPdf } from './renderer.ts'
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
import type { EvidencePacket, SignedPacket } from './views.ts'

/** Per packet. */
export const MAX_ATTESTATIONS = 100
// The total size of a packet's attestations; at least one is always included.
const MAX_BYTES = 4 * 1024 * 1024
// A claim has one case, or a few if more were opened after it was closed.
const MAX_CASES = 20
const MAX_ENTRIES = 500
const MAX_EARLIER = 5
// A packet takes some megabytes of memory while it is made. An account makes one at a time.
const PACKETS = { slots: 2, slotsEach: 1, maxWaitingEach: 5, maxWaiting: 20 }
// A document keeps its packet while it waits for its pictures, up to their whole time. So no packet waits for a document, and
// a few accounts with slow pictures leave room for the documents of others.
const DOCUMENTS = { slots: 8, slotsEach: 1, maxWaitingEach: 5, maxWaiting: 40 }
// For all pictures of one document. A picture that is not decoded by then is left out, and the document says so.
const PICTURES_MS = 20_000

/** WebP, or why there is no picture; `gone`: the media were erased meanwhile. */
export type ThumbnailRead = Uint8Array | NoThumbnail['why'] | 'gone'

export interface EvidenceDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  jwks(): Promise<KeySet>
  revocations(): Promise<RevocationSnapshot>
  thumbnail(scope: Scope, mediaId: string): Promise<ThumbnailRead>
  renderPdf: RenderPdf
  /** The service's public address, without a trailing slash. */
  baseUrl: string
  now: () => Date
  log: Log
  /** For all pictures of one document. */
  picturesMs?: number
}

export interface PacketRequest {
  limit: number
  cursor?: string | undefined
  requestId: string
}

export type EvidenceExport = ReturnType<typeof createEvidence>

export function createEvidence(deps: EvidenceDeps) {
  const { db, pager, signRecord, now, log, picturesMs = PICTURES_MS } = deps
  const refusal = {
    detail: 'Too many evidence packets are being made at once. Try again in a few seconds.',
    retryAfterSeconds: 5,
  }
  const withPacketSlot = createFairSemaphore({ ...PACKETS, refusal })
  const withDocumentSlot = createFairSemaphore({ ...DOCUMENTS, refusal })

  async function make(caller: Caller, claimId: string, request: PacketRequest): Promise<SignedPacket> {
    checkId(claimId, 'clm', caller.environment)
    note({ claim: claimId })
    const binding = { route: 'GET /v1/claims/:id/evidence', scope: caller, query: { id: claimId } }
    const before = pager.decode(request.cursor, binding)
    const [keys, revocations] = await Promise.all([deps.jwks(), deps.revocations()])
    // All rows are read in one snapshot: the claim and its attestations must not contradict each other, and reading
    // must not block others.
    const rows = await db.tenant(caller, (tx) => loadRows(tx, claimId, { before, limit: request.limit }), {
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
      maySeeNotes: hasScope(caller.principal, 'escalate'),
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

  async function record(caller: Caller, { packet }: SignedPacket, format: 'json' | 'pdf', request: PacketRequest) {
    const { packet_id, claim_id, attestations } = packet.about
    const after = { packet_id, format, attestations: attestations.included }
    await db.tenant(caller, (tx) => recordAudit(tx, caller, { action: 'evidence.read', subjectId: claim_id, after }))
    log.info(
      {
        account: caller.accountId,
        environment: caller.environment,
        claim: claim_id,
        actor: actorOf(caller.principal).id,
        requestId: request.requestId,
        packet: packet_id,
        format,
        attestations: attestations.included,
      },
      'evidence packet exported',
    )
  }

  return {
    /**
     * The packet of a claim, signed.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` at `?cursor`; `service_unavailable` when too
     * many are being made.
     */
    readJson(caller: Caller, claimId: string, request: PacketRequest): Promise<SignedPacket> {
      return withPacketSlot(caller.accountId, async () => {
        const signed = await make(caller, claimId, request)
        await record(caller, signed, 'json', request)
        return signed
      })
    },

    /** The packet as a readable document, with the packet as its attachment. @throws {Failure} as `readJson`. */
    readPdf(caller: Caller, claimId: string, request: PacketRequest): Promise<Uint8Array> {
      return withDocumentSlot(caller.accountId, async () => {
        const signed = await withPacketSlot(caller.accountId, () => make(caller, claimId, request))
        const pdf = await deps.renderPdf({ signed, pictures: await picturesOf(caller, signed.packet) })
        const sealed = await sealPdf(pdf, (pdfSha256) =>
          signRecord(caller.environment, PDF_TYP, {
            ...idsOf(signed.packet),
            packet_sha256: signed.packet_sha256,
            pdf_sha256: pdfSha256,
          }),
        )
        await record(caller, signed, 'pdf', request)
        return sealed
      })
    },
  }

  // Sequential: an account decodes one picture at a time.
  async function picturesOf(scope: Scope, { attestations }: EvidencePacket): Promise<Rendering['pictures']> {
    const pictures: Rendering['pictures'] = {}
    const deadline = performance.now() + picturesMs
    for (const { media } of attestations) {
      if (media.is_erased || media.media_id in pictures) continue
      pictures[media.media_id] = await pictureBy(deadline, scope, media.media_id)
    }
    return pictures
  }

  // A thumbnail may wait behind others of its account.
  async function pictureBy(deadline: number, scope: Scope, mediaId: string): Promise<ThumbnailRead | 'not_tried'> {
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return 'not_tried'
    const reading = deps.thumbnail(scope, mediaId)
    return (await endsWithin(reading, leftMs)) ? reading : 'not_tried'
  }
}

type Rows = Pick<
  Sources,
  'claim' | 'attestations' | 'totalAttestations' | 'media' | 'earlier' | 'cases' | 'entries' | 'events'
> & {
  sizes: { id: string }[]
  devices: Awaited<ReturnType<typeof findDevicesByIds>>
}

async function loadRows(
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
  if (claim === undefined) throw noSuch(claimId)
  // Whole, because the signature covers every byte.
  const attestations = await findWholeAttestations(tx, claimId, {
    before,
    limit: fitting(sizes, limit),
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

/** Reads thumbnails as the thumbnail route does. @throws {Failure} `service_unavailable`. */
export function createThumbnailReader(media: Pick<MediaDomain, 'get' | 'findThumbnail'>) {
  return async (scope: Scope, mediaId: string): Promise<ThumbnailRead> => {
    try {
      const found = await media.findThumbnail(scope, await media.get(scope, mediaId))
      return 'stream' in found ? await buffer(found.stream) : found.why
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return 'gone'
      throw error
    }
  }
}

/** How many of them fit, at least one. */
function fitting(sizes: readonly { bytes: number }[], limit: number): number {
  let bytes = 0
  const over = sizes.findIndex((size) => {
    bytes += size.bytes
    return bytes > MAX_BYTES
  })
  return Math.min(limit, over === -1 ? sizes.length : Math.max(1, over))
}

function idsOf({ about }: EvidencePacket) {
  return {
    packet_id: about.packet_id,
    claim_id: about.claim_id,
    account_id: about.account_id,
    environment: about.environment,
    issued_at: about.issued_at,
  }
}
