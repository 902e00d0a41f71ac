// The parts that processes are made of, put together once per process. Each part is made when it is first asked for, and
// closed in the reverse order, so that a worker without media has no media thread and a part outlives what uses it.

import { Registry } from 'prom-client'
import { createAccounts } from './account/keys/accounts.ts'
import { createKeys } from './account/keys/keys.ts'
import { createDeliver } from './account/webhooks/deliver.ts'
import { createWebhooks } from './account/webhooks/endpoints.ts'
import { countAttempts, reportDisabled } from './account/webhooks/metrics.ts'
import { createBatches } from './attest/batches/batches.ts'
import { createC2paAnchors } from './attest/c2pa/anchors.ts'
import { createCaptures } from './attest/captures/captures.ts'
import { createStreams } from './attest/captures/streams.ts'
import { createCases } from './attest/cases/cases.ts'
import { createOpenCase } from './attest/cases/escalation.ts'
import { CASE_SETTINGS } from './attest/cases/settings.ts'
import { createClaims } from './attest/claims/claims.ts'
import { createClaimErasure } from './attest/claims/erase.ts'
import { createVerify } from './attest/claims/verify.ts'
import { createChallenges } from './attest/devices/challenges.ts'
import { createDevices } from './attest/devices/devices.ts'
import { createRootCas } from './attest/devices/roots.ts'
import { createDuplicates } from './attest/duplicates/duplicates.ts'
import { createDuplicateFindings } from './attest/duplicates/findings.ts'
import { createHasher } from './attest/duplicates/hasher.ts'
import { createEvidence } from './attest/evidence/evidence.ts'
import { createRenderer } from './attest/evidence/renderer.ts'
import { createThumbnailReader } from './attest/evidence/thumbnails.ts'
import { createListReader, GOOGLE_LIST_URL } from './attest/hardware/lists.ts'
import { readExpectedApps, readVendorRoots } from './attest/hardware/roots.ts'
import { createC2paReader } from './attest/media/c2pa.ts'
import { readTrustAnchors } from './attest/media/c2pa-trust.ts'
import { createDecoder } from './attest/media/decoder.ts'
import { createEraser } from './attest/media/erase.ts'
import { createInspector } from './attest/media/inspector.ts'
import { createMedia } from './attest/media/media.ts'
import { createRiskPolicy } from './attest/policy/risk-policy.ts'
import { createReevaluations } from './attest/reevaluate/reevaluations.ts'
import { createScreeningBatches } from './attest/screen/batches.ts'
import { openDetector } from './attest/screen/detectors/open.ts'
import { rejudgeAttested } from './attest/screen/late.ts'
import { createScreeningMetrics } from './attest/screen/metrics.ts'
import { createObserve } from './attest/screen/observe.ts'
import { createScreen } from './attest/screen/screen.ts'
import { createScreenings } from './attest/screen/screenings.ts'
import { createScreeningSettings } from './attest/screen/settings.ts'
import type { Config } from './config.ts'
import { detached } from './platform/context.ts'
import { createSealer } from './platform/crypto/seal.ts'
import { createSigningKeys } from './platform/crypto/signing-keys.ts'
import { createClock } from './platform/db/clock.ts'
import { createDatabase } from './platform/db/database.ts'
import { createPager } from './platform/http/page.ts'
import { createEngine } from './platform/jobs/bull.ts'
import { createDispatcher } from './platform/jobs/dispatch.ts'
import { createDispatchMetrics } from './platform/jobs/metrics.ts'
import type { QueueName } from './platform/jobs/queues.ts'
import { createWaiters } from './platform/jobs/waiters.ts'
import type { Log } from './platform/log.ts'
import { createOutbound } from './platform/net/outbound.ts'
import { parseStoreAddress } from './platform/store/address.ts'
import { openStore } from './platform/store/open.ts'

interface ServiceDeps {
  config: Config
  log: Log
  /** Where parts count what they do. */
  registry?: Registry
  /** All of the process's connections are for system transactions: a dispatcher's queues must not wait for each other. */
  worksWithoutTenants?: boolean
}

