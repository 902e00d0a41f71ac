// Routes with a countable effect (a capture session each), and a domain that stops or fails where a test says.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { insertSessions } from '#src/attest/captures/rows.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { type Caller, endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { again, createFindEffect, type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { call, makeKeyRow, startApp, type TestAnswer, type TestApp } from '../../support/http.ts'

export interface Things {
  test: TestDatabase
  app: TestApp
  /** Each runs at its step when a test has set it: before the key is taken, inside the effect, after the commit. */
  at: { start?: () => unknown; effect?: (tx: Tx) => unknown; committed?: () => unknown }
  makeCaller(row?: Partial<KeyRow>): Promise<Scope & { key: string; keyId: string }>
  addKey(scope: Scope, row?: Partial<KeyRow>): string
  /** Effects under this name, in any account. */
  count(name: string): Promise<number>
  keys(): Promise<number>
  post(key: string, path: string, json: unknown, idempotencyKey?: string): Promise<TestAnswer>
  close(): Promise<void>
}

const view = z.object({ id: z.string(), name: z.string(), secret: z.string().optional() })

export async function startThings(): Promise<Things> {
  const test = await createTestDatabase({ poolSize: 8 })
  const at: Things['at'] = {}
  const rawKeys = new Map<string, KeyRow>()
  const findKey = async (raw: string) => rawKeys.get(raw)
  const app = await startApp(thingRoutes(test, at), { findKey, findEffect: createFindEffect(test.db) })

  function addKey({ accountId, environment }: Scope, row: Partial<KeyRow> = {}): string {
    const raw = randomBytes(24).toString('base64url')
    rawKeys.set(raw, makeKeyRow({ accountId, environment, scopes: ['attest', 'verify'], ...row }))
    return raw
  }

  return {
    test,
    app,
    at,
    addKey,
    async makeCaller(row = {}) {
      const scope = await makeAccount(test, row.environment === undefined ? {} : { environment: row.environment })
      const keyId = newId('key', scope.environment)
      return { ...scope, keyId, key: addKey(scope, { ...row, keyId }) }
    },
    async count(name) {
      const rows = await test.owner('SELECT 1 FROM capture_sessions WHERE claim_reference = $1', [name])
      return rows.length
    },
    keys: async () => (await test.owner('SELECT 1 FROM idempotency_keys')).length,
    post: (key, path, json, idempotencyKey) =>
      call(app, path, {
        key,
        json,
        headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
      }),
    async close() {
      await app.close()
      await test.close()
    },
  }
}

function thingRoutes({ db }: TestDatabase, at: Things['at']): Route[] {
  async function create({ accountId, environment }: Scope, name: string, key: IdempotencyKey | undefined) {
    const scope = { accountId, environment }
    await at.start?.()
    const work = async (tx: Tx) => {
      const made = await insertThing(tx, scope, name)
      await at.effect?.(tx)
      if (name === 'refused') throw new Failure('conflict', 'Not this one.')
      return made
    }
    const made = await db.tenant(scope, (tx) => once(tx, key, work, ({ id }) => id))
    await at.committed?.()
    return { ...made, secret: 's3cret' }
  }

  async function find({ accountId, environment }: Caller, id: string) {
    const [row] = await db.tenant({ accountId, environment }, (tx) =>
      tx.query<{ id: string; name: string }>('SELECT id, claim_reference AS name FROM capture_sessions WHERE id = $1', [
        id,
      ]),
    )
    if (row === undefined) throw new Failure('not_found', 'It is gone.')
    return row
  }

  const common = {
    method: 'POST' as const,
    sdk: { none: 'a route of a test' },
    effect: 'write' as const,
    kind: 'call' as const,
    summary: 'x',
    operationId: 'test',
    scope: 'attest' as const,
    view,
    status: [200],
  }
  const body = z.strictObject({ name: z.string().max(50), more: z.unknown().optional() })
  return [
    ...(['/v1/things', '/v1/others', '/v1/things/:place'] as const).map((path) =>
      endpoint(
        { ...common, path, body },
        ({ caller, body, idempotencyKey }) => create(caller, body.name, idempotencyKey),
        ({ caller }, id) => find(caller, id),
      ),
    ),
    endpoint(
      { ...common, path: '/v1/streams', rawBody: { contentTypes: ['text/plain'] } },
      async ({ caller, stream, idempotencyKey }) => {
        let text = ''
        for await (const chunk of stream) {
          text += chunk
          if (text.startsWith('!')) throw new Failure('invalid_request', 'Refused at its first byte.')
        }
        return create(caller, text, idempotencyKey)
      },
      ({ caller }, id) => find(caller, id),
    ),
    endpoint(
      { ...common, path: '/v1/repeatables', body },
      async ({ caller, body, idempotencyKey }) => {
        const work = async (tx: Tx) => {
          const [known] = await tx.query<{ id: string }>('SELECT id FROM capture_sessions WHERE claim_reference = $1', [
            body.name,
          ])
          return { id: known?.id ?? (await insertThing(tx, caller, body.name)).id, name: body.name }
        }
        return db.tenant(caller, (tx) => again(tx, idempotencyKey, work))
      },
      async () => Promise.reject(new Error('never asked for')),
    ),
    endpoint({ ...common, method: 'GET', path: '/v1/things/:id', scope: 'verify' }, ({ caller, params }) =>
      find(caller, params.id),
    ),
  ]
}

async function insertThing(tx: Tx, scope: Scope, name: string): Promise<{ id: string; name: string }> {
  const id = newId('cap', scope.environment)
  const shared = { deviceId: null, claimReference: name, issuedAt: new Date(), expiresAt: new Date() }
  await insertSessions(tx, scope, [{ id, nonce: randomBytes(32).toString('base64url') }], shared)
  return { id, name }
}
