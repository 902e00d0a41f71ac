// The parts of a process: those of the platform, then each product's. Creating them does no I/O and starts nothing. An
// unused part costs a process nothing, and closing goes in reverse order.

import { Registry } from 'prom-client'
import type { QueueName } from './catalogue/queues.ts'
import type { Config } from './config.ts'
import { createBulkWork } from './platform/bulk-work.ts'
import { detached } from './platform/context.ts'
import { createLinkTokens } from './platform/crypto/link-token.ts'
import { createSealer } from './platform/crypto/seal.ts'
import { createSigningKeys } from './platform/crypto/signing-keys.ts'
import { createClock } from './platform/db/clock.ts'
import { createDatabase } from './platform/db/database.ts'
import type { Platform } from './platform/feature.ts'
import { createPager } from './platform/http/page.ts'
import { createSessionCookies } from './platform/http/session-cookie.ts'
import { createEngine } from './platform/jobs/bull.ts'
import type { Work } from './platform/jobs/consume.ts'
import { createDispatcher } from './platform/jobs/dispatch.ts'
import { createWaiters } from './platform/jobs/waiters.ts'
import { createLedger } from './platform/ledger/record.ts'
import type { Log } from './platform/log.ts'
import { createTxtLookup } from './platform/net/lookup.ts'
import { createOutbound } from './platform/net/outbound.ts'
import { parseStoreAddress } from './platform/store/address.ts'
import { openStore } from './platform/store/open.ts'
import { timeStep } from './platform/time-limit.ts'
import { createProducts } from './products.ts'

interface ServiceDeps {
  config: Config
  log: Log
  /** Registry of the parts' metrics. */
  registry?: Registry
  /** All of the process's connections serve system transactions: a dispatcher's queues must not wait for each other. */
  worksWithoutTenants?: boolean
  /** Statements without a tenant end after 15 s instead of 60, and a connection to a host that vanished soon after. */
  limitsSystemStatements?: boolean
  /** Parts of the platform that replace the real ones, for tests. */
  overrides?: Partial<Platform>
}

export type Services = ReturnType<typeof createServices>

export function createServices({
  config,
  log,
  registry = new Registry(),
  worksWithoutTenants = false,
  limitsSystemStatements = false,
  overrides = {},
}: ServiceDeps) {
  const stack = new AsyncDisposableStack()
  const onClose = (close: () => unknown, what = 'a feature') =>
    stack.defer(() => timeStep(log, `close ${what}`, async () => void (await close())))
  const platform = {
    ...createPlatform({
      config,
      log,
      registry,
      worksWithoutTenants,
      limitsSystemStatements,
      onClose,
      overrides,
    }),
    ...overrides,
  }
  const products = createProducts(platform, config)
  return { platform, ...products, close: () => stack.disposeAsync() }
}

type PlatformDeps = Required<ServiceDeps> & Pick<Platform, 'onClose'>

function createPlatform({
  config,
  log,
  registry,
  worksWithoutTenants,
  limitsSystemStatements,
  onClose,
  overrides,
}: PlatformDeps): Platform {
  const db =
    overrides.db ??
    closing(
      'database',
      createDatabase({
        url: config.DATABASE_URL,
        poolSize: config.DATABASE_POOL,
        usesDriverInternals: config.DATABASE_DRIVER_INTERNALS === 'on',
        ...(worksWithoutTenants && { systemPoolSize: config.DATABASE_POOL }),
        limitsSystemStatements,
        // The connection may have been opened for a request other than the current one.
        onError: (error) => detached(() => log.warn({ err: error }, 'a database connection broke')),
      }),
    )
  const clock = closing(
    'clock',
    createClock({
      db,
      onOffset: (offsetMs) => log.warn({ offsetMs }, 'the local clock differs from that of Postgres, which is used'),
    }),
  )
  const now = overrides.now ?? (() => clock.now())
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, QUEUE_PREFIX: prefix } = config
  const engine = closing('engine', createEngine(redisUrl === undefined ? { databaseUrl } : { redisUrl, prefix }))
  const dispatcher = closing('dispatcher', createDispatcher({ db, engine, log, registry }))
  const previous = config.MASTER_KEYS_PREVIOUS.map(parseMasterKey)
  const sealer = createSealer({ current: { id: config.MASTER_KEY_ID, key: config.MASTER_KEY }, previous })
  const baseUrl = (config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/+$/, '')
  return {
    db,
    clock,
    now,
    engine,
    dispatcher,
    dispatchSoon: (queue) => (jobId) =>
      dispatcher
        .dispatchOne(queue, jobId)
        .catch((error: unknown) =>
          log.debug({ err: error, job: jobId }, 'eager dispatch failed; the dispatcher takes the job'),
        ),
    waiters: closing('waiters', createWaiters({ db, reports: engine.settled })),
    bulkWork: createBulkWork({ connections: config.DATABASE_POOL }),
    outbound: closing('outbound calls', createOutbound({ allow: config.OUTBOUND_ALLOW })),
    lookupTxt: createTxtLookup(),
    sealer,
    ledger: createLedger({ db, sealer }),
    signingKeys: createSigningKeys({ db, sealer, now }),
    store: closing(
      'store',
      openStore(parseStoreAddress(config.BLOB_STORE), {
        credentials: awsKeys(config),
        region: config.AWS_REGION,
        maxSpoolBytes: config.S3_SPOOL_MEGABYTES * 1024 * 1024,
      }),
    ),
    pager: createPager({ key: config.MASTER_KEY, previous: previous.map(({ key }) => key) }),
    cookies: createSessionCookies({ key: config.MASTER_KEY, previous: previous.map(({ key }) => key), baseUrl }),
    linkTokens: createLinkTokens([config.MASTER_KEY, ...previous.map(({ key }) => key)]),
    baseUrl,
    log,
    registry,
    onClose,
  }

  function closing<Part extends { close(): unknown }>(what: string, part: Part): Part {
    onClose(() => part.close(), what)
    return part
  }
}

function parseMasterKey(pair: string): { id: string; key: Buffer } {
  const [id = '', ...rest] = pair.split('=')
  return { id, key: Buffer.from(rest.join('='), 'base64') }
}

function awsKeys({ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, ...config }: Config) {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, sessionToken: config.AWS_SESSION_TOKEN }
}

/** The job handler of a queue, from the feature that declares it. */
export function workOf<Q extends QueueName>({ features }: Pick<Services, 'features'>, queue: Q): Work<Q> {
  for (const { work } of features) {
    const create = work?.[queue]
    if (create !== undefined) return create()
  }
  throw new Error(`no feature declares the work of the queue ${queue}`)
}

/**
 * Job handlers for what an operator does to jobs of any queue. The features are made once more, with a registry of their own: this
 * process has the metrics of its own work alone.
 */
export function createSpareWork({ platform }: Services, config: Config): <Q extends QueueName>(queue: Q) => Work<Q> {
  let spare: Pick<Services, 'features'> | undefined
  const made = new Map<QueueName, unknown>()
  return <Q extends QueueName>(queue: Q) => {
    spare ??= createProducts({ ...platform, registry: new Registry() }, config)
    const work = made.get(queue) ?? workOf(spare, queue)
    made.set(queue, work)
    return work as Work<Q>
  }
}
