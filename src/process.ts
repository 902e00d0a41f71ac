// What every process of the Procfile does around its own work: configuration, log, internal port, and an ordered
// shutdown with a deadline: stop taking work, drain, close.

import { setTimeout as delay } from 'node:timers/promises'
import { isBackground, type ProcessName } from './catalogue/queues.ts'
import { type Config, readConfig } from './config.ts'
import { createDashboardFiles } from './dashboard/files.ts'
import { createOperations } from './dashboard/operations.ts'
import { refuseUnboundLogin, requireMigrated } from './platform/db/migrate.ts'
import { retryWhileSlow } from './platform/db/retry.ts'
import { type Check, createInternalApp } from './platform/http/internal.ts'
import { type Listening, listen } from './platform/http/server.ts'
import { createBoard } from './platform/jobs/board.ts'
import { armFailpoint } from './platform/jobs/failpoint.ts'
import { createInternalJobs } from './platform/jobs/internal-jobs.ts'
import { createLog, type Log } from './platform/log.ts'
import { collectPools, createMetrics, type Metrics } from './platform/metrics.ts'
import { lowerProcessPriority, restoreProcessPriority } from './platform/priority.ts'
import { startTelemetry } from './platform/telemetry.ts'
import { endsWithin, timeStep } from './platform/time-limit.ts'
import { createServices, createSpareWork, type Services } from './services.ts'

export interface ProcessContext {
  config: Config
  services: Services
  log: Log
  metrics: Metrics
  /** A named part of /health/ready. */
  check(name: string, check: Check): void
  /** Ends the process with a reason, for example when it is stuck. */
  fail(reason: string): void
  /** Runs a step of the start, which is safe to run twice, as long as a store takes too long for it. */
  patiently(step: () => Promise<void>): Promise<void>
}

export interface Running {
  /** Reported to the parent process: the port chosen for a configured 0. */
  port?: number
  stop(deadlineMs: number): Promise<void>
}

// Most of the stop time that is kept for what comes after the work: traces, threads, connections.
const CLOSING_MS = 3_000
// When the work ends early, closing may take longer: a busy machine needs seconds for it. Not all of the time to stop: a
// user waits for it, and what takes this long hangs.
const MAX_CLOSING_MS = 8_000
// A trace collector that hangs must not delay the end of a process for longer.
const FLUSH_MS = 1_500

/** Starts the work of a process, and says how it is ended. */
export type Start = (context: ProcessContext) => Promise<Running>

/**
 * Runs one process until a signal or the end of its parent process.
 * @param name Of its log and its metrics: one of the Procfile, or `all`.
 * @param processes Those of the Procfile whose work it does.
 */
