// The media routes as a caller sees them: the real application on a free port, with a database and a disk of its own.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createReadAudit } from '#src/account/audit/reads.ts'
import { createApp } from '#src/app.ts'
import { createDecoder, type DecoderOptions } from '#src/attest/media/decoder.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { createMedia, type MediaDomain } from '#src/attest/media/media.ts'
import { mediaRoutes } from '#src/attest/media/routes.ts'
import type { Pace } from '#src/platform/http/body.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { listen } from '#src/platform/http/server.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createLog } from '#src/platform/log.ts'
import { createMetrics } from '#src/platform/metrics.ts'
import { createDiskStore, type DiskStore } from '#src/platform/store/disk.ts'
import { createTestDatabase, makeAccount } from '../../support/database.ts'
import { makeKeyRow, testCookies } from '../../support/http.ts'

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
  json: Record<string, unknown>
}

export interface Service {
  media: MediaDomain
  store: DiskStore
  /** The account that owns the keys `attest`, `verify` and (its other environment) `live`. */
  scope: Scope
  /** The key of another account. */
  stranger: 'stranger'
  strangerScope: Scope
  port: number
  /** Everything below the store's root. */
  files(): Promise<string[]>
  countRows(): Promise<number>
  post(body: Uint8Array, headers: Record<string, string>, key?: string): Promise<Answer>
  get(path: string, headers?: Record<string, string>, key?: string): Promise<Answer>
  /** A request whose body the test sends piece by piece. */
  start(headers: Record<string, string>): { sending: ClientRequest; answer: Promise<Answer> }
  close(): Promise<void>
}

export async function startService({
  decoding,
  ...options
}: {
  pace?: Pace
  decoding?: DecoderOptions
} = {}): Promise<Service> {
  const database = await createTestDatabase()
  const scope = await makeAccount(database)
  const other = await makeAccount(database)
  const root = await mkdtemp(join(tmpdir(), 'media-'))
  const store = createDiskStore({ root })
  const inspector = createInspector()
  const decoder = createDecoder(decoding)
  const media = createMedia({ db: database.db, store, inspector, decoder })

  const keys = new Map([
    ['attest', makeKeyRow({ accountId: scope.accountId, environment: 'sandbox', scopes: ['attest'] })],
    ['verify', makeKeyRow({ accountId: scope.accountId, environment: 'sandbox', scopes: ['verify'] })],
    ['live', makeKeyRow({ accountId: scope.accountId, environment: 'live', scopes: ['attest', 'verify'] })],
    ['stranger', makeKeyRow({ accountId: other.accountId, environment: 'sandbox', scopes: ['all'] })],
  ])
  const app = createApp({
    routes: mediaRoutes(media, createReadAudit({ db: database.db, now: () => new Date() })),
    findKey: async (key) => keys.get(key),
    findEffect: createFindEffect(database.db),
    jwks: async () => ({ keys: [] }),
    cookies: testCookies,
    baseUrl: 'http://localhost',
    log: createLog({ process: 'test', level: 'silent' }),
    metrics: createMetrics({ process: 'test' }),
    ...options,
  })
  const server = await listen(app, { port: 0, host: '127.0.0.1' })
  const { port } = server

  const start: Service['start'] = (headers) => {
    const sending = request({ port, method: 'POST', path: '/v1/media', headers })
    const answer = new Promise<Answer>((resolve, reject) => {
      sending.once('error', reject).once('response', (response) => readAnswer(response).then(resolve, reject))
    })
    // A test that breaks the connection doesn't wait for the answer.
    answer.catch(() => {})
    return { sending, answer }
  }

  return {
    media,
    store,
    scope,
    stranger: 'stranger',
    strangerScope: other,
    port,
    files: async () => {
      const entries = await readdir(root, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    },
    countRows: async () => {
      const [row] = await database.owner<{ count: number }>('SELECT count(*)::int AS count FROM media')
      return row?.count ?? 0
    },
    post(body, headers, key = 'attest') {
      const { sending, answer } = start({ 'x-api-key': key, 'content-length': String(body.byteLength), ...headers })
      sending.end(body)
      return answer
    },
    get: (path, headers = {}, key = 'verify') =>
      new Promise((resolve, reject) => {
        request({ port, path, headers: { 'x-api-key': key, ...headers } })
          .once('error', reject)
          .once('response', (response) => readAnswer(response).then(resolve, reject))
          .end()
      }),
    start: (headers) => start({ 'x-api-key': 'attest', ...headers }),
    async close() {
      await server.close(1_000)
      await inspector.close()
      await decoder.close()
      await database.close()
      await rm(root, { recursive: true })
    },
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const body = await buffer(response)
  const isJson = response.headers['content-type']?.endsWith('json') === true
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body,
    json: isJson ? JSON.parse(body.toString()) : {},
  }
}
