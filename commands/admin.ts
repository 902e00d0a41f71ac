// `npm run admin -- ...`: what an operator does to a deployment. What can't be taken back asks first (or takes --yes), and
// every act that changes something is a line in the admin log.

import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import type { Environment } from '#src/platform/ids.ts'
import { listJobs, pauseQueue, redrive, resumeQueue } from '#src/platform/jobs/operate.ts'
import { isQueueName, QUEUE_NAMES, type QueueName } from '#src/platform/jobs/queues.ts'
import type { Services } from '#src/services.ts'
import { type Prepared, prepare } from './deployment.ts'

const USAGE = `Usage: npm run admin -- <command>

  account create --name NAME [--plan developer|growth|enterprise]
  key create --account ACC --environment sandbox|live --scopes verify,attest,... [--name NAME] [--expires ISO-TIME]
  key revoke KEY_ID [--yes]
  jobs list [--queue ${QUEUE_NAMES.join('|')}] [--state queued|dispatched|running|succeeded|dead|cancelled] [--limit N]
  jobs redrive (JOB_ID | --queue QUEUE) [--yes]      runs dead jobs again
  queue pause QUEUE | queue resume QUEUE

  --json prints results as JSON. Deployments are found as the service finds them: DATABASE_URL, else .data/.
`

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  account: { type: 'string' },
  environment: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  queue: { type: 'string' },
  state: { type: 'string' },
  limit: { type: 'string' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

type Options = ReturnType<typeof readArguments>['values']
interface Act {
  services: Services
  options: Options
  rest: string[]
  log(act: string, fields: Record<string, unknown>): void
}

const COMMANDS: Record<string, (act: Act) => Promise<unknown>> = {
  'account create': createAccount,
  'key create': createKey,
  'key revoke': revokeKey,
  'jobs list': showJobs,
  'jobs redrive': redriveJobs,
  'queue pause': (act) => changeQueue(act, 'pause'),
  'queue resume': (act) => changeQueue(act, 'resume'),
}

process.exitCode = await main()

async function main(): Promise<number> {
  let prepared: Prepared | undefined
  try {
    const { values: options, positionals } = readArguments()
    const command = COMMANDS[positionals.slice(0, 2).join(' ')]
    if (command === undefined || options.help) {
      process.stdout.write(USAGE)
      return options.help ? 0 : 2
    }
    prepared = await prepare()
    const { directory, services } = prepared
    const result = await command({ services, options, rest: positionals.slice(2), log: logTo(directory) })
    process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : render(result))
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  } finally {
    await prepared?.release()
  }
}

function readArguments() {
  return parseArgs({ options: OPTIONS, allowPositionals: true })
}

async function createAccount({ services, options, log }: Act) {
  const account = await services.accounts().create({
    name: required(options.name, '--name'),
    plan: oneOf(options.plan ?? 'developer', ['developer', 'growth', 'enterprise'], '--plan'),
  })
  log('account create', { account: account.id })
  return account
}

async function createKey({ services, options, log }: Act) {
  const account = await services.accounts().get(required(options.account, '--account'))
  const environment: Environment = oneOf(
    required(options.environment, '--environment'),
    ['sandbox', 'live'],
    '--environment',
  )
  const expires = options.expires === undefined ? undefined : new Date(options.expires)
  if (expires !== undefined && Number.isNaN(expires.getTime())) throw new Error('--expires must be an ISO 8601 time.')
  const made = await services.keys().create(
    { accountId: account.id, environment },
    {
      name: options.name ?? 'admin command',
      scopes: required(options.scopes, '--scopes')
        .split(',')
        .map((scope) => oneOf(scope.trim(), SCOPES, '--scopes')),
      ...(expires === undefined ? {} : { expiresAt: expires }),
    },
  )
  log('key create', { account: account.id, id: made.id })
  return { ...made, note: 'This key is shown once.' }
}

const SCOPES = ['verify', 'attest', 'escalate', 'admin', 'intent', 'screen', 'all'] as const

async function revokeKey({ services, options, rest, log }: Act) {
  const id = required(rest[0], 'KEY_ID')
  const scope = await services.keys().findScope(id)
  if (scope === undefined) throw new Error(`There is no key ${id}.`)
  const { name } = await services.keys().get(scope, id)
  await confirm(`Revoke ${id} (${name}) of ${scope.accountId}? Requests with it fail from now on, for ever.`, options)
  const revoked = await services.keys().revoke(scope, id)
  log('key revoke', { account: scope.accountId, id })
  return revoked
}

async function showJobs({ services, options }: Act) {
  return listJobs(services.db(), {
    queue: options.queue === undefined ? undefined : queueOf(options.queue),
    state: options.state,
    limit: Math.min(1_000, Number(options.limit ?? 50)),
  })
}

async function redriveJobs({ services, options, rest, log }: Act) {
  const [id] = rest
  if ((id === undefined) === (options.queue === undefined))
    throw new Error('Name one job, or --queue for all its dead jobs.')
  const queue = options.queue === undefined ? undefined : queueOf(options.queue)
  const jobs = await listJobs(services.db(), { id, queue, state: 'dead', limit: 10_000 })
  if (jobs.length === 0) return { redriven: 0 }
  await confirm(`Run ${jobs.length} dead job${jobs.length === 1 ? '' : 's'} again?`, options)
  let redriven = 0
  for (const job of jobs) {
    const work = { attest: services.verify, deliver: services.deliver }[job.queue]()
    if (await redrive(services.db(), job, work as Parameters<typeof redrive>[2])) redriven += 1
  }
  log('jobs redrive', { id, queue, redriven })
  return { redriven }
}

async function changeQueue({ services, options, rest, log }: Act, change: 'pause' | 'resume') {
  const queue = queueOf(required(rest[0], 'QUEUE'))
  if (change === 'pause') {
    await confirm(`Pause ${queue}? Nothing new of it starts until it is resumed.`, options)
    await pauseQueue(services.db(), queue)
  } else {
    await resumeQueue(services.db(), queue)
  }
  log(`queue ${change}`, { queue })
  return { queue, state: change === 'pause' ? 'paused' : 'running' }
}

async function confirm(question: string, options: Options): Promise<void> {
  if (options.yes) return
  if (!process.stdin.isTTY) throw new Error(`${question} Say so with --yes.`)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await prompt.question(`${question} [y/N] `)
  prompt.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.')
}

function logTo(directory: string) {
  return (act: string, fields: Record<string, unknown>) => {
    const logs = join(directory, 'logs')
    mkdirSync(logs, { recursive: true })
    const line = { time: new Date().toISOString(), act, user: process.env.USER, ...fields }
    appendFileSync(join(logs, 'admin.log'), `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }
}

function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new Error(`${name} is missing.\n\n${USAGE}`)
  return value
}

function oneOf<Word extends string>(value: string, words: readonly Word[], name: string): Word {
  const found = words.find((word) => word === value)
  if (found === undefined) throw new Error(`${name} must be one of ${words.join(', ')}.`)
  return found
}

function queueOf(name: string): QueueName {
  if (!isQueueName(name)) throw new Error(`There is no queue ${name}: the queues are ${QUEUE_NAMES.join(', ')}.`)
  return name
}

function render(result: unknown): string {
  if (!Array.isArray(result))
    return `${Object.entries(result as object)
      .map(([key, value]) => `${key}: ${format(value)}`)
      .join('\n')}\n`
  if (result.length === 0) return 'None.\n'
  return `${result.map((row: object) => Object.values(row).map(format).join('  ')).join('\n')}\n`
}

function format(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
