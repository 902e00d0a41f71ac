// Photos inside the body, up to 20 MB of it: what is stored, and what they cost other requests.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attestRequest } from '#src/attest/claims/submission.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256, sha256Hex } from '#src/platform/crypto/digest.ts'
import { MAX_REST_BYTES, parseJsonBody } from '#src/platform/http/body.ts'
import { parseWith } from '#src/platform/http/validate.ts'
import { PHOTO } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
beforeAll(async () => {
  service = await startService()
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const MEBIBYTE = 1024 * 1024
const PIECE_BYTES = 64 * 1024

const photoOf = (bytes: number) => Buffer.concat([PHOTO, randomBytes(bytes - PHOTO.byteLength)])
const bodyOf = (data: string, more: object = {}) => ({
  media_type: 'image',
  media: { content_type: 'image/jpeg', data },
  ...more,
})

/** Sends piece by piece, as a network does. */
async function post(body: Buffer, headers: Record<string, string> = {}) {
  const sending = request({
    port: service.app.port,
    path: '/v1/claims/attest',
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      'content-length': body.byteLength,
      prefer: 'wait=0',
      ...headers,
    },
  })
  const answered = once(sending, 'response')
  // An early refusal cuts it off.
  pipeline(Readable.from(pieces(body)), sending).catch(() => {})
  const [response] = await answered
  const json = JSON.parse(await text(response))
  return { status: response.statusCode as number, headers: response.headers, json }
}

function* pieces(body: Buffer) {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES)
}
const send = (body: object, headers = {}) => post(Buffer.from(JSON.stringify(body)), headers)

async function sha256Of(attestationId: string): Promise<string | undefined> {
  const [row] = await service.test.owner<{ sha256: string }>(
    `SELECT encode(m.sha256, 'hex') AS sha256 FROM attestations a JOIN media m ON m.id = a.media_id WHERE a.id = $1`,
    [attestationId],
  )
  return row?.sha256
}

it('leaves nothing of a photo in memory when the rest of the body is refused', async () => {
  const body = Buffer.from(JSON.stringify(bodyOf(randomBytes(12 * MEBIBYTE).toString('base64'), { unknown: 1 })))
  const before = process.memoryUsage().arrayBuffers
  expect(await post(body)).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(6 * MEBIBYTE)
})

describe('a photo inside the body', () => {
  it('is stored unchanged, whatever its size', async () => {
    for (const bytes of [PHOTO.byteLength, 48 * 1024, 49 * 1024, 3 * MEBIBYTE]) {
      const photo = photoOf(bytes)
      const { status, json } = await send(bodyOf(photo.toString('base64')))
      expect(status, String(bytes)).toBe(202)
      expect(await sha256Of(json.attestation_id)).toBe(sha256Hex(photo))
    }
  })

  it('is the same request under one Idempotency-Key, and another request with another photo', async () => {
    const [photo, other] = [photoOf(MEBIBYTE), photoOf(MEBIBYTE)]
    const headers = { 'idempotency-key': 'inline-1' }
    const first = await send(bodyOf(photo.toString('base64')), headers)
    const again = await send(bodyOf(photo.toString('base64')), headers)
    expect(again.json.attestation_id).toBe(first.json.attestation_id)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect((await send(bodyOf(other.toString('base64')), headers)).json.code).toBe('idempotency_key_reused')
  })

  it('is refused with a pointer when it is not base64; so is any other member of its length', async () => {
    const long = photoOf(MEBIBYTE).toString('base64')
    const cases: [object, string, string][] = [
      [bodyOf(`${long}!`), '/media/data', 'invalid_format'],
      [bodyOf(`data:image/jpeg;base64,${long}`), '/media/data', 'invalid_format'],
      [bodyOf(long.replace('/', '_')), '/media/data', 'invalid_format'],
      [bodyOf('/9j/4A==', { external_id: long }), '/external_id', 'too_long'],
      [{ media_type: 'image', media: { media_id: long } }, '/media/media_id', 'too_long'],
    ]
    for (const [body, pointer, code] of cases) {
      const { status, json } = await send(body)
      expect([status, json.code], pointer).toEqual([400, 'invalid_request'])
      expect(json.errors).toEqual([expect.objectContaining({ pointer, code })])
    }
    const named = await send({ ...bodyOf('/9j/4A=='), [long]: 1 })
    expect(named.json.errors[0].code).toBe('unknown_field')
    expect(JSON.stringify(named.json).length).toBeLessThan(3_000)
  })

  it('is the only long member: all others are bounded', async () => {
    const chunks = Array.from({ length: MAX_REST_BYTES / 50_000 + 1 }, () => 'A'.repeat(50_000))
    const { status, json } = await send({ ...bodyOf('/9j/4A=='), certificate_chain: chunks })
    expect([status, json.code]).toEqual([413, 'payload_too_large'])
  })

  it('of 15 MB blocks the event loop for a fraction of the time that parsing it as JSON takes', async () => {
    const body = Buffer.from(JSON.stringify(bodyOf(photoOf(14.9 * MEBIBYTE).toString('base64'))))
    expect(body.byteLength).toBeGreaterThan(19.8 * MEBIBYTE)
    const rounds: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const startedAt = performance.now()
      const value = parseJsonBody(body, { maxBytes: body.byteLength, maxDepth: 32, maxValues: 2_000 })
      parseWith(attestRequest, value, 'body')
      sha256(canonicalize(value))
      const wholeMs = performance.now() - startedAt
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      expect((await post(body, { 'idempotency-key': `large-${round}` })).status).toBe(202)
      delay.disable()
      rounds.push(delay.max / 1e6 / wholeMs)
    }
    expect(Math.min(...rounds)).toBeLessThan(0.34)
  })
})
