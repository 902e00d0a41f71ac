// The only reader of process.env. Each key has a default and a sentence; docs/operate/configuration.md is made of them.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { keysConfig } from './account/keys/config.ts'
import { loginConfig } from './account/login/config.ts'
import { mailConfig } from './account/mail/config.ts'
import { webhooksConfig } from './account/webhooks/config.ts'
import { casesConfig } from './attest/cases/config.ts'
import { hardwareConfig } from './attest/hardware/config.ts'
import { mediaConfig } from './attest/media/config.ts'
import { screenConfig } from './attest/screen/config.ts'
import { exclusionConfig } from './authorize/exclusions/config.ts'
import { passkeysConfig } from './authorize/passkeys/config.ts'
import { QUEUES, type QueueName } from './catalogue/queues.ts'
import { type ConfigPart, count, defineConfig, httpAddress, mergeKeys, number } from './platform/config-keys.ts'
import { masterKeyConfig } from './platform/crypto/config.ts'
import { databaseConfig } from './platform/db/config.ts'
import { httpConfig } from './platform/http/config.ts'
import { concurrencyConfig, concurrencyKey, engineConfig } from './platform/jobs/config.ts'
import { limitsConfig } from './platform/limits/config.ts'
import { outboundConfig } from './platform/net/config.ts'
import { storeConfig } from './platform/store/config.ts'
import { modelsConfig } from './trace/models/config.ts'

// The keys of every process, whatever it runs.
const processConfig = defineConfig({
  title: 'Every process',
  keys: {
    STUCK_AFTER_SECONDS: count(60).describe('A worker with waiting jobs and no progress for this long exits.'),
    SHUTDOWN_NOTICE_SECONDS: number
      .min(0, 'must be 0 to 600')
      .max(600, 'must be 0 to 600')
      .default(0)
      .describe(
        'How long a stopping web says so on /health/ready before it stops accepting; part of SHUTDOWN_SECONDS.',
      ),
    SHUTDOWN_SECONDS: count(25).describe('How long a stopping process may take.'),
    LOG_LEVEL: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be trace, debug, info, warn, error or silent')
      .default('info')
      .describe('pino’s level.'),
    OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress
      .optional()
      .describe(
        'Collector that traces are sent to, such as http://collector:4318; without it there are none. See docs/operate/monitor.md#traces.',
      ),
    OTEL_TRACES_SAMPLER_ARG: z.coerce
      .number('must be a number')
      .min(0, 'must be 0 to 1')
      .max(1, 'must be 0 to 1')
      .default(1)
      .describe('Share of traces that are recorded, 0 to 1.'),
    FAILPOINT: z.string().optional().describe('Ends the process at a named step, for crash tests. Development only.'),
  },
  problems: ({ MODE, FAILPOINT }) =>
    MODE === 'production' && FAILPOINT !== undefined ? ['FAILPOINT: refused in production'] : [],
})

const modeConfig = defineConfig({
  title: 'Mode',
  keys: {
    MODE: z
      .enum(['development', 'production'], 'must be development or production')
      .default('development')
      .describe('production refuses every embedded default. See docs/operate/deploy.md#production.'),
  },
})

// In the order of docs/operate/configuration.md.
const PARTS = [
  modeConfig,
  databaseConfig,
  engineConfig,
  masterKeyConfig,
  storeConfig,
  httpConfig,
  limitsConfig,
  outboundConfig,
  hardwareConfig,
  screenConfig,
  mediaConfig,
  keysConfig,
  loginConfig,
  passkeysConfig,
  exclusionConfig,
  mailConfig,
  webhooksConfig,
  casesConfig,
  modelsConfig,
  processConfig,
  concurrencyConfig,
] as const satisfies ConfigPart[]

const settings = z.object(mergeKeys(PARTS))

export type Config = z.infer<typeof settings> & { concurrency(queue: QueueName): number; host: string }

/** @throws {Error} naming every key that is missing or wrong, in one message. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  // An empty key counts as unset: shells and compose files leave keys out that way.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = settings.safeParse(given)
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => describeIssue(issue, given))
  const problems = [...wrong, ...PARTS.flatMap((part: ConfigPart) => part.problems?.(given) ?? [])]
  if (!parsed.success || problems.length > 0) {
    throw new Error(`The configuration can't be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
  const values = parsed.data
  const chosen: Record<string, unknown> = values
  return {
    ...values,
    host: hostname(),
    concurrency: (queue) => Number(chosen[concurrencyKey(queue)] ?? QUEUES[queue].concurrency),
  }
}

/** This process's environment with changes, for processes that it starts. */
export function childEnvironment(changes: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes }
}

/** What the commands read before there is a configuration: which parts are named and which must be embedded. */
export function readDeploymentSettings(env: NodeJS.ProcessEnv = process.env) {
  const wanted = Number(env.PORT)
  const dataDirectory = env.DATA_DIR || fileURLToPath(new URL('../.data', import.meta.url))
  return {
    isProduction: env.MODE === 'production',
    databaseUrl: env.DATABASE_URL || undefined,
    ownerUrl: env.DATABASE_OWNER_URL || undefined,
    redisUrl: env.REDIS_URL || undefined,
    queuePrefix: env.QUEUE_PREFIX || undefined,
    masterKey: env.MASTER_KEY || undefined,
    blobStore: env.BLOB_STORE || undefined,
    host: env.HOST || '127.0.0.1',
    port: env.PORT ? wanted : undefined,
    internalPort: env.INTERNAL_PORT ? Number(env.INTERNAL_PORT) : undefined,
    mailDirectory: env.MAIL_DIR || undefined,
    loginEcho: env.LOGIN_ECHO || undefined,
    outboundAllow: env.OUTBOUND_ALLOW,
    logLevel: env.LOG_LEVEL,
    dataDirectory,
    modelDirectory: env.TRACE_MODEL_DIR || join(dataDirectory, 'models'),
  }
}

/** For docs and tests: each key with its sentence, and the title of its part. */
export function describeConfig(): { title: string; key: string; description: string }[] {
  const titles = new Map(PARTS.flatMap(({ title, keys }) => Object.keys(keys).map((key) => [key, title])))
  return Object.entries(settings.shape).map(([key, schema]) => ({
    title: titles.get(key) ?? '',
    key,
    description: schema.description ?? '',
  }))
}

function describeIssue({ path, message }: { path: PropertyKey[]; message: string }, given: NodeJS.ProcessEnv): string {
  const key = path.join('.')
  if (given[key] !== undefined) return `${key}: ${message}`
  return `${key}: is missing. ${describeConfig().find((entry) => entry.key === key)?.description ?? ''}`
}
