// The honest tenant's rows before anything is measured, so that each request has a row of its own.

import { generateKeyPairSync } from 'node:crypto'
import { createAuthority } from '../../capture-kit/authority.ts'
import { type AttestBody, createDevice } from '../../capture-kit/device.ts'
import type { Vendor } from '../../capture-kit/vendor.ts'
import { unsignedCertificate } from '../../test/support/costly-certificates.ts'
import { type Captures, createCaptures, createPhotographer, renamed } from '../captures.ts'
import { once, requestOf } from '../load.ts'
import type { Stage } from '../stage.ts'
import { untilSettled } from '../wait.ts'

export interface HonestData {
  captures: Captures
  /** Signed, their media uploaded. */
  bodies: AttestBody[]
  claimIds: string[]
  attestationIds: string[]
  mediaIds: string[]
  batchId: string
  /** Claims for cases to open, and claims to erase: each can be used once. */
  openable: string[]
  erasable: string[]
  /** Attestations whose evaluation failed: each can be retried once. */
  failed: string[]
  /** Cases in review. */
  caseIds: string[]
  /** Chains of devices (base64 of DER), to be enrolled. */
  chains: string[][]
  /** Enrolled devices, to be revoked. */
  revocable: string[]
  /** Evidence of the captures' own device, each for its own challenge. */
  evidence: object[]
  /** CA certificates in base64. */
  authorities: string[]
  endpointId: string
  screeningId: string
  screeningBatchId: string
  rootId: string
  anchorId: string
  reevaluationId: string
  /** A file that the documentation's pages load. */
  assetName: string
  /** Photos that are not uploaded yet. */
  photo(index: number): Buffer
}

export const POLICY = {
  require_attestation: true,
  require_biometric: false,
  require_gps: true,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 60 },
  geofence_m: 1_000,
}

/** Each event is sent to all of them: of one, a scenario would have some 50 deliveries, whose p99 is their slowest. */
const ENDPOINTS = 3

interface Sending {
  method?: 'POST' | 'PUT'
  /** The answer's. */
  status?: number
  type?: string
  headers?: Record<string, string>
}

interface Sizes {
  /** How many of each thing that can be used once: cases, erasures, retries, revocations, evidence. */
  each: number
}

