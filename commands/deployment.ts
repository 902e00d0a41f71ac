// A whole deployment on one machine: embedded parts where none is configured, migrations, the deployment's own keys,
// and two processes or those of the Procfile, watched and restarted until `stop`.

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, childEnvironment, readConfig, readDeploymentSettings } from '#src/config.ts'
import { migrate, refuseUnboundLogin, requireMigrated } from '#src/platform/db/migrate.ts'
import { retryWhileSlow } from '#src/platform/db/retry.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices, type Services } from '#src/services.ts'
import { fillCompileCache } from './compile-cache.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/postgres.ts'
import { openLog } from './logs.ts'
import { choosePorts } from './ports.ts'
import { reachPostgres, reachRedis } from './reach.ts'
import { embeddedDefaults, seed } from './seed.ts'
import { type DeploymentState, makeDataDirectory, openState, recordAddress } from './state.ts'
import { type Supervisor, startProcesses, TWO_PROCESSES, warningOf } from './supervisor.ts'
import { createWaits, type Waits } from './waits.ts'

export interface Prepared {
  directory: string
  config: Config
  /** The deployment's own secrets and keys; undefined in production, where they are configured. */
  state: DeploymentState | undefined
  /** For processes of this deployment. */
  environment: Record<string, string>
  /** undefined when Postgres is not embedded. */
  postgres: EmbeddedPostgres | undefined
  services: Services
  /** Aborted by the signal, and when an embedded part is lost. */
  waits: Waits
  /** Resolves with the reason when an embedded part died and could not be restarted: the caller must stop. */
  lost: Promise<Error>
  /** Releases the embedded parts. */
  release(): Promise<void>
}

interface PrepareOptions {
  directory?: string
  /** A folder that is removed when the deployment ends or is killed: its data need not reach the disk. */
  transient?: string
  /** Changes to the environment. */
  overrides?: Record<string, string>
  say?: (line: string) => void
  /** Called with each line that a process, or this one, logs at warning or above. */
  onWarning?: (line: string) => void
  /** Ends the preparation or the start at whatever point it is; what was started is stopped in order. */
  signal?: AbortSignal
}

/**
 * Prepares everything that processes and administrators need; starts no process. What is slow is waited for without a
 * limit, and named in a warning every ten seconds.
 * @throws {Error} with a sentence for people; the signal's reason.
 */
export async function prepare(options: PrepareOptions = {}): Promise<Prepared> {
  const { transient, overrides = {}, say = () => {}, onWarning = () => {}, signal } = options
  const settings = readDeploymentSettings()
  // Checked first: in production a missing part would otherwise be embedded.
  if (settings.isProduction) readConfig(childEnvironment(overrides))
  const directory = resolve(options.directory ?? settings.dataDirectory)
  makeDataDirectory(directory)
  const state = settings.isProduction ? undefined : openState(directory)
  const environmentFor = (databaseUrl: string) => ({
    DATABASE_URL: databaseUrl,
    ...(state === undefined
      ? {}
      : embeddedDefaults({ directory, state, settings, isDatabaseOurs: settings.databaseUrl === undefined })),
    ...overrides,
  })
  // A wrong value is reported before Postgres is started.
  readConfig(childEnvironment(environmentFor(settings.databaseUrl ?? 'postgres://embedded')))
  const stack = new AsyncDisposableStack()
  const loss = new AbortController()
  const waits = createWaits({
    say: onWarning,
    signal: signal === undefined ? loss.signal : AbortSignal.any([signal, loss.signal]),
  })
  let isClosing = false
  const warn = (line: string) => {
    if (!isClosing) onWarning(warningOf(line) ?? line.trim())
  }
  try {
    const postgres = settings.databaseUrl === undefined && state !== undefined ? await startPostgres() : undefined
    void postgres?.lost.then((reason) => loss.abort(reason))
    const environment = environmentFor(
      postgres === undefined ? (settings.databaseUrl ?? '') : loginUrl(postgres.ownerUrl, state),
    )
    const config = readConfig(childEnvironment(environment))
    await bringUpToDate(config.DATABASE_URL, postgres?.ownerUrl ?? settings.ownerUrl)
    const services = createServices({ config, log: createLog({ process: 'command', level: 'warn' }, { write: warn }) })
    stack.defer(async () => {
      // Connections that break after this line break because we close.
      isClosing = true
      await services.close()
    })
    const { db } = services.platform
    await waits.until('the database', 'told its version', () => retryWhileSlow(() => requireMigrated(db)))
    if (state !== undefined) {
      const store = () => seed(services, state, config)
      await waits.until('the database', 'stored the first accounts', () => retryWhileSlow(store))
    }
    const lost = postgres?.lost ?? new Promise<Error>(() => {})
    const release = () => stack.disposeAsync()
    return { directory, config, state, environment, postgres, services, waits, lost, release }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }

  async function startPostgres(): Promise<EmbeddedPostgres> {
    say('Starting embedded Postgres...')
    const started = await startEmbeddedPostgres({
      directory: join(directory, 'embedded'),
      database: 'countersign',
      isDurable: transient === undefined,
      waits,
      ...(transient === undefined ? {} : { transient }),
    })
    stack.defer(() => started.release())
    if (started.isJoined) say('Another command on the same data runs it already: joined.')
    return started
  }

  async function bringUpToDate(databaseUrl: string, ownerUrl: string | undefined): Promise<void> {
    if (ownerUrl !== undefined) {
      await reachPostgres('DATABASE_OWNER_URL', ownerUrl, { waits })
      const remedy = settings.databaseUrl === undefined ? `remove ${directory} and all data in it` : undefined
      const { applied, newer } = await waits.until('the migration of the database', 'ended', () =>
        migrate({ ownerUrl, loginUrl: databaseUrl, migrateEngine, onWait: say, remedy }),
      )
      if (applied.length > 0) say(`Migrated the database (${applied.length} steps).`)
      if (newer.length > 0) say(`The database is newer than this code (it has ${newer.join(', ')}).`)
    }
    const hint = '. `npm run migrate` with DATABASE_OWNER_URL makes a login that is missing.'
    await reachPostgres('DATABASE_URL', databaseUrl, { hint, waits })
    await waits.until('the database', 'told what the login may do', () => refuseUnboundLogin(databaseUrl))
  }
}

