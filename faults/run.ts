// A fault run: starts stores, relays, receivers, processes and clients, injects one fault after the other while clients
// submit, lets all work end, and reads what is left for the checker.

import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import { type Environment, newAccountId } from '#src/platform/ids.ts'
import { fillCompileCache } from '../commands/compile-cache.ts'
import { freePort } from '../commands/ports.ts'
import { startMailServer } from '../test/support/smtp.ts'
import { until } from '../test/support/until.ts'
import { startAttackers } from './attackers.ts'
import { startAttributions } from './attributions.ts'
import { startSpending } from './budgets.ts'
import { startLoad } from './clients.ts'
import { startConsumers } from './consumers.ts'
import { startDetector } from './detector.ts'
import { type Evidence, readEvidence } from './evidence.ts'
import { startInferences } from './inferences.ts'
import { inject, type LinkName, type Scene } from './inject.ts'
import { startVerifications } from './intents.ts'
import { clock, type Journal, openJournal } from './journal.ts'
import { startDecisions, UNORDERED } from './ledger.ts'
import { startPeople } from './people.ts'
import { describeFault, type EngineKind, type Fault, type Kind } from './plan.ts'
import { type Instance, startInstance, weighedAs } from './processes.ts'
import { startRelays } from './proxy.ts'
import { startReceivers } from './receivers.ts'
import { type PostgresServer, startPostgresServer, startRedisServer } from './stores.ts'
import { settleTenant, type Tenant } from './tenant.ts'
import { layTrail } from './trail.ts'

export interface RunOptions {
  engine: EngineKind
  seed: number
  faults: readonly Fault[]
  /** No fault begins after this; undefined: all of them, however long that takes. */
  minutes?: number
  /** Exists; the caller that created it removes it. */
  directory: string
  /** How many of each kind run. */
  processes: Record<Kind, number>
  accounts: number
  openTarget: number
  batchSize: number
  pauseMs: number
  batchPauseMs: number
  maxCaptures?: number
  /** Pause between two faults. */
  gapMs: number
  /** Time without any fault before the first: the others are compared with it. */
  calmMs: number
  /** `settled`: the next fault comes when the system has recovered; `overlapping`: while it still recovers. */
  pace: 'settled' | 'overlapping'
  /** The processes record their memory once a minute. */
  isWeighed: boolean
  say(line: string): void
}

export interface RunResult {
  evidence: Evidence
  injected: number
  captures: number
  /** Time from the clients' first submission to their last answer. */
  loadMs: number
  /** Time from the last answer until no work was left. */
  drainMs: number
  /** Work that did not end. */
  left: number
}

// The query uses the partial indexes: reading all ended rows each second would be load by the run itself, more each
// minute. Leaves out the accounts in $1.
const OPEN_JOBS = `(SELECT queue, state, priority, run_at, account_id FROM jobs WHERE state = 'queued'
  UNION ALL SELECT queue, state, priority, run_at, account_id FROM jobs WHERE state = 'dispatched') AS jobs
  WHERE account_id <> ALL($1::text[])`

// A backlog is no lost work: the wait goes on while jobs end. The longest pause between two tries of a delivery, 24 hours
// divided by WEBHOOK_TIME_DIVISOR and its jitter, is 95 s.
const DRAIN_MS = 300_000
const NO_PROGRESS_MS = 150_000
const MAX_DRAIN_MS = 1_800_000
const SAMPLE_MS = 1_000
const PERSON_EVERY_MS = 500