export async function makeHonestData(
  stage: Stage,
  { port, vendor, receiverUrl, each }: { port: number; vendor: Vendor; receiverUrl: string } & Sizes,
): Promise<HonestData> {
  const { scope, key } = stage
  const post = async (
    path: string,
    body: unknown,
    { method = 'POST', status = 200, type = 'application/json', headers = {} }: Sending = {},
  ) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const request = requestOf({ method, path, key, headers: { 'Content-Type': type, ...headers }, body: bytes })
    return JSON.parse((await once(port, [request], status)).toString())
  }
  const get = async (path: string) =>
    JSON.parse((await once(port, [requestOf({ method: 'GET', path, key })], 200)).toString())
  const ids = (table: string, where = 'true') =>
    stage
      .owner<{ id: string }>(`SELECT id FROM ${table} WHERE account_id = $1 AND ${where} ORDER BY id`, [
        scope.accountId,
      ])
      .then((rows) => rows.map(({ id }) => id))

  await post('/v1/account/risk-policy', { document: POLICY }, { method: 'PUT', headers: { 'If-Match': '*' } })
  const captures = await createCaptures({ port, key }, { isSmall: true })
  const photographer = await createPhotographer({ isSmall: true })
  const bodies = await captures.take(8)
  const copies = (count: number) =>
    Array.from({ length: count }, (_, index) => bodies[index % bodies.length]).flatMap((one) =>
      one === undefined ? [] : [renamed(one)],
    )
  const { batch_id: batchId } = await captures.client.submitBatch(copies(3 * each))
  await untilSettled(stage)
  const claimIds = await ids('claims')
  const attestationIds = await ids('attestations')

  // Their evaluation counts as failed, as if their worker had died at each attempt.
  await stage.pause('attest')
  const { batch_id: failing } = await captures.client.submitBatch(copies(each))
  await stage.owner(
    `UPDATE jobs SET state = 'dead', settled_at = now() WHERE account_id = $1 AND queue = 'attest' AND state = 'queued'`,
    [scope.accountId],
  )
  await stage.owner(`UPDATE attestations SET status = 'failed', failure = 'internal_error' WHERE batch_id = $1`, [
    failing,
  ])
  await stage.resume('attest')

  const caseIds: string[] = []
  for (const claimId of claimIds.slice(0, 16)) {
    const { case_id: caseId } = await post('/v1/cases', { claim_id: claimId, actor: ADJUSTER, assignee: ADJUSTER })
    await post(`/v1/cases/${caseId}/transitions`, { to: 'in_review', actor: ADJUSTER })
    caseIds.push(caseId)
  }

  const now = () => new Date()
  const authority = await createAuthority({ name: 'Neighbour Phones', now })
  await captures.client.registerRoot('Neighbours', authority.rootDer)
  const makeChain = async (index: number) =>
    (await createDevice({ authority, name: `Phone ${index}`, now })).chain.map((der) => der.toString('base64'))
  const chains = await Promise.all(Array.from({ length: 40 }, (_, index) => makeChain(index)))
  const lines = await Promise.all(
    Array.from({ length: each }, async (_, index) =>
      JSON.stringify({ certificate_chain: await makeChain(1_000 + index) }),
    ),
  )
  const enrolled = await post('/v1/admin/devices/batches', lines.join('\n'), { type: 'application/x-ndjson' })

  const { challenges } = await post('/v1/admin/devices/challenges', { count: Math.min(1_000, 2 * each) })
  const evidence: object[] = []
  for (const { challenge } of challenges as { challenge: string }[]) {
    const bytes = Buffer.from(challenge, 'base64url')
    const chain = await vendor.attestAndroid({
      publicKey: captures.device.publicKey,
      challenge: bytes,
      level: 1,
      userAuthType: 3,
    })
    evidence.push({ format: 'android-key', challenge, chain: chain.map((der) => der.toString('base64')) })
  }

  const endpointIds: string[] = []
  for (let made = 0; made < ENDPOINTS; made += 1) {
    const endpoint = await post('/v1/webhook-endpoints', { url: `${receiverUrl}/hook/${made}`, event_types: ['*'] })
    endpointIds.push(endpoint.webhook_endpoint_id)
  }
  const mediaIds = await ids('media')
  const { screening_id: screeningId } = await post('/v1/media/screen', { media: { media_id: mediaIds[0] } })
  const screenLines = mediaIds.slice(0, 4).map((media_id) => JSON.stringify({ media_id }))
  const { screening_batch_id: screeningBatchId } = await post('/v1/media/screenings/batches', screenLines.join('\n'), {
    status: 202,
    type: 'application/x-ndjson',
  })
  const authorities = Array.from({ length: 24 }, (_, index) => authorityOf(`Anchor ${index}`))
  const { root_ca_id: rootId } = await post('/v1/admin/root-cas', { name: 'Kept', certificate: authorityOf('Kept') })
  const { c2pa_anchor_id: anchorId } = await post('/v1/admin/c2pa-anchors', {
    name: 'Kept',
    certificate: authorityOf('Kept'),
  })
  const { data: reevaluations } = await get('/v1/account/reevaluations?limit=1')
  const page = (await once(port, [requestOf({ method: 'GET', path: '/docs' })], 200)).toString()
  await stage.owner('VACUUM ANALYZE')
  return {
    captures,
    bodies,
    claimIds: claimIds.slice(0, each),
    attestationIds: attestationIds.slice(0, each),
    mediaIds,
    batchId,
    openable: claimIds.slice(each, 2 * each),
    erasable: claimIds.slice(2 * each),
    failed: await ids('attestations', "status = 'failed'"),
    caseIds,
    chains,
    revocable: (enrolled.devices as { device_id: string }[]).map(({ device_id }) => device_id),
    evidence,
    authorities,
    endpointId: endpointIds[0] ?? '',
    screeningId,
    screeningBatchId,
    rootId,
    anchorId,
    assetName: /assets\/([^"']+\.css)/.exec(page)?.[1] ?? '',
    reevaluationId: reevaluations[0].reevaluation_id,
    photo: (index) => photographer.shoot(1_000_000 + index).photo,
  }
}

export const ADJUSTER = 'ada@insurer.example'

// An anchor's own signature does not count: the account that registers it vouches for it.
function authorityOf(subject: string): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return unsignedCertificate({ subject, issuer: subject, spki, isCa: true }).toString('base64')
}
