// The whole service on a database and a disk of its own, composed as in production: the real application on a free port.
// No job, task or rule of retention runs by itself.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AppDeps } from '#src/app.ts'
import type { Role } from '#src/catalogue/access.ts'
import type { DecisionKind } from '#src/catalogue/decisions.ts'
import type { Feature, Platform } from '#src/platform/feature.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect, createKeepStatus } from '#src/platform/http/idempotency.ts'
import { newAccountId, newId, type Scope } from '#src/platform/ids.ts'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import { createDiskStore, type DiskStore } from '#src/platform/store/disk.ts'
import type { Services } from '#src/services.ts'
import { createKeyring, type Keyring } from './callers.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { call, cookiesOf, startApp, type TestAnswer, type TestApp } from './http.ts'
import { makeServices, routesOf } from './services.ts'

export type Sent = NonNullable<Parameters<typeof call>[2]>

export interface TestService extends Pick<Keyring, 'addKey' | 'makeCaller'> {
  test: TestDatabase
  services: Services
  store: DiskStore
  /** Every file of the store. */
  files(): Promise<string[]>
  app: TestApp
  /** The service's clock: set to undefined, it shows the machine's time. */
  clock: { get now(): Date; set now(at: Date | undefined) }
  call(caller: { key?: string | undefined }, path: string, sent?: Sent): Promise<TestAnswer>
  /** A new user of an account, signed in: the headers of its browser. */
  signIn(accountId: string, user?: { role?: Role; email?: string; isSandboxOnly?: boolean }): Promise<SignedIn>
  events(scope: Scope): Promise<{ type: string; data: Record<string, unknown> }[]>
  /** The entries of an account's ledger in their order, of one kind or of all. */
  entries(scope: Pick<Scope, 'accountId'>, kind?: DecisionKind): Promise<DecisionEntry[]>
  count(table: string): Promise<number>
  /** Stores a claim without an attestation. */
  makeClaim(scope: Scope, columns?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

export interface SignedIn {
  userId: string
  sessionId: string
  /** Session cookie and CSRF token. */
  headers: Record<string, string>
}

export interface TestServiceOptions {
  /** Scopes of a key that names none. */
  scopes?: KeyRow['scopes']
  /** The time that the clock shows, until a test sets another. */
  now?: Date
  poolSize?: number
  env?: NodeJS.ProcessEnv
  /** Parts of the platform that replace the service's own. */
  overrides?: (parts: Pick<Platform, 'db' | 'store'>) => Partial<Platform>
  /** Features with parts that the test chooses; each takes the place of the one of its name. */
  replace?: (services: Services) => Pick<Feature, 'name' | 'routes'>[]
  app?: Partial<AppDeps>
}

export async function startTestService({
  scopes,
  now,
  poolSize = 12,
  env = {},
  overrides = () => ({}),
  replace = () => [],
  app: appDeps = {},
}: TestServiceOptions = {}): Promise<TestService> {
  const test = await createTestDatabase({ poolSize })
  const root = await mkdtemp(join(tmpdir(), 'service-'))
  const store = createDiskStore({ root })
  let stopped = now
  const clock = {
    get now(): Date {
      return stopped ?? new Date()
    },
    set now(at: Date | undefined) {
      stopped = at
    },
  }
  const parts = { db: test.db, store, now: () => clock.now }
  const services = makeServices({ ...parts, ...overrides(parts) }, { DATABASE_URL: test.url, ...env })
  const { db, signingKeys, baseUrl } = services.platform
  await signingKeys.ensure()
  const { findKey, addKey, makeCaller } = createKeyring(test, scopes)
  const replaced = replace(services)
  const kept = services.features.filter(({ name }) => !replaced.some((feature) => feature.name === name))
  const app = await startApp(routesOf({ features: [...kept, ...replaced] }), {
    // Also keys that have a row.
    findKey: async (raw, address) => (await findKey(raw, address)) ?? services.account.keys.find(raw, address),
    findSession: services.account.sessions.find,
    findDirectory: services.account.directoryTokens.find,
    cookies: services.platform.cookies,
    findOverCap: services.account.usage.caps.check,
    recordRefusal: services.account.refusals.recordAct,
    findEffect: createFindEffect(db),
    keepStatus: createKeepStatus(db),
    jwks: signingKeys.jwks,
    baseUrl,
    ...appDeps,
  })

  return {
    test,
    services,
    store,
    async files() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    },
    app,
    clock,
    addKey,
    makeCaller,
    call: ({ key }, path, sent = {}) => call(app, path, key === undefined ? sent : { ...sent, key }),
    async signIn(accountId, { role = 'owner', email, isSandboxOnly = false } = {}) {
      const userId = newAccountId('usr')
      const session = await test.db.system('sign in', async (tx) => {
        await tx.query('INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, $4)', [
          accountId,
          userId,
          email ?? `${userId}@example.com`,
          role,
        ])
        return services.account.sessions.create(tx, { accountId, userId, method: 'magic_link', isSandboxOnly })
      })
      return { userId, sessionId: session.id, headers: cookiesOf(session, { cookies: services.platform.cookies }) }
    },
    events: ({ accountId }) =>
      test.owner('SELECT type, data FROM events WHERE account_id = $1 ORDER BY id', [accountId]),
    async entries({ accountId }, kind) {
      const rows = await test.owner<{ entry: string }>(
        'SELECT entry FROM decisions WHERE account_id = $1 AND ($2::text IS NULL OR kind = $2) ORDER BY id',
        [accountId, kind ?? null],
      )
      return rows.map(({ entry }) => JSON.parse(entry))
    },
    async count(table) {
      const [row] = await test.owner<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
      return row?.count ?? 0
    },
    async makeClaim({ accountId, environment }, columns = {}) {
      const row = { account_id: accountId, environment, id: newId('clm', environment), ...columns }
      const names = Object.keys(row)
      const places = names.map((_, index) => `$${index + 1}`)
      await test.owner(`INSERT INTO claims (${names.join(', ')}) VALUES (${places.join(', ')})`, Object.values(row))
      return row.id
    },
    async close() {
      const unrecorded = await findUnrecorded()
      await app.close()
      await services.close()
      await test.close()
      await rm(root, { recursive: true, force: true })
      if (unrecorded.length > 0) throw new Error(`not in the audit log: ${unrecorded.join(', ')}`)
    },
  }

  async function findUnrecorded(): Promise<string[]> {
    const rows = await test.owner<{ action: string }>('SELECT DISTINCT action FROM audit_entries')
    return app.acted().filter((action) => !rows.some((row) => row.action === action))
  }
}
