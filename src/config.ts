// The only reader of process.env. Each key has a default and a sentence; `docs/operate.md` shows the same table.

import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { readExpectedApps, readVendorRoots } from './attest/hardware/roots.ts'
import { readTrustAnchors } from './attest/media/c2pa-trust.ts'
import { detectorProblems } from './attest/screen/detectors/open.ts'
import { QUEUE_NAMES, QUEUES, type QueueName } from './catalogue/queues.ts'
import { isGuessableKey } from './platform/crypto/guessable.ts'
import { parseStoreAddress } from './platform/store/address.ts'

const number = z.coerce.number('must be a number').int('must be a whole number')
const port = number.min(0, 'must be a port, 0 to 65535').max(65_535, 'must be a port, 0 to 65535')
const count = (fallback: number) =>
  number.min(1, 'must be 1 to 10000').max(10_000, 'must be 1 to 10000').default(fallback)
const label = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 lower-case letters, digits and hyphens')
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
const hostNames = list.pipe(
  z.array(z.string().regex(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i, 'must be host names, separated by commas')),
)
const masterKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64, as `openssl rand -base64 32` prints them')
  .transform((text) => Buffer.from(text, 'base64'))
const readBy = (read: (entries: string[]) => unknown) =>
  list.superRefine((entries, context) => {
    try {
      read(entries)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'can’t be read' })
    }
  })
const blobStore = z.string().superRefine((text, context) => {
  try {
    parseStoreAddress(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is not an address' })
  }
})
const trustAnchors = z.string().superRefine((path, context) => {
  try {
    readTrustAnchors(path)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'can’t be read' })
  }
})
const onOff = z.enum(['on', 'off'], 'must be on or off').default('on')
const rawKey = z.string().regex(/^svc_test_[0-9A-Za-z]{32}$/, 'must be svc_test_ and 32 base62 characters')

const settings = z.object({
  MODE: z
    .enum(['development', 'production'], 'must be development or production')
    .default('development')
    .describe('production refuses every embedded default.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be postgres://user:password@host:port/database' })
    .describe('The service’s own login, bound by row-level security.'),
  DATABASE_POOL: count(4).describe(
    'Connections per process for requests and jobs, of which one account uses all but one at most; 2 more are for keys and leases.',
  ),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be redis://host:port, or rediss:// for TLS' })
    .optional()
    .describe('Redis or Valkey for the queues; without it they use Postgres.'),
  QUEUE_PREFIX: label.default('cs').describe('Sets deployments apart that share one Redis.'),
  MASTER_KEY: masterKey.describe('Seals secrets and signing keys at rest. Losing it loses them.'),
  MASTER_KEY_ID: label.default('k1').describe('Names MASTER_KEY in what it sealed.'),
  MASTER_KEYS_PREVIOUS: list.describe('id=base64 pairs of keys that only open.'),
  BLOB_STORE: blobStore.describe('Where media are: disk:<folder> or s3://<bucket>/<prefix>.'),
  AWS_ACCESS_KEY_ID: z.string().optional().describe('For media on S3; without it the role of the machine or pod.'),
  AWS_SECRET_ACCESS_KEY: z.string().optional().describe('Its secret.'),
  AWS_SESSION_TOKEN: z.string().optional().describe('Of temporary keys.'),
  AWS_REGION: z.string().optional().describe('Of the bucket, where BLOB_STORE names none.'),
  BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('The public address, for links in answers.'),
  HOST: z.string().default('127.0.0.1').describe('Address that the API listens on; 0.0.0.0 in a container.'),
  PORT: port.default(8080).describe('Public port of the API.'),
  INTERNAL_HOST: z.string().default('127.0.0.1').describe('Address of the internal port; never a public one.'),
  INTERNAL_HOSTS: hostNames.describe(
    'Names by which the internal port may be asked, besides addresses and localhost. Other names are refused.',
  ),
  INTERNAL_PORT: port.default(9090).describe('/metrics and /health/ready of this process.'),
  BULL_BOARD_PASSWORD: z
    .string()
    .min(12, 'must have 12 characters at least')
    .optional()
    .describe('Allows its holder to pause queues on the board of the internal port; without one it is read-only.'),
  OUTBOUND_ALLOW: list.describe('Loopback hosts that webhooks may reach, such as localhost. Development only.'),
  ATTESTATION_APPS: readBy(readExpectedApps).describe(
    'Apps whose hardware evidence counts: android:<package>:<signing SHA-256> or apple:<team>.<bundle id>.',
  ),
  ATTESTATION_TEST_ROOTS: readBy(readVendorRoots).describe(
    'Public keys of simulated vendors, android:<base64> or apple:<base64>. Development only.',
  ),
  ANDROID_REVOCATION_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('List of revoked attestation keys. Google’s in production; without one development asks none.'),
  SCREENING_DETECTOR: z
    .enum(['none', 'sightengine', 'hive', 'http'], 'must be none, sightengine, hive or http')
    .default('none')
    .describe('Who scores synthetic media; without one screenings are unavailable.'),
  SCREENING_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('Address of the detector: needed for http, the vendor’s own otherwise.'),
  SCREENING_USER: z.string().optional().describe('Sightengine’s api_user.'),
  SCREENING_SECRET: z
    .string()
    .optional()
    .describe('Sightengine’s api_secret, Hive’s key, or the bearer token for http.'),
  SCREENING_VERSION: label
    .default('1')
    .describe('Names the detector’s model: after a change the same bytes are asked about again.'),
  C2PA_TRUST_ANCHORS: trustAnchors
    .optional()
    .describe('PEM file of the CAs whose C2PA signatures are trusted; without it no signer is.'),
  SANDBOX_KEY_ALL: rawKey.optional().describe('Publishable sandbox key with every scope.'),
  SANDBOX_KEY_VERIFY: rawKey.optional().describe('Publishable sandbox key with scope verify.'),
  SANDBOX_KEY_ATTEST: rawKey.optional().describe('Publishable sandbox key with scope attest.'),
  WEBHOOK_TIME_DIVISOR: count(1).describe('Divides the webhook retry delays, for tests. Development only.'),
  CASES_ON_ESCALATION: onOff.describe('Whether a claim that becomes failed gets a case.'),
  CASES_FOUR_EYES: onOff.describe('Whether denying a case for suspected fraud takes two adjusters.'),
  STUCK_AFTER_SECONDS: count(60).describe('A worker with waiting jobs and no progress for this long exits.'),
  SHUTDOWN_NOTICE_SECONDS: number
    .min(0, 'must be 0 to 600')
    .max(600, 'must be 0 to 600')
    .default(0)
    .describe('How long a stopping web says so on /health/ready before it stops accepting; part of the next one.'),
  SHUTDOWN_SECONDS: count(25).describe('How long a stopping process may take.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be trace, debug, info, warn, error or silent')
    .default('info')
    .describe('pino’s level.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('Collector that traces are sent to, such as http://collector:4318; without it there are none.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number('must be a number')
    .min(0, 'must be 0 to 1')
    .max(1, 'must be 0 to 1')
    .default(1)
    .describe('Share of traces that are recorded, 0 to 1.'),
  FAILPOINT: z.string().optional().describe('Ends the process at a named step, for crash tests. Development only.'),
  ...concurrencyKeys(),
})

