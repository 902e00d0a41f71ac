// A whole system for tests that need real processes: the Procfile on a database of its own, and on one engine.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { inject } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { createVendor, type Vendor } from '../../capture-kit/vendor.ts'
import { choosePorts } from '../../commands/ports.ts'
import { type Supervisor, startProcesses } from '../../commands/supervisor.ts'
import { createWaits } from '../../commands/waits.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import type { EngineKind } from './engines.ts'

export interface System {
  baseUrl: string
  database: TestDatabase
  supervisor: Supervisor
  scope: Scope
  /** A key of `scope` with every scope. */
  key: string
  /** The maker of simulated phones that the system believes. */
  vendor: Vendor
  /** What the processes logged at warning and above, and their deaths. */
  warnings: string[]
  /** The lines that name processes which are not ready yet. */
  waits: string[]
  /** Starts one more process of a kind, beside those that run. */
  add(name: string, environment?: Record<string, string>): Promise<Supervisor>
  close(): Promise<void>
}

interface SystemOptions {
  engine: EngineKind
  only?: readonly string[]
  environment?: Record<string, string>
  environmentOf?(name: string, launch: number): Record<string, string>
  /** After how long without an answer a process counts as frozen. */
  silentAfterMs?: number
  /** How often the supervisor names processes that are not ready yet. */
  waitsEveryMs?: number
  /** Called with each such line. */
  onWait?(line: string): void
  /** Called before the processes start. */
  onDatabase?(database: TestDatabase): Promise<void>
  /** Everything that the processes log, as it comes. */
  onLog?(text: string): void
}

export async function startSystem({
  engine,
  only,
  environment: changes = {},
  environmentOf,
  silentAfterMs,
  waitsEveryMs,
  onWait = () => {},
  onDatabase = async () => {},
  onLog = () => {},
}: SystemOptions): Promise<System> {
  const database = await createTestDatabase()
  const directory = mkdtempSync(join(tmpdir(), 'countersign-system-'))
  const redisUrl = inject('redisUrl')
  const { web: port } = await choosePorts({ port: 0, internalPort: 0 })
  const vendor = await createVendor({ now: () => new Date() })
  const environment: Record<string, string> = {
    // vitest sets both of these for itself.
    MODE: 'development',
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: database.url,
    REDIS_URL: engine === 'redis' && redisUrl !== null ? redisUrl : '',
    QUEUE_PREFIX: `t${randomBytes(4).toString('hex')}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    BLOB_STORE: `disk:${directory}`,
    OUTBOUND_ALLOW: '127.0.0.1',
    ATTESTATION_TEST_ROOTS: vendor.roots,
    ATTESTATION_APPS: vendor.apps,
    PORT: String(port),
    // Counted, and never reached: one key makes the load of hundreds of callers.
    RATE_LIMITS: 'on',
    RATE_LIMIT_FACTOR: '10000',
    LOG_LEVEL: 'info',
    ...changes,
  }
  const warnings: string[] = []
  const waits: string[] = []
  const start = (names: readonly string[] | undefined, more: Record<string, string> = {}) =>
    startProcesses({
      environment: { ...environment, ...more },
      internalPortOf: () => 0,
      logOf: () =>
        new Writable({
          write: (chunk, _encoding, done) => {
            onLog(String(chunk))
            done()
          },
        }),
      onWarning: (line) => void warnings.push(line),
      waits: createWaits({
        say: (line) => {
          waits.push(line)
          onWait(line)
        },
        everyMs: waitsEveryMs,
      }),
      ...(names === undefined ? {} : { only: names }),
      ...(environmentOf === undefined ? {} : { environmentOf }),
      ...(silentAfterMs === undefined ? {} : { silentAfterMs }),
    })

  const added: Supervisor[] = []
  try {
    await onDatabase(database)
    const supervisor = await start(only)
    const account = await createAccounts({ db: database.db }).create({
      id: newAccountId('acc'),
      name: 'Test',
      plan: 'enterprise',
    })
    const scope: Scope = { accountId: account.id, environment: 'sandbox' }
    const { key } = await createKeys({ db: database.db }).create(scope, { name: 'test', scopes: ['all'] })
    return {
      baseUrl: `http://127.0.0.1:${port}`,
      database,
      supervisor,
      scope,
      key,
      vendor,
      warnings,
      waits,
      async add(name, more) {
        const one = await start([name], more)
        added.push(one)
        return one
      },
      async close() {
        await Promise.all([supervisor, ...added].map((one) => one.stop()))
        await database.close()
        rmSync(directory, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