export async function runFaults(options: RunOptions): Promise<RunResult> {
  const { directory, engine, say } = options
  const stack = new AsyncDisposableStack()
  const journals = {
    clients: openJournal(join(directory, 'clients.ndjson')),
    receivers: openJournal(join(directory, 'receivers.ndjson')),
    faults: openJournal(join(directory, 'faults.ndjson')),
  }
  try {
    await fillCompileCache()
    const postgres = await startPostgresServer(join(directory, 'postgres'))
    stack.defer(() => postgres.stop())
    await layTrail(postgres)
    const redis = engine === 'redis' ? await startRedisServer(directory) : undefined
    stack.defer(() => redis?.stop())
    const relays = await startRelays<LinkName>(['web', 'postgres', 'redis', 'receivers'])
    stack.defer(() => relays.stop())
    const receivers = await startReceivers(journals.receivers)
    stack.defer(() => receivers.close())
    const detector = await startDetector(journals.receivers)
    stack.defer(() => detector.close())
    const mails = await startMailServer(({ parsed }) =>
      journals.receivers.write({
        kind: 'mailed',
        at: clock(),
        mailId: /<(.*)@/.exec(parsed.messageId ?? '')?.[1] ?? '',
      }),
    )
    stack.defer(() => mails.close())
    await relays.target('postgres', [postgres.port()])
    await relays.target('redis', redis === undefined ? [] : [redis.port])
    await relays.target('receivers', [receivers.port])

    const instances: Instance[] = []
    stack.defer(async () => void (await Promise.all(instances.map((instance) => instance.stop()))))
    const baseUrl = `http://127.0.0.1:${relays.ports.web}`
    const environment = {
      MODE: 'development',
      BASE_URL: baseUrl,
      DATABASE_URL: postgres.loginUrl(relays.ports.postgres),
      REDIS_URL: redis === undefined ? '' : `redis://127.0.0.1:${relays.ports.redis}`,
      QUEUE_PREFIX: 'faults',
      MASTER_KEY: randomBytes(32).toString('base64'),
      BLOB_STORE: `disk:${join(directory, 'blobs')}`,
      OUTBOUND_ALLOW: '127.0.0.1',
      SMTP_URL: mails.url,
      SIGNUP: 'open',
      TRUSTED_PROXIES: '127.0.0.1',
      SCREENING_DETECTOR: 'http',
      SCREENING_URL: `http://127.0.0.1:${detector.port}/`,
      // The schedule of 75 hours passes in four minutes and a half.
      WEBHOOK_TIME_DIVISOR: '1000',
      // Counted, also while Redis breaks, and never reached: a few clients make the whole load.
      RATE_LIMITS: 'on',
      RATE_LIMIT_FACTOR: '10000',
      LOG_LEVEL: 'info',
    }
    const logs = join(directory, 'logs')
    mkdirSync(logs)
    const webPorts: number[] = []
    const wanted = (Object.keys(options.processes) as Kind[]).flatMap((kind) =>
      Array.from({ length: options.processes[kind] }, (_, index) => ({ kind, number: index + 1 })),
    )
    await Promise.all(
      wanted.map(async ({ kind, number }) => {
        const port = kind === 'web' ? await freePort() : 0
        if (kind === 'web') webPorts.push(port)
        const weighed = options.isWeighed ? weighedAs(`${kind}-${number}`, join(directory, 'weights.ndjson')) : {}
        const own = { ...environment, ...weighed, PORT: String(port) }
        instances.push(await startInstance({ kind, number, environment: own, directory: logs }))
      }),
    )
    instances.sort((a, b) => (a.name < b.name ? -1 : 1))
    await relays.target('web', webPorts)

    const tenants = await settleTenants(options, postgres, journals.clients, {
      url: baseUrl,
      receiversPort: relays.ports.receivers,
    })
    const assaults = options.faults.flatMap((fault) => (fault.name === 'attack' ? [fault.how] : []))
    const attackers = await startAttackers(postgres, { url: baseUrl, assaults })
    stack.defer(() => attackers.close())
    const scene: Scene = {
      instances,
      relays,
      redis,
      postgres,
      receivers,
      detector,
      attackers,
      journal: journals.faults,
    }
    const watch = startWatch(postgres, attackers.accountIds, journals.faults)
    const deciding = startDecisions(postgres.loginUrl(relays.ports.postgres), tenants)
    const verifying = startVerifications(baseUrl, tenants)
    const spending = await startSpending(baseUrl, tenants)
    const inferring = await startInferences(baseUrl, tenants)
    const attributing = await startAttributions(baseUrl, tenants)
    // The consumers of one account are enough: they check what they read and make no load.
    const pulling = await startConsumers(baseUrl, tenants.slice(0, 2))
    const load = startLoad({ ...options, tenants, url: baseUrl, journal: journals.clients, open: watch.open })
    const people = startPeople({ url: baseUrl, mails, journal: journals.clients, pauseMs: PERSON_EVERY_MS })
    const since = clock()
    const injected = await injectAll(scene, options, since)
    const clients = [load, deciding, verifying, spending, inferring, attributing, pulling, people]
    await Promise.all(clients.map((client) => client.stop()))
    const loadMs = clock() - since
    say(`${load.submitted()} captures submitted in ${Math.round(loadMs / 1_000)} s; waiting for the end of all work`)
    const { drainMs, left } = await drain(postgres, attackers.accountIds)
    await watch.stop()
    const shown = await attributing.download()
    await Promise.all(instances.map((instance) => instance.stop()))
    await Promise.all(Object.values(journals).map((journal) => journal.close()))
    const evidence = await readEvidence(postgres, {
      directory,
      hostile: attackers.accountIds,
      decided: [...deciding.decided, ...verifying.decided],
      executedTwice: verifying.executedTwice,
      spending,
      inferring,
      attributing: { answered: attributing.answered, shown },
      pulling: pulling.facts,
    })
    return { evidence, injected, captures: load.submitted(), loadMs, drainMs, left }
  } finally {
    await stack.disposeAsync()
  }
}