const LOGIN = 'countersign'

function loginUrl(ownerUrl: string, state: DeploymentState | undefined): string {
  const login = new URL(ownerUrl)
  login.username = LOGIN
  login.password = state?.loginPassword ?? ''
  return login.href
}

export interface Deployment extends Prepared {
  baseUrl: string
  /** Usual ports that were in use, where none was requested. */
  takenPorts: number[]
  /** The port of each process for /metrics and /health/ready. */
  internalPorts: Record<string, number>
  logs: string
  /** Stops the processes in order, then the embedded parts. */
  stop(): Promise<void>
}

// Another program may take a port between our check and our listening; rarely, and never five times.
const PORT_TRIES = 5

interface DeploymentOptions extends PrepareOptions {
  /** One process for each line of the Procfile, as production has them, instead of two for everything. */
  runsProcfile?: boolean
}

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  // A port in use is reported before anything is started.
  await choosePorts(readDeploymentSettings())
  const prepared = await prepare(options)
  let running: Supervisor | undefined
  try {
    const { config, services, directory, waits } = prepared
    if (config.REDIS_URL !== undefined) await reachRedis(services.platform.engine, config.REDIS_URL, waits)
    await waits.until('the compile cache', 'been filled', fillCompileCache)
    const logs = join(directory, 'logs')
    mkdirSync(logs, { recursive: true })
    const { supervisor, baseUrl, takenPorts } = await startOnFreePort(prepared, logs, options)
    running = supervisor
    if (config.BASE_URL === undefined) recordAddress(directory, baseUrl)
    return {
      ...prepared,
      baseUrl,
      takenPorts,
      internalPorts: supervisor.internalPorts,
      logs,
      async stop() {
        await supervisor.stop()
        await prepared.release()
      },
    }
  } catch (error) {
    await running?.stop()
    await prepared.release()
    throw error
  }
}

async function startOnFreePort(
  { config, environment, waits }: Prepared,
  logs: string,
  { onWarning, runsProcfile = false }: DeploymentOptions,
) {
  const settings = readDeploymentSettings()
  for (let attempt = 1; ; attempt += 1) {
    const ports = await choosePorts(settings)
    const baseUrl = `http://${ADDRESSES[config.HOST] ?? config.HOST}:${ports.web}`
    try {
      const supervisor = await startProcesses({
        environment: { BASE_URL: config.BASE_URL ?? baseUrl, ...environment, PORT: String(ports.web) },
        ...(runsProcfile ? {} : { processes: TWO_PROCESSES }),
        internalPortOf: (name) => (name === 'web' ? ports.internal : 0),
        logOf: (name) => openLog(join(logs, `${name}.log`)),
        patienceMs: (config.SHUTDOWN_SECONDS + 5) * 1_000,
        waits,
        ...(onWarning === undefined ? {} : { onWarning }),
      })
      return { supervisor, baseUrl, takenPorts: ports.taken }
    } catch (error) {
      const isTaken = error instanceof Error && error.message.includes('EADDRINUSE')
      if (!isTaken || settings.port !== undefined || attempt === PORT_TRIES) throw error
    }
  }
}

// The addresses that users type for the addresses that a server listens on.
const ADDRESSES: Record<string, string> = {
  '127.0.0.1': 'localhost',
  '0.0.0.0': 'localhost',
  '::': 'localhost',
  '::1': '[::1]',
}