export async function runProcess(
  name: ProcessName | 'all',
  start: Start,
  {
    processes = [],
    worksWithoutTenants = false,
  }: { processes?: readonly ProcessName[]; worksWithoutTenants?: boolean },
): Promise<void> {
  const config = readConfigOrExit()
  const log = createLog({ process: name, level: config.LOG_LEVEL })
  armFailpoint(config.FAILPOINT)
  const telemetry = await startTelemetry({
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    process: name,
    log,
  })
  const metrics = createMetrics({ process: name })
  const services = createServices({
    config,
    log,
    registry: metrics.registry,
    worksWithoutTenants,
    // Retention and the erasure of accounts have statements that take longer.
    limitsSystemStatements: !processes.includes('clock'),
  })
  // One function may collect for several processes, and a registry takes it once.
  const collects = services.features.flatMap(({ collect }) => processes.flatMap((process) => collect?.[process] ?? []))
  for (const collect of new Set(collects)) collect(metrics.registry)
  collectPools(metrics.registry, () => services.platform.db.pools())
  const checks: Record<string, Check> = {
    postgres: () => services.platform.db.readSystem('ready', () => ({ text: 'SELECT 1', values: [] })),
  }
  let running: Running | undefined
  let internal: Listening | undefined
  let isStopping = false

  const stop = async (reason: string, exitCode: number, deadlineMs = config.SHUTDOWN_SECONDS * 1_000) => {
    if (isStopping) return
    isStopping = true
    log.info({ reason }, 'stopping')
    // For a step that is not bounded.
    setTimeout(endNow, deadlineMs).unref()
    const deadline = performance.now() + deadlineMs
    const workDeadline = deadline - Math.min(CLOSING_MS, deadlineMs / 4)
    const workMs = () => workDeadline - performance.now()
    const step = <Result>(what: string, run: () => Promise<Result>) => timeStep(log, what, run)
    // Other processes wait for this end, and a lowered priority would delay it on a busy machine.
    restoreProcessPriority()
    try {
      // Still accepting: a load balancer must notice first, or it sends requests to a closed port.
      if (running?.port !== undefined) await delay(Math.min(config.SHUTDOWN_NOTICE_SECONDS * 1_000, workMs()))
      const work = running
      const end = () => endsWithin(work?.stop(Math.max(0, workMs())) ?? Promise.resolve(), workMs() + 100)
      if (!(await step('work', end))) log.warn('work did not end in time; it continues elsewhere')
      const closingMs = () => Math.min(MAX_CLOSING_MS, deadline - performance.now() - 250)
      const flushed = telemetry.close(Math.min(FLUSH_MS, closingMs() / 3))
      const surface = Promise.all([flushed, internal?.close(Math.min(500, closingMs() / 3))])
      await step('traces and internal port', () => endsWithin(surface, closingMs() / 3))
      if (!(await step('parts', () => endsWithin(services.close(), closingMs())))) endNow()
    } catch (error) {
      log.error({ err: error }, 'shutdown failed')
      process.exit(1)
    }
    process.exit(exitCode)
  }
  // process.exit() would wait for a thread that decodes a picture or resolves a name.
  const endNow = () => {
    log.error('closing took too long: the process kills itself')
    process.kill(process.pid, 'SIGKILL')
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(signal, 0))
  process.on('disconnect', () => void stop('the parent process is gone', 0))
  // A supervisor pings to tell a busy process from a frozen one.
  process.on(
    'message',
    (message: { ping?: boolean } | null) => message?.ping === true && process.send?.({ pong: true }),
  )

  const patiently = (step: () => Promise<void>) =>
    retryWhileSlow(step, (err) => log.warn({ err }, 'a store takes long to answer; this process waits for it'))
  try {
    await refuseUnboundLogin(config.DATABASE_URL)
    await patiently(() => requireMigrated(services.platform.db))
    await patiently(services.platform.clock.sync)
    services.platform.clock.keep()
    await removeRemains(services, log)
    running = await start({
      config,
      services,
      log,
      metrics,
      check: (label, check) => {
        checks[label] = check
      },
      fail: (reason) => {
        log.fatal({ reason }, 'this process must be replaced')
        // Work that hangs would not drain, however long the deadline.
        void stop(reason, 1, 1_000)
      },
      patiently,
    })
    const { db } = services.platform
    const password = config.BULL_BOARD_PASSWORD
    internal = await listen(
      createInternalApp({
        checks,
        registry: metrics.registry,
        parts: [
          createBoard({ db, engine: () => services.platform.engine, password, log }),
          createInternalJobs({ db, password, log, workOf: createSpareWork(services, config) }),
          ...createOperations(createDashboardFiles(), password),
        ],
        isStopping: () => isStopping,
        hosts: config.INTERNAL_HOSTS,
        onFailedCheck: (label, error) => log.warn({ check: label, err: error }, 'not ready'),
      }),
      { port: config.INTERNAL_PORT, host: config.INTERNAL_HOST },
    )
  } catch (error) {
    log.fatal({ err: error }, 'this process could not start')
    process.exit(1)
  }
  log.info({ port: running.port, internal: internal.port }, 'ready')
  for (const { onReady } of services.features) for (const process of processes) onReady?.[process]?.()
  // Not before: on a busy machine a start at a lower priority outlasts the patience of what waits for it.
  if (processes.every(isBackground)) lowerProcessPriority()
  process.send?.({ ready: name, port: running.port, internalPort: internal.port })
}

// A process whose folder can't be read starts all the same: its work does not need this.
async function removeRemains({ platform }: Services, log: Log): Promise<void> {
  try {
    const removed = await platform.store.start()
    if (removed > 0) log.info({ purged: { local_media: removed } }, 'removed local files of processes that were killed')
  } catch (error) {
    log.warn({ err: error }, 'local files of processes that were killed can not be looked for')
  }
}

function readConfigOrExit(): Config {
  try {
    return readConfig()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(78)
  }
}
