// The operator's commands, parsed before anything is started, so that a wrong word costs nothing.

import { parseArgs } from 'node:util'
import type { Account } from '#src/account/keys/accounts.ts'
import { PLANS, GRANTABLE_SCOPES as SCOPES } from '#src/catalogue/access.ts'
import { isQueueName, QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import type { Environment } from '#src/platform/ids.ts'
import { listJobs, pauseQueue, redrive, resumeQueue } from '#src/platform/jobs/operate.ts'
import { workOf } from '#src/process.ts'
import type { Services } from '#src/services.ts'
import { usageError } from '../sentence.ts'
import { printLoginLink } from './login-link.ts'
import { FAMILIES, listSigningKeys, rotateSigningKey } from './signing-keys.ts'

const ENVIRONMENTS = ['sandbox', 'live'] as const
const STATES = ['queued', 'dispatched', 'running', 'succeeded', 'dead', 'cancelled'] as const

export const USAGE = `Usage: npm run admin -- <command> [--json]

  account create --name NAME [--plan ${PLANS.join('|')}]
  account list
  key create --account ACC --environment ${ENVIRONMENTS.join('|')} --scopes verify,attest,... [--name NAME] [--expires TIME]
  key list --account ACC --environment ${ENVIRONMENTS.join('|')} [--limit N]
  key revoke KEY_ID [--yes]
  login-link EMAIL [--account ACC]                  prints a link that signs in; with --account, a new owner
  jobs list [--queue QUEUE] [--state STATE] [--limit N]
  jobs redrive (JOB_ID | --queue QUEUE) [--yes]     runs dead jobs again
  queue pause QUEUE [--yes]
  queue resume QUEUE
  signing-keys list
  signing-keys rotate --environment ${ENVIRONMENTS.join('|')} --family ${FAMILIES.join('|')} [--yes]

  Scopes: ${SCOPES.join(', ')} (all: sandbox keys only)
  Queues: ${QUEUE_NAMES.join(', ')}
  States: ${STATES.join(', ')}
  TIME is ISO 8601, such as 2027-01-31T00:00:00Z. --yes answers what would be asked; --json prints results as JSON.
  The deployment is found as the service finds it: DATABASE_URL, else .data/ (also while \`npm start\` runs).
`

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  account: { type: 'string' },
  environment: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  family: { type: 'string' },
  queue: { type: 'string' },
  state: { type: 'string' },
  limit: { type: 'string' },
  yes: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export interface Context {
  services: Services
  /** Resolves when the operator confirms. @throws {Error} otherwise. */
  confirm(question: string): Promise<void>
  /** Logs what was done. */
  log(act: string, fields: Record<string, unknown>): void
}

export interface Command {
  act(context: Context): Promise<object | object[]>
  isAgreed: boolean
  isJson: boolean
}

type Values = ReturnType<typeof parse>['values']
type Act = Command['act']

interface Entry {
  options: readonly (keyof Values)[]
  /** How many words follow the command; the message names the first word too many. */
  words: number
  read(values: Values, word: string | undefined): Act
}

const MAX_LISTED = 1_000
// Each redrive is a transaction; a run that takes minutes can be repeated.
const MAX_REDRIVEN = 10_000

const ENTRIES: Record<string, Entry> = {
  'account create': { options: ['name', 'plan'], words: 0, read: readAccountCreate },
  'account list': { options: [], words: 0, read: () => listAccounts },
  'key create': { options: ['account', 'environment', 'scopes', 'name', 'expires'], words: 0, read: readKeyCreate },
  'key list': { options: ['account', 'environment', 'limit'], words: 0, read: readKeyList },
  'key revoke': { options: ['yes'], words: 1, read: readKeyRevoke },
  'login-link': { options: ['account'], words: 1, read: ({ account }, word) => printLoginLink(word, account) },
  'jobs list': { options: ['queue', 'state', 'limit'], words: 0, read: readJobsList },
  'jobs redrive': { options: ['queue', 'yes'], words: 1, read: readJobsRedrive },
  'queue pause': { options: ['yes'], words: 1, read: (_, word) => readQueueChange('pause', word) },
  'queue resume': { options: [], words: 1, read: (_, word) => readQueueChange('resume', word) },
  'signing-keys list': { options: [], words: 0, read: () => listSigningKeys() },
  'signing-keys rotate': { options: ['environment', 'family', 'yes'], words: 0, read: readSigningKeysRotate },
}

/** undefined: help was requested. @throws {Error} a usage error, naming what is wrong. */
export function readCommand(args: string[]): Command | undefined {
  const { values, positionals } = parse(args)
  if (values.help) return undefined
  const [first = '', second] = positionals
  const name = second === undefined || Object.hasOwn(ENTRIES, first) ? first : `${first} ${second}`
  const entry = Object.hasOwn(ENTRIES, name) ? ENTRIES[name] : undefined
  if (entry === undefined) throw usageError(name === '' ? 'What is to be done?' : `There is no command "${name}".`)
  const words = positionals.slice(name.split(' ').length)
  if (words.length > entry.words) throw usageError(`${name}: "${words[entry.words]}" is too much.`)
  for (const [option, value] of Object.entries(values)) {
    const isKnown = option === 'json' || entry.options.some((known) => known === option)
    if (value && !isKnown) throw usageError(`${name} has no option --${option}.`)
  }
  return { act: entry.read(values, words[0]), isAgreed: values.yes, isJson: values.json }
}

function parse(args: string[]) {
  return parseArgs({ args, options: OPTIONS, allowPositionals: true })
}

function readAccountCreate({ name: given, plan: wanted }: Values): Act {
  const name = required('--name', given)
  const plan = wanted === undefined ? 'developer' : oneOf('--plan', wanted, PLANS)
  return async ({ services, log }) => {
    const account = await services.account.accounts.create({ name, plan })
    log('account create', { account: account.id })
    return account
  }
}

async function listAccounts({ services }: Context): Promise<object[]> {
  const listed: object[] = []
  for await (const { id } of services.account.accounts.walk()) listed.push(await findAccount(services, id))
  return listed
}

function readKeyCreate(values: Values): Act {
  const accountId = required('--account', values.account)
  const environment: Environment = oneOf('--environment', required('--environment', values.environment), ENVIRONMENTS)
  const scopes = required('--scopes', values.scopes)
    .split(',')
    .map((scope) => oneOf('--scopes', scope.trim(), SCOPES))
  const expiresAt = values.expires === undefined ? undefined : readTime('--expires', values.expires)
  const name = values.name ?? 'made by an operator'
  return async ({ services, log }) => {
    const account = await findAccount(services, accountId)
    const made = await services.account.keys.create(
      { accountId: account.id, environment },
      { name, scopes, ...(expiresAt === undefined ? {} : { expiresAt }) },
    )
    log('key create', { account: account.id, id: made.id })
    return { ...made, note: 'The key is shown this once.' }
  }
}

function readKeyList({ account, environment: given, limit }: Values): Act {
  const accountId = required('--account', account)
  const environment: Environment = oneOf('--environment', required('--environment', given), ENVIRONMENTS)
  const most = limit === undefined ? MAX_LISTED : readLimit(limit)
  return async ({ services }) => {
    await findAccount(services, accountId)
    const keys = await services.account.keys.list({ accountId, environment }, { limit: most })
    return keys.map(({ id, name, prefix, last4, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }) => ({
      id,
      name,
      key: `${prefix}...${last4 ?? ''}`,
      scopes: scopes.join(','),
      createdAt,
      lastUsedAt,
      expiresAt,
      revokedAt,
    }))
  }
}

async function findAccount(services: Services, id: string): Promise<Account> {
  const account = await services.account.accounts.find(id)
  if (account === undefined) throw new Error(`There is no account ${id}.`)
  return account
}

function readKeyRevoke(_: Values, word: string | undefined): Act {
  const id = required('KEY_ID', word)
  return async ({ services, confirm, log }) => {
    const scope = await services.account.keys.findScope(id)
    if (scope === undefined) throw new Error(`There is no key ${id}.`)
    const { name, revokedAt } = await services.account.keys.get(scope, id)
    if (revokedAt !== null) throw new Error(`${id} was revoked at ${revokedAt.toISOString()} already.`)
    await confirm(`Revoke ${id} ("${name}") of ${scope.accountId}? Requests with it fail from now on, permanently.`)
    const revoked = await services.account.keys.revoke(scope, id)
    log('key revoke', { account: scope.accountId, id })
    return revoked
  }
}

function readJobsList({ queue, state, limit }: Values): Act {
  const filter = {
    queue: queue === undefined ? undefined : queueOf(queue),
    state: state === undefined ? undefined : oneOf('--state', state, STATES),
    limit: limit === undefined ? 50 : readLimit(limit),
  }
  return async ({ services }) => listJobs(services.platform.db, filter)
}

function readJobsRedrive({ queue: named }: Values, id: string | undefined): Act {
  if ((id === undefined) === (named === undefined)) throw usageError('Name one job, or --queue for all its dead jobs.')
  if (id !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw usageError(`${id} is no job id: \`jobs list\` shows them.`)
  }
  const queue = named === undefined ? undefined : queueOf(named)
  return async ({ services, confirm, log }) => {
    const jobs = await listJobs(services.platform.db, { id, queue, state: 'dead', limit: MAX_REDRIVEN })
    if (jobs.length === 0 && id !== undefined) throw new Error(`There is no dead job ${id}.`)
    if (jobs.length === 0) return { redriven: 0 }
    await confirm(`Run ${jobs.length} dead job${jobs.length === 1 ? '' : 's'} again?`)
    let redriven = 0
    for (const job of jobs) if (await redrive(services.platform.db, job, workOf(services, job.queue))) redriven += 1
    log('jobs redrive', { id, queue, redriven })
    return { redriven, ...(jobs.length === MAX_REDRIVEN ? { note: 'There may be more: run this again.' } : {}) }
  }
}

function readQueueChange(change: 'pause' | 'resume', word: string | undefined): Act {
  const queue = queueOf(required('QUEUE', word))
  return async ({ services, confirm, log }) => {
    if (change === 'pause') {
      await confirm(`Pause ${queue}? Nothing new of it starts until it is resumed.`)
      await pauseQueue(services.platform.db, queue)
    } else {
      await resumeQueue(services.platform.db, queue)
    }
    log(`queue ${change}`, { queue })
    return { queue, state: change === 'pause' ? 'paused' : 'running' }
  }
}

function readSigningKeysRotate({ environment, family }: Values): Act {
  return rotateSigningKey(
    oneOf('--environment', required('--environment', environment), ENVIRONMENTS),
    oneOf('--family', required('--family', family), FAMILIES),
  )
}

function required(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === '') throw usageError(`${name} is missing.`)
  return value
}

function oneOf<Word extends string>(name: string, value: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === value)
  if (found === undefined) throw usageError(`${name}: "${value}" is none of ${words.join(', ')}.`)
  return found
}

function queueOf(name: string): QueueName {
  if (!isQueueName(name)) throw usageError(`There is no queue "${name}": the queues are ${QUEUE_NAMES.join(', ')}.`)
  return name
}

function readLimit(text: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LISTED) throw usageError(`--limit must be a whole number from 1 to ${MAX_LISTED}.`)
  return limit
}

function readTime(name: string, text: string): Date {
  const time = new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN)
  if (Number.isNaN(time.getTime())) throw usageError(`${name} must be ISO 8601, such as 2027-01-31T00:00:00Z.`)
  return time
}