export function createServices({ config, log, registry = new Registry(), worksWithoutTenants = false }: ServiceDeps) {
  const stack = new AsyncDisposableStack()
  const now = () => clock().now()

  const db = lazy(() => {
    const made = createDatabase({
      url: config.DATABASE_URL,
      poolSize: config.DATABASE_POOL,
      ...(worksWithoutTenants && { systemPoolSize: config.DATABASE_POOL }),
      // Whose request the connection was once made for is not whose it is now.
      onError: (error) => detached(() => log.warn({ err: error }, 'a database connection broke')),
    })
    stack.defer(() => made.close())
    return made
  })
  const clock = lazy(() => {
    const made = createClock({
      db: db(),
      onOffset: (offsetMs) => log.warn({ offsetMs }, 'the clock of this machine is not that of Postgres, which counts'),
    })
    stack.defer(async () => made.close())
    return made
  })
  const engine = lazy(() => {
    const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, QUEUE_PREFIX: prefix } = config
    const made = createEngine(redisUrl === undefined ? { databaseUrl } : { redisUrl, prefix })
    stack.defer(() => made.close())
    return made
  })
  const dispatcher = lazy(() => {
    const made = createDispatcher({ db: db(), engine: engine(), log, metrics: createDispatchMetrics(registry) })
    stack.defer(() => made.close())
    return made
  })
  const waiters = lazy(() => {
    const made = createWaiters(db())
    stack.defer(() => made.close())
    return made
  })
  const inspector = lazy(() => {
    const made = createInspector()
    stack.defer(() => made.close())
    return made
  })
  const c2pa = lazy(() => {
    const { C2PA_TRUST_ANCHORS: path } = config
    const made = createC2paReader({ anchors: path === undefined ? [] : readTrustAnchors(path) })
    stack.defer(() => made.close())
    return made
  })
  const decoder = lazy(() => {
    const made = createDecoder({
      // A picture over the limits is its sender's affair, and the line names the request. Only a crash needs an operator.
      onEnded: (ended) => log[DECODER_ENDS[ended.reason]](ended, 'a process that decodes pictures ended'),
    })
    stack.defer(() => made.close())
    return made
  })
  const outbound = lazy(() => {
    const made = createOutbound({ allow: config.OUTBOUND_ALLOW })
    stack.defer(() => made.close())
    return made
  })
  const sealer = lazy(() =>
    createSealer({
      current: { id: config.MASTER_KEY_ID, key: config.MASTER_KEY },
      previous: config.MASTER_KEYS_PREVIOUS.map(parseMasterKey),
    }),
  )
  const store = lazy(() => {
    const made = openStore(parseStoreAddress(config.BLOB_STORE), {
      credentials: awsKeys(config),
      region: config.AWS_REGION,
    })
    stack.defer(() => made.close())
    return made
  })
  const pager = lazy(() => createPager({ key: config.MASTER_KEY }))
  const caseSettings = { ...CASE_SETTINGS, fourEyes: config.CASES_FOUR_EYES === 'on' }
  const openCase = config.CASES_ON_ESCALATION === 'on' ? createOpenCase({ now, settings: caseSettings }) : undefined
  const dispatchSoon = (queue: QueueName) => (jobId: string) =>
    dispatcher()
      .dispatchOne(queue, jobId)
      .catch((error: unknown) => log.debug({ err: error, job: jobId }, 'left to the dispatcher'))
  const signingKeys = lazy(() => createSigningKeys({ db: db(), sealer: sealer(), now }))
  const eraser = lazy(() => createEraser({ db: db(), store: store() }))
  const media = lazy(() => createMedia({ db: db(), store: store(), inspector: inspector(), decoder: decoder(), now }))
  const streams = lazy(() => createStreams({ db: db(), store: store(), now }))
  const keys = lazy(() => {
    const made = createKeys({ db: db(), now, onError: (error) => log.debug({ err: error }, 'a key use was not noted') })
    stack.defer(() => made.settle())
    return made
  })

  const revocationUrl = revocationUrlOf(config)
  const revocations = lazy(() => createListReader({ db: db(), url: revocationUrl }))
  const trust = lazy(() => ({
    roots: readVendorRoots(config.ATTESTATION_TEST_ROOTS),
    apps: readExpectedApps(config.ATTESTATION_APPS),
    revocations: revocations(),
  }))

  return {
    db,
    outbound,
    /** Undefined: this deployment asks no list of revoked attestation keys. */
    revocationUrl,
    clock,
    engine,
    dispatcher,
    store,
    signingKeys,
    media,
    keys,
    accounts: lazy(() => createAccounts({ db: db() })),
    claims: lazy(() =>
      createClaims({
        db: db(),
        storeInline: media().storeInline,
        streams: streams(),
        dispatchSoon: dispatchSoon('attest'),
        waiters: waiters(),
        pager: pager(),
        now,
      }),
    ),
    cases: lazy(() => createCases({ db: db(), pager: pager(), now, settings: caseSettings })),
    evidence: lazy(() =>
      createEvidence({
        db: db(),
        pager: pager(),
        signRecord: signingKeys().signRecord,
        jwks: signingKeys().jwks,
        revocations: revocations(),
        thumbnail: createThumbnailReader(media()),
        renderPdf: createRenderer(),
        baseUrl: (config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/+$/, ''),
        now,
        log,
      }),
    ),
    eraser,
    claimErasure: lazy(() => createClaimErasure({ db: db(), eraser: eraser(), log })),
    batches: lazy(() => createBatches({ db: db(), pager: pager(), now })),
    captures: lazy(() => createCaptures({ db: db(), now })),
    riskPolicy: lazy(() => createRiskPolicy({ db: db(), pager: pager(), log })),
    reevaluations: lazy(() => createReevaluations({ db: db(), pager: pager() })),
    streams,
    devices: lazy(() => createDevices({ db: db(), pager: pager(), now, trust: trust() })),
    challenges: lazy(() => createChallenges({ db: db(), now })),
    duplicates: lazy(() => createDuplicates({ db: db(), store: store(), hasher: createHasher(decoder()), log })),
    duplicateFindings: lazy(() => createDuplicateFindings({ db: db(), pager: pager() })),
    rootCas: lazy(() => createRootCas({ db: db(), pager: pager(), now })),
    c2pa,
    c2paAnchors: lazy(() => createC2paAnchors({ db: db(), pager: pager(), now })),
    webhooks: lazy(() => createWebhooks({ db: db(), sealer: sealer(), outbound: outbound(), pager: pager(), now })),
    verify: lazy(() =>
      createVerify({
        db: db(),
        store: store(),
        inspector: inspector(),
        c2pa: c2pa(),
        signRecord: signingKeys().signRecord,
        revocations: revocations(),
        now,
        openCase,
      }),
    ),
    screenings: lazy(() =>
      createScreenings({
        db: db(),
        storeInline: media().storeInline,
        dispatchSoon: dispatchSoon('screen'),
        waiters: waiters(),
        pager: pager(),
        now,
      }),
    ),
    screeningBatches: lazy(() => createScreeningBatches({ db: db(), now })),
    screeningSettings: lazy(() => createScreeningSettings({ db: db() })),
    screen: lazy(() =>
      createScreen({
        db: db(),
        store: store(),
        detector: openDetector(config, { outbound, now }),
        observe: createObserve({ db: db(), store: store(), inspector: inspector(), c2pa: c2pa() }),
        onScored: rejudgeAttested,
        now,
        metrics: createScreeningMetrics(registry),
        log,
      }),
    ),
    deliver: lazy(() =>
      createDeliver({
        db: db(),
        sealer: sealer(),
        outbound: countAttempts(outbound(), registry),
        now,
        random: Math.random,
        timeDivisor: config.WEBHOOK_TIME_DIVISOR,
        onDisabled: reportDisabled(registry, log),
      }),
    ),
    close: () => stack.disposeAsync(),
  }
}

const DECODER_ENDS = { idle: 'debug', slow: 'info', timeout: 'info', memory: 'info', crashed: 'warn' } as const

export type Services = ReturnType<typeof createServices>

function lazy<Part>(make: () => Part): () => Part {
  let made: { part: Part } | undefined
  return () => {
    made ??= { part: make() }
    return made.part
  }
}

function revocationUrlOf({ ANDROID_REVOCATION_URL: url, MODE }: Config): string | undefined {
  return url ?? (MODE === 'production' ? GOOGLE_LIST_URL : undefined)
}

function parseMasterKey(pair: string): { id: string; key: Buffer } {
  const [id = '', ...rest] = pair.split('=')
  return { id, key: Buffer.from(rest.join('='), 'base64') }
}

function awsKeys({ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, ...config }: Config) {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, sessionToken: config.AWS_SESSION_TOKEN }
}