async function injectAll(scene: Scene, options: RunOptions, since: number): Promise<number> {
  const { faults, minutes, gapMs, calmMs, pace, say } = options
  await delay(calmMs)
  const injecting: Promise<void>[] = []
  for (const [turn, fault] of faults.entries()) {
    if (minutes !== undefined && clock() - since > minutes * 60_000) break
    say(`${((clock() - since) / 1_000).toFixed(0).padStart(5)} s  ${describeFault(fault)}`)
    const ending = inject(scene, fault, turn, pace === 'settled')
    injecting.push(ending)
    if (pace === 'settled') await ending
    await delay(gapMs)
  }
  await Promise.all(injecting)
  return injecting.length
}

async function settleTenants(
  { accounts }: RunOptions,
  postgres: PostgresServer,
  journal: Journal,
  { url, receiversPort }: { url: string; receiversPort: number },
): Promise<Tenant[]> {
  const db = createDatabase({ url: postgres.loginUrl(postgres.port()) })
  const tenants: Tenant[] = []
  try {
    for (let number = 1; number <= accounts; number += 1) {
      const account = await createAccounts({ db }).create({
        id: newAccountId('acc'),
        name: `Insurer ${number}`,
        plan: 'enterprise',
      })
      for (const environment of ['sandbox', 'live'] as Environment[]) {
        const scope = { accountId: account.id, environment }
        const { key } = await createKeys({ db }).create(scope, {
          name: 'faults',
          scopes: ['verify', 'attest', 'admin', 'screen', 'intent', 'escalate'],
        })
        tenants.push(
          await settleTenant({
            ...scope,
            key,
            name: `${number}${environment}`,
            url,
            receivers: environment === 'sandbox' ? `http://127.0.0.1:${receiversPort}` : undefined,
            tell: journal.write,
          }),
        )
      }
    }
  } finally {
    await db.close()
  }
  return tenants
}

/** Reads the backlog once a second, past every relay. */
function startWatch({ owner }: PostgresServer, hostile: readonly string[], journal: Journal) {
  let open = 0
  let isStopping = false
  const sample = async () => {
    const [row] = await owner<{ open: number; oldest: number; interactive: number }>(
      `SELECT count(*) FILTER (WHERE queue = 'attest')::int AS open,
         coalesce(max(extract(epoch FROM now() - run_at)) FILTER (WHERE state = 'queued' AND run_at <= now()), 0)::float8
           AS oldest,
         coalesce(max(extract(epoch FROM now() - run_at)) FILTER (WHERE state = 'queued' AND run_at <= now()
           AND queue = 'attest' AND priority = 0), 0)::float8 AS interactive
       FROM ${OPEN_JOBS}`,
      [hostile],
    )
    if (row === undefined) return
    open = row.open
    journal.write({
      kind: 'sample',
      at: clock(),
      oldestDue: row.oldest,
      oldestDueInteractive: row.interactive,
      open,
    })
  }
  const watching = (async () => {
    while (!isStopping) {
      // While Postgres is down there is nothing to read.
      await sample().catch(() => {})
      await delay(SAMPLE_MS)
    }
  })()
  return {
    open: () => open,
    async stop() {
      isStopping = true
      await watching
    },
  }
}

async function drain(
  { owner }: PostgresServer,
  hostile: readonly string[],
): Promise<{ drainMs: number; left: number }> {
  const since = clock()
  let left = 0
  let fewest = Number.POSITIVE_INFINITY
  let deadline = since + DRAIN_MS
  const hasEnded = async () => {
    const [row] = await owner<{ left: number }>(`SELECT (count(*) + ${UNORDERED})::int AS left FROM ${OPEN_JOBS}`, [
      hostile,
    ])
    left = row?.left ?? 0
    if (left < fewest) deadline = Math.max(deadline, clock() + NO_PROGRESS_MS)
    fewest = Math.min(fewest, left)
    return left === 0 || clock() > deadline
  }
  await until(hasEnded, { timeoutMs: MAX_DRAIN_MS, everyMs: 250 }).catch(() => {})
  return { drainMs: clock() - since, left }
}
