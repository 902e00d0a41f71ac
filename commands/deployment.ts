// A whole deployment on one machine: embedded parts for what is not named, migrations, the deployment's own keys, and the
// Procfile's processes, watched and restarted until `stop`.

import { createWriteStream, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { childEnvironment, readConfig, readDeploymentSettings } from '#src/config.ts'
import { startEmbeddedPostgres } from '#src/platform/db/embedded.ts'
import { migrate } from '#src/platform/db/migrate.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices, type Services } from '#src/services.ts'
import { choosePorts } from './ports.ts'
import { type DeploymentState, openState } from './state.ts'
import { startProcfile, type Supervisor } from './supervisor.ts'

/** All the publishable sandbox keys share one account, whose data anybody may see. */
export const SANDBOX_ACCOUNT = 'acc_sandbox'
const LOGIN = 'countersign'

export interface Prepared {
  directory: string
  state: DeploymentState
  /** For processes of this deployment. */
  environment: Record<string, string>
  /** Where Postgres keeps its data; undefined when it is not ours. */
  postgresDirectory: string | undefined
  engine: 'Redis' | 'Postgres'
  services: Services
  /** Lets go of the embedded parts. */
  release(): Promise<void>
}

interface PrepareOptions {
  directory?: string
  /** false: throw-away data need not reach the disk. */
  isDurable?: boolean
  say?: (line: string) => void
}

/** Makes everything ready that processes and administrators need; starts no process. */
export async function prepare({ directory: chosen, isDurable = true, say = () => {} }: PrepareOptions = {}): Promise<Prepared> {
  const settings = readDeploymentSettings()
  if (settings.isProduction && settings.databaseUrl === undefined) {
    throw new Error('MODE=production runs on no embedded part: set DATABASE_URL, REDIS_URL, MASTER_KEY, BLOB_STORE, BASE_URL.')
  }
  const directory = resolve(chosen ?? settings.dataDirectory)
  const state = openState(directory)
  const stack = new AsyncDisposableStack()
  try {
    const { databaseUrl, ownerUrl, postgresDirectory } = await choosePostgres()
    const environment: Record<string, string> = {
      DATABASE_URL: databaseUrl,
      ...(settings.redisUrl === undefined ? {} : { REDIS_URL: settings.redisUrl }),
      ...(settings.isProduction ? {} : embeddedDefaults(directory, state, settings)),
    }
    if (ownerUrl !== undefined) {
      const { applied } = await migrate({ ownerUrl, loginUrl: databaseUrl, migrateEngine })
      if (applied.length > 0) say(`Migrated the database (${applied.length} steps).`)
    }
    const config = readConfig(childEnvironment(environment))
    const services = createServices({ config, log: createLog({ process: 'command', level: 'warn' }) })
    stack.defer(() => services.close())
    if (!settings.isProduction) await seed(services, state)
    const engine = settings.redisUrl === undefined ? 'Postgres' : 'Redis'
    return { directory, state, environment, postgresDirectory, engine, services, release: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }

  async function choosePostgres() {
    if (settings.databaseUrl !== undefined) {
      const isOwnerNamed = settings.ownerUrl !== undefined
      return { databaseUrl: settings.databaseUrl, ownerUrl: isOwnerNamed ? settings.ownerUrl : undefined, postgresDirectory: undefined }
    }
    say('Starting embedded Postgres...')
    const postgres = await startEmbeddedPostgres({ directory: join(directory, 'embedded'), database: 'countersign', isDurable })
    stack.defer(() => postgres.release())
    const login = new URL(postgres.ownerUrl)
    login.username = LOGIN
    login.password = state.loginPassword
    return { databaseUrl: login.href, ownerUrl: postgres.ownerUrl, postgresDirectory: postgres.directory }
  }
}

function embeddedDefaults(directory: string, state: DeploymentState, settings: ReturnType<typeof readDeploymentSettings>) {
  return {
    MASTER_KEY: settings.masterKey ?? state.masterKey,
    BLOB_STORE: settings.blobStore ?? `disk:${join(directory, 'blobs')}`,
    // A newcomer's receiver is on their own machine.
    OUTBOUND_ALLOW: settings.outboundAllow ?? 'localhost,127.0.0.1,[::1]',
  }
}

async function seed(services: Services, state: DeploymentState): Promise<void> {
  const { sandboxKeys, account } = state
  const sandbox = await services.accounts().create({ id: SANDBOX_ACCOUNT, name: 'Sandbox', plan: 'developer' })
  const scope = { accountId: sandbox.id, environment: 'sandbox' } as const
  for (const [name, raw] of Object.entries(sandboxKeys) as [keyof typeof sandboxKeys, string][]) {
    await services.keys().create(scope, { name: `publishable ${name}`, scopes: [name], isAccountBearing: false, raw })
  }
  const own = await services.accounts().create({ id: account.id, name: 'My account', plan: 'enterprise' })
  const ownScope = { accountId: own.id, environment: 'sandbox' } as const
  await services.keys().create(ownScope, { name: 'first key', scopes: ['all'], raw: account.key })
  await services.signingKeys().ensure()
}

export interface Deployment extends Prepared {
  baseUrl: string
  /** Of each process: where /metrics and /health/ready are. */
  internalPorts: Record<string, number>
  /** Ends the processes in order, then the embedded parts. */
  stop(): Promise<void>
}

interface StartOptions extends PrepareOptions {
  /** Changes to the processes' environment. */
  overrides?: Record<string, string>
  /** Called with each line that a process logs at warning or above. */
  onWarning?: (line: string) => void
}

export async function startDeployment(options: StartOptions = {}): Promise<Deployment> {
  const prepared = await prepare(options)
  let supervisor: Supervisor | undefined
  try {
    const logs = join(prepared.directory, 'logs')
    mkdirSync(logs, { recursive: true })
    const ports = await choosePorts(readDeploymentSettings())
    const baseUrl = `http://localhost:${ports.web}`
    supervisor = await startProcfile({
      environment: { ...prepared.environment, PORT: String(ports.web), BASE_URL: baseUrl, ...options.overrides },
      internalPortOf: (name) => (name === 'web' ? ports.internal : 0),
      logOf: (name) => createWriteStream(join(logs, `${name}.log`), { flags: 'a', mode: 0o600 }),
      ...(options.onWarning === undefined ? {} : { onWarning: options.onWarning }),
    })
    const running = supervisor
    return {
      ...prepared,
      baseUrl,
      internalPorts: running.internalPorts,
      async stop() {
        await running.stop()
        await prepared.release()
      },
    }
  } catch (error) {
    await supervisor?.stop()
    await prepared.release()
    throw error
  }
}
