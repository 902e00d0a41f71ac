// Requests with which one tenant can hurt the others: for `npm run bench -- neighbours` and `npm run faults`. Bodies
// are prepared before the first request: an attacker on the same machine must cost less than the attacked service.

import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createAuthority } from '../../capture-kit/authority.ts'
import { createDevice } from '../../capture-kit/device.ts'
import { joinChunks, makeVideoManifest, recordVideo } from '../../capture-kit/video.ts'
import { makeCertificate } from '../platform/net/certificate.ts'
import { costlyAuthority, costlyServer, createCostlyChains } from './costly-certificates.ts'
import { slowAvif } from './slow-avif.ts'

interface Outgoing {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  key?: string
  headers?: Record<string, string>
  body?: string | Uint8Array | Readable | null
}

export interface Target {
  key: string
  publishableKey: string
  /** Key of the attacker's account, with the scope admin. */
  liveKey?: string | undefined
  /** Attestations of the attacker whose jobs do not end today. */
  waitingIds: readonly string[]
  ask(outgoing: Outgoing): Promise<{ status: number; body: Buffer }>
}

export interface Attack {
  /** One request of the loop `index`; `n` counts all of them. */
  send(n: number, index: number): Promise<{ status: number }>
}

const JSON_BODY = { 'content-type': 'application/json' }
const NDJSON = { 'content-type': 'application/x-ndjson' }
const NO_WAIT = { ...JSON_BODY, prefer: 'wait=0' }
const MEGABYTE = 1024 * 1024

const CERTIFICATE_LINES = 50
const TLS_CERTIFICATES = 72
const TLS_ENDPOINTS = 8
const BATCH_LINES = 10_000
const PUBLIC_BATCH_LINES = 1_000
const CHUNKS = 10_000
const SCREENING_LINES = 1_000
const BODY_BYTES = 20 * MEGABYTE
const DRIP_BYTES = 2 * 1024
const DRIP_EVERY_MS = 1_000
const HANGING_ENDPOINTS = 40
const DAY_MS = 24 * 3_600_000