export type Config = z.infer<typeof settings> & { concurrency(queue: QueueName): number; host: string }

/** @throws {Error} naming every key that is missing or wrong, in one message. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  // An empty key counts as unset: shells and compose files leave keys out that way.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = settings.safeParse(given)
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => describeIssue(issue, given))
  const problems = [...wrong, ...halfGiven(given), ...detectorProblems(given), ...refusedInProduction(given)]
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
    outboundAllow: env.OUTBOUND_ALLOW,
    logLevel: env.LOG_LEVEL,
    dataDirectory: env.DATA_DIR || fileURLToPath(new URL('../.data', import.meta.url)),
  }
}

/** For docs and tests: each key with its sentence. */
export function describeConfig(): { key: string; description: string }[] {
  return Object.entries(settings.shape).map(([key, schema]) => ({ key, description: schema.description ?? '' }))
}

function describeIssue({ path, message }: { path: PropertyKey[]; message: string }, given: NodeJS.ProcessEnv): string {
  const key = path.join('.')
  if (given[key] !== undefined) return `${key}: ${message}`
  return `${key}: is missing. ${describeConfig().find((entry) => entry.key === key)?.description ?? ''}`
}

// With one of the two keys, the SDK would use the machine's role, which the operator did not intend.
function halfGiven(given: NodeJS.ProcessEnv): string[] {
  const pair = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const
  const missing = pair.filter((key) => given[key] === undefined)
  return missing.length === 1 ? missing.map((key) => `${key}: is missing, and its other half is there`) : []
}

function refusedInProduction(given: NodeJS.ProcessEnv): string[] {
  if (given.MODE !== 'production') return []
  const problems: string[] = []
  if (given.REDIS_URL === undefined)
    problems.push('REDIS_URL: is missing. Production runs its queues on Redis or Valkey.')
  if (given.BASE_URL === undefined) problems.push('BASE_URL: is missing. Production must know its public address.')
  else if (URL.parse(given.BASE_URL)?.protocol === 'http:')
    problems.push('BASE_URL: must be https in production, keys and captures are sent to it')
  if (isGuessable(given.MASTER_KEY))
    problems.push('MASTER_KEY: can be guessed. `openssl rand -base64 32` makes one that can’t.')
  if (given.OUTBOUND_ALLOW !== undefined)
    problems.push('OUTBOUND_ALLOW: refused in production, it lets webhooks reach private networks')
  if (given.ATTESTATION_TEST_ROOTS !== undefined)
    problems.push('ATTESTATION_TEST_ROOTS: refused in production, it trusts simulated vendors')
  if (given.ANDROID_REVOCATION_URL?.startsWith('http:'))
    problems.push('ANDROID_REVOCATION_URL: must be https in production')
  if ((given.WEBHOOK_TIME_DIVISOR ?? '1') !== '1') problems.push('WEBHOOK_TIME_DIVISOR: refused in production')
  if (given.FAILPOINT !== undefined) problems.push('FAILPOINT: refused in production')
  return problems
}

function isGuessable(text: string | undefined): boolean {
  const { success, data } = masterKey.safeParse(text)
  return success && isGuessableKey(data)
}

function concurrencyKey(queue: QueueName): string {
  return `${queue.toUpperCase()}_CONCURRENCY`
}

function concurrencyKeys() {
  const entries = QUEUE_NAMES.map((queue) => [
    concurrencyKey(queue),
    count(QUEUES[queue].concurrency).describe(`Jobs at once in one ${queue} worker.`),
  ])
  return Object.fromEntries(entries) as Record<string, ReturnType<typeof count>>
}
