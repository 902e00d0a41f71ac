// Routes that take bodies of every kind, for the tests of reading them.

import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { endpoint, publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { DEFAULT_MINIMUM_RATE } from '#src/platform/http/minimum-rate.ts'
import { makeKeyRow, startApp } from '../../support/http.ts'

export const MEGABYTE = 1024 * 1024
export const PACE = { ...DEFAULT_MINIMUM_RATE, windowMs: 400, minBytes: 64 }

const keys = new Map(['k', 'other', 'third'].map((raw) => [raw, makeKeyRow({ scopes: ['attest'] })]))
export const findKey = async (raw: string) => keys.get(raw)

export const startBodies = () => startApp(routes, { findKey, pace: PACE })

/** What the routes have done, in the whole process. */
export const seen = { handled: 0, started: 0, uploads: [] as string[] }

export const routes: Route[] = [
  endpoint(
    {
      method: 'POST',
      path: '/v1/notes',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Write',
      operationId: 'test',
      scope: 'attest',
      body: z.strictObject({ text: z.string(), list: z.array(z.number()).optional() }),
      view: z.object({ length: z.number() }),
      status: [200],
    },
    async ({ body }) => {
      seen.handled += 1
      return { length: body.text.length }
    },
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/optional',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Write or not',
      operationId: 'test',
      scope: 'attest',
      body: z.strictObject({ text: z.string() }).optional(),
      view: z.object({ text: z.string().nullable() }),
      status: [200],
    },
    async ({ body }) => ({ text: body?.text ?? null }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/bare',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'No body',
      operationId: 'test',
      scope: 'attest',
      view: z.object({ ok: z.boolean() }),
      status: [200],
    },
    async () => ({ ok: true }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/uploads',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Bytes',
      operationId: 'test',
      scope: 'attest',
      rawBody: { contentTypes: ['image/*', 'application/x-ndjson'] },
      maxBodyBytes: 8 * MEGABYTE,
      view: z.object({ sha256: z.string() }),
      status: [200],
    },
    async ({ stream, header, signal }) => {
      const hash = createHash('sha256')
      seen.started += 1
      try {
        if (header('x-slow-store') !== undefined) await delay(700)
        for await (const chunk of stream) hash.update(chunk)
      } catch (error) {
        seen.uploads.push(signal.aborted ? 'aborted' : 'refused')
        throw error
      }
      return { sha256: hash.digest('hex') }
    },
  ),
  publicEndpoint(
    {
      method: 'POST',
      path: '/v1/broken-store',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'A store that fails in the middle',
      operationId: 'test',
      public: 'for the test',
      rawBody: { contentTypes: ['image/png'] },
      maxBodyBytes: 64 * MEGABYTE,
      view: z.object({}),
      status: [200],
    },
    async ({ stream }) => {
      await pipeline(
        stream,
        new Writable({
          write: (_chunk, _encoding, done) => done(Object.assign(new Error('full'), { code: 'ENOSPC' })),
        }),
      )
      return {}
    },
  ),
]

/**
 * Sends the head of a POST to /v1/notes and the first piece of its body, then a drop each 50 ms until there is an answer.
 * @param framing The header that says how long the body is.
 * @returns All that came back until the connection was closed.
 */
export function trickle(port: number, { framing, first, drop }: Record<'framing' | 'first' | 'drop', string>) {
  return new Promise<string>((resolve) => {
    let all = ''
    const socket = connect(port, '127.0.0.1')
    socket
      .on('data', (bytes) => {
        all += bytes
      })
      .on('error', () => {})
      .on('close', () => resolve(all))
    socket.write(
      `POST /v1/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: application/json\r\n${framing}\r\n\r\n${first}`,
    )
    const drip = setInterval(() => (all === '' ? socket.write(drop) : socket.end()), 50)
    socket.on('close', () => clearInterval(drip))
  })
}