export const ATTACKS = {
  async certificates(target: Target): Promise<Attack> {
    const nextChain = createCostlyChains()
    const keys = [target.key, target.publishableKey]
    const certificate = costlyAuthority({ subject: 'Anchor', exponentBits: 17 }).toString('base64')
    for (const key of keys)
      await made(target, { path: '/v1/admin/root-cas', key, body: jsonOf({ name: 'Anchor', certificate }) })
    const medium = await upload(target, slowAvif(-1))
    const encoded = () => nextChain().map((der) => der.toString('base64'))
    return {
      send(n, index) {
        const key = keys[n % keys.length] ?? target.key
        if (index > 0) {
          const capture = { media_type: 'image', media: { media_id: medium }, certificate_chain: encoded() }
          return target.ask({ method: 'POST', path: '/v1/claims/attest', headers: NO_WAIT, body: jsonOf(capture) })
        }
        const lines = Array.from({ length: CERTIFICATE_LINES }, () => jsonOf({ certificate_chain: encoded() }))
        return target.ask({
          method: 'POST',
          path: '/v1/admin/devices/batches',
          key,
          headers: NDJSON,
          body: lines.join('\n'),
        })
      },
    }
  },

  async tls(target: Target): Promise<Attack> {
    const server = createServer({ ...costlyServer({ length: TLS_CERTIFICATES }) }, (_, res) => res.end())
    const url = `https://127.0.0.1:${await listening(server)}`
    const ids = await makeEndpoints(target, url, TLS_ENDPOINTS)
    return { send: (n) => target.ask({ method: 'POST', path: `/v1/webhook-endpoints/${ids[n % ids.length]}/test` }) }
  },

  // Two accounts: batches with a publishable key have at most a tenth of the lines.
  async locks(target: Target): Promise<Attack> {
    const sides = await Promise.all(
      [target.key, target.publishableKey].map(async (key, side) => {
        const media_id = await upload(target, slowAvif(-2 - side), 'image/avif', key)
        const line = jsonOf({ media_type: 'image', media: { media_id }, claim: { reference: 'one claim' } })
        const count = side === 0 ? BATCH_LINES : PUBLIC_BATCH_LINES
        return { key, line, lines: Buffer.from(Array.from({ length: count }, () => line).join('\n')) }
      }),
    )
    const at = (index: number) => sides[index % sides.length] as (typeof sides)[number]
    return {
      async send(_, index) {
        const { key, line, lines } = at(index)
        if (index >= sides.length) {
          return target.ask({ method: 'POST', path: '/v1/claims/attest', key, headers: NO_WAIT, body: line })
        }
        const answer = await target.ask({
          method: 'POST',
          path: '/v1/claims/batches',
          key,
          headers: NDJSON,
          body: lines,
        })
        if (answer.status === 202) {
          const { batch_id: id } = JSON.parse(answer.body.toString())
          await target.ask({ method: 'POST', path: `/v1/claims/batches/${id}/cancel`, key })
        }
        return answer
      },
    }
  },

  // A thumbnail is made once: each request is for a picture without one.
  async pictures(target: Target): Promise<Attack> {
    const keys = [target.key, target.publishableKey]
    let pictures = 0
    return {
      async send(n, index) {
        const key = keys[n % keys.length] ?? target.key
        pictures += 1
        const media_id = await upload(target, slowAvif(pictures), 'image/avif', key)
        if (index > 0) return target.ask({ path: `/v1/media/${media_id}/thumbnail`, key })
        const body = jsonOf({ media_type: 'image', media: { media_id } })
        const headers = { ...JSON_BODY, prefer: 'wait=20' }
        const { claim_id: claimId } = await made(target, { path: '/v1/claims/attest', key, headers, body })
        return target.ask({ path: `/v1/claims/${claimId}/evidence?format=pdf`, key })
      },
    }
  },

  async bodies(target: Target): Promise<Attack> {
    const data = slowAvif(-3, 14 * MEGABYTE + 600 * 1024).toString('base64')
    const captureOf = () =>
      jsonOf({ external_id: randomUUID(), media_type: 'image', media: { content_type: 'image/avif', data } })
    const screening = jsonOf({ media: { content_type: 'image/avif', data } })
    return {
      send: (n) =>
        n % 2 === 0
          ? target.ask({ method: 'POST', path: '/v1/claims/attest', headers: NO_WAIT, body: captureOf() })
          : target.ask({
              method: 'POST',
              path: '/v1/media/screen',
              key: target.publishableKey,
              headers: NO_WAIT,
              body: screening,
            }),
    }
  },

  polls: async (target: Target): Promise<Attack> => ({
    send: (_, index) =>
      target.ask({ path: `/v1/attestations/${target.waitingIds[index % target.waitingIds.length]}?wait=30` }),
  }),

  async json(target: Target): Promise<Attack> {
    const bodies = jsonBodies().map((text) => Buffer.from(text))
    const paths = [
      '/v1/claims/attest',
      '/v1/claims/attest/sessions',
      '/v1/media/screen',
      '/v1/cases',
      '/v1/admin/devices',
      '/v1/claims/batches',
    ]
    const keys = [target.key, target.publishableKey]
    return {
      send: (n) =>
        target.ask({
          method: 'POST',
          path: paths[n % paths.length] ?? '',
          key: keys[n % keys.length] ?? target.key,
          headers: JSON_BODY,
          body: bodies[Math.floor(n / paths.length) % bodies.length] ?? '',
        }),
    }
  },

  async videos(target: Target): Promise<Attack> {
    const recording = recordVideo({ seed: 1, chunks: CHUNKS, chunkMs: 100 })
    const { sessions } = await made(target, { path: '/v1/claims/attest/sessions', body: jsonOf({ count: 2 }) })
    const video = joinChunks(recording)
    const media_id = await upload(target, video, 'video/mp4')
    const now = () => new Date()
    const device = await createDevice({ authority: await createAuthority({ name: 'Long', now }), name: 'Long', now })
    const capture = device.capture({
      photo: video,
      capturedAt: now(),
      media: { media_id },
      sessionNonce: sessions[0].session_nonce,
      videoManifest: makeVideoManifest(sessions[0].session_nonce, recording),
    })
    const body = Buffer.from(jsonOf(capture))
    const chunk = Buffer.concat([recording[0]?.data ?? Buffer.alloc(0), Buffer.alloc(8 * MEGABYTE)])
    const path = `/v1/claims/attest/sessions/${sessions[1].session_id}/chunks/0`
    return {
      send: (_, index) =>
        index === 0
          ? target.ask({ method: 'POST', path: '/v1/claims/attest', headers: NO_WAIT, body })
          : target.ask({ method: 'PUT', path, headers: { 'content-type': 'video/mp4' }, body: chunk }),
    }
  },

  async lists(target: Target): Promise<Attack> {
    const filters = [
      'factor=signature_invalid&include=total_count',
      'provenance_status=broken&risk_status=failed&include=total_count',
      'external_id=there-is-none&include=total_count',
      'created_gte=2020-01-01T00:00:00Z&include=total_count',
    ]
    const { data: devices } = JSON.parse((await target.ask({ path: '/v1/admin/devices?limit=1' })).body.toString())
    if (devices[0] !== undefined) filters.push(`device_id=${devices[0].device_id}&include=total_count`)
    const dryRun = jsonOf({ document: POLICY, limit: 500 })
    return {
      send: (n, index) =>
        index === 0
          ? target.ask({ method: 'POST', path: '/v1/account/risk-policy/dry-run', headers: JSON_BODY, body: dryRun })
          : target.ask({ path: `/v1/claims?limit=100&${filters[n % filters.length]}` }),
    }
  },

  async screenings(target: Target): Promise<Attack> {
    const own = await screeningsOf(target, target.key, SCREENING_LINES)
    const published = await screeningsOf(target, target.publishableKey, PUBLIC_BATCH_LINES)
    return {
      send(_, index) {
        const { key, lines, single } = index % 2 === 0 ? own : published
        return index < 2
          ? target.ask({ method: 'POST', path: '/v1/media/screenings/batches', key, headers: NDJSON, body: lines })
          : target.ask({ method: 'POST', path: '/v1/media/screen', key, headers: NO_WAIT, body: single })
      },
    }
  },

  async bulk(target: Target): Promise<Attack> {
    const own = await screeningsOf(target, target.key, BATCH_LINES)
    const published = await screeningsOf(target, target.publishableKey, PUBLIC_BATCH_LINES)
    return {
      send(_, index) {
        const { key, lines } = index % 4 === 3 ? published : own
        return target.ask({ method: 'POST', path: '/v1/media/screenings/batches', key, headers: NDJSON, body: lines })
      },
    }
  },

  drips: async (target: Target): Promise<Attack> => ({
    send: (n) =>
      target.ask({
        method: 'POST',
        path: n % 2 === 0 ? '/v1/claims/attest' : '/v1/media/screen',
        key: target.publishableKey,
        headers: { ...NO_WAIT, 'content-length': String(BODY_BYTES) },
        body: Readable.from(drip()),
      }),
  }),

  async hanging(target: Target): Promise<Attack> {
    const server = createHttpServer(() => {})
    const ids = await makeEndpoints(target, `http://127.0.0.1:${await listening(server)}`, HANGING_ENDPOINTS)
    return { send: (n) => target.ask({ method: 'POST', path: `/v1/webhook-endpoints/${ids[n % ids.length]}/test` }) }
  },

  async providers(target: Target): Promise<Attack> {
    const expired = createServer(await makeCertificate(['127.0.0.1'], new Date(Date.now() - DAY_MS)))
    const issuers = [
      `http://127.0.0.1:${await listening(createHttpServer(() => {}))}`,
      `https://127.0.0.1:${await listening(expired)}`,
    ]
    const config = { client_id: 'client', client_secret: 'a secret', domain: 'attacker.example' }
    const bodies = issuers.map((issuer) => jsonOf({ ...config, issuer }))
    const asked = { method: 'PUT' as const, path: '/v1/auth/sso/config', key: target.liveKey ?? target.key }
    return { send: (n) => target.ask({ ...asked, headers: JSON_BODY, body: bodies[n % bodies.length] ?? '' }) }
  },
}

export type AttackName = keyof typeof ATTACKS

const POLICY = {
  require_attestation: true,
  require_biometric: true,
  require_gps: true,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 60 },
  geofence_m: 1_000,
}

/** A body that comes quickly but for its last megabyte, which never ends. */
async function* drip(): AsyncGenerator<Buffer> {
  yield Buffer.from('{"media":{"data":"')
  const piece = Buffer.alloc(MEGABYTE, 'A')
  for (let sent = MEGABYTE; sent < BODY_BYTES; sent += MEGABYTE) yield piece
  for (;;) {
    await delay(DRIP_EVERY_MS, undefined, { ref: false })
    yield piece.subarray(0, DRIP_BYTES)
  }
}

async function makeEndpoints(target: Target, url: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const body = jsonOf({ url: `${url}/${number}`, event_types: ['approval.requested'] })
    ids.push((await made(target, { path: '/v1/webhook-endpoints', body })).webhook_endpoint_id)
  }
  return ids
}

async function screeningsOf(target: Target, key: string, count: number) {
  const media_id = await upload(target, slowAvif(-4), 'image/avif', key)
  const lines = Buffer.from(`${jsonOf({ media_id })}\n`.repeat(count))
  return { key, lines, single: jsonOf({ media: { media_id } }) }
}

async function upload(target: Target, body: Uint8Array, type = 'image/avif', key = target.key): Promise<string> {
  return (await made(target, { path: '/v1/media', key, headers: { 'content-type': type }, body })).media_id
}

async function made(target: Target, outgoing: Outgoing) {
  const { status, body } = await target.ask({ method: 'POST', headers: JSON_BODY, ...outgoing })
  if (status >= 300) throw new Error(`${outgoing.path} answered ${status}: ${body.toString('utf8', 0, 300)}`)
  return JSON.parse(body.toString())
}

/** Bodies that strict parsers must refuse, or parse in time. */
function jsonBodies(): string[] {
  const members = (count: number, name: (index: number) => string) =>
    `{${Array.from({ length: count }, (_, index) => `${JSON.stringify(name(index))}:${index}`).join(',')}}`
  return [
    '['.repeat(MEGABYTE),
    '{"a":'.repeat(MEGABYTE / 5),
    `[${'0,'.repeat(MEGABYTE / 2 - 10)}0]`,
    members(60_000, (index) => `member ${index}`),
    members(60_000, () => 'one name'),
    `{"claim":{"reference":"${'\\u0041'.repeat(MEGABYTE / 6 - 10)}"}}`,
    `[${'1e308,'.repeat(MEGABYTE / 6 - 10)}1]`,
    `{"media_type":"image","media":{"media_id":"x"},"certificate_chain":[${'"AAAA",'.repeat(70_000)}"AAAA"]}`,
  ]
}

async function listening(
  server: ReturnType<typeof createServer> | ReturnType<typeof createHttpServer>,
): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  server.unref()
  return (server.address() as AddressInfo).port
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value)
}
