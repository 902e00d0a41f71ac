// The operator's commands, parsed before anything is started, so that a wrong word costs nothing.

import { PLANS, PRODUCTS, GRANTABLE_SCOPES as SCOPES } from '#src/catalogue/access.ts'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import type { Services } from '#src/services.ts'
import { usageError } from '../sentence.ts'
import {
  readAccountCreate,
  readAccountList,
  readAccountReopen,
  readAccountShow,
  readAccountSuspend,
  readAccountUnsuspend,
  readPlanSet,
  readProductsSet,
} from './accounts.ts'
import { ENVIRONMENTS, parseWords, type Values } from './arguments.ts'
import { readExclusionImport } from './exclusions.ts'
import { readJobsList, readJobsRedrive, readQueueChange, STATES, showQueues } from './jobs.ts'
import { readKeyCreate, readKeyList, readKeyRevoke } from './keys.ts'
import { printLoginLink } from './login-link.ts'
import { reportMasterKeys, resealSecrets } from './master-key.ts'
import { FAMILIES, listSigningKeys, readSigningKeyRevoke, readSigningKeyRotate } from './signing-keys.ts'

export const USAGE = `Usage: npm run admin -- <command> [--json]

  account create --name NAME [--plan ${PLANS.join('|')}]
  account list [--suspended] [--closed] [--limit N] [--before ACC]
  account show ACC
  account suspend ACC --reason TEXT [--yes]         refuses its keys, and its jobs and deliveries wait
  account unsuspend ACC
  account reopen ACC                                undoes its closure, as long as nothing is erased
  plan set PLAN --account ACC [--yes]
  products set PRODUCT,... --account ACC [--yes]
  key create --account ACC --environment ${ENVIRONMENTS.join('|')} --scopes verify,attest,... [--name NAME] [--expires TIME] [--read-only]
  key list --account ACC --environment ${ENVIRONMENTS.join('|')} [--limit N] [--before KEY_ID]
  key revoke KEY_ID [--yes]
  login-link EMAIL [--account ACC]                  prints a link that signs in; with --account, a new owner
  jobs list [--queue QUEUE] [--state STATE] [--limit N] [--after JOB_ID]
  jobs redrive (JOB_ID | --queue QUEUE) [--yes]     runs dead jobs again
  queue list                                        each queue with its workers and jobs
  queue pause QUEUE [--yes]
  queue resume QUEUE
  exclusion-list import FILE --list leie|sam [--kind excl|rein] [--force]
                                                    for accounts without a list of their own; --force: older, or fewer rows
  master-key status                                 counts sealed values by the master key that they stand under
  master-key reseal                                 seals every value under MASTER_KEY; may be stopped and repeated
  signing-key list
  signing-key rotate --family ${FAMILIES.join('|')} --environment ${ENVIRONMENTS.join('|')} [--now] [--yes]
  signing-key revoke KID --doubted-since TIME [--yes]

  Scopes: ${SCOPES.join(', ')} (all: sandbox keys only)
  Products: ${PRODUCTS.join(', ')}
  Queues: ${QUEUE_NAMES.join(', ')}
  States: ${STATES.join(', ')}
  TIME is ISO 8601, such as 2027-01-31T00:00:00Z. Lists are newest first; --before continues below an id.
  --yes answers what would be asked; --json prints results as JSON.
  The deployment is found as the service finds it: DATABASE_URL, else .data/ (also while \`npm start\` runs).
`

export interface Context {
  services: Services
  /** Where people find the service. undefined: BASE_URL is not set, and `npm start` has not run on this data. */
  address?: string | undefined
  /** Resolves when the operator confirms. @throws {Error} otherwise. */
  confirm(question: string): Promise<void>
  /** Tells the operator something beside the result. */
  say(line: string): void
  /** Logs what was done. */
  log(act: string, fields: Record<string, unknown>): void
}

export interface Command {
  act(context: Context): Promise<object | object[]>
  isAgreed: boolean
  isJson: boolean
}

export type Act = Command['act']

interface Entry {
  options: readonly (keyof Values)[]
  /** How many words follow the command; the message names the first word too many. */
  words: number
  read(values: Values, word: string | undefined): Act
}

const ENTRIES: Record<string, Entry> = {
  'account create': { options: ['name', 'plan'], words: 0, read: readAccountCreate },
  'account list': { options: ['suspended', 'closed', 'limit', 'before'], words: 0, read: readAccountList },
  'account show': { options: [], words: 1, read: readAccountShow },
  'account suspend': { options: ['reason', 'yes'], words: 1, read: readAccountSuspend },
  'account unsuspend': { options: [], words: 1, read: readAccountUnsuspend },
  'account reopen': { options: [], words: 1, read: readAccountReopen },
  'plan set': { options: ['account', 'yes'], words: 1, read: readPlanSet },
  'products set': { options: ['account', 'yes'], words: 1, read: readProductsSet },
  'key create': {
    options: ['account', 'environment', 'scopes', 'name', 'expires', 'read-only'],
    words: 0,
    read: readKeyCreate,
  },
  'key list': { options: ['account', 'environment', 'limit', 'before'], words: 0, read: readKeyList },
  'key revoke': { options: ['yes'], words: 1, read: readKeyRevoke },
  'login-link': { options: ['account'], words: 1, read: ({ account }, word) => printLoginLink(word, account) },
  'jobs list': { options: ['queue', 'state', 'limit', 'after'], words: 0, read: readJobsList },
  'jobs redrive': { options: ['queue', 'yes'], words: 1, read: readJobsRedrive },
  'queue list': { options: [], words: 0, read: () => showQueues },
  'queue pause': { options: ['yes'], words: 1, read: (_, word) => readQueueChange('pause', word) },
  'queue resume': { options: [], words: 1, read: (_, word) => readQueueChange('resume', word) },
  'exclusion-list import': {
    options: ['list', 'kind', 'force'],
    words: 1,
    read: (values, file) => readExclusionImport(file, values),
  },
  'master-key status': { options: [], words: 0, read: () => reportMasterKeys },
  'master-key reseal': { options: [], words: 0, read: () => resealSecrets },
  'signing-key list': { options: [], words: 0, read: () => listSigningKeys },
  'signing-key rotate': { options: ['environment', 'family', 'now', 'yes'], words: 0, read: readSigningKeyRotate },
  'signing-key revoke': { options: ['doubted-since', 'yes'], words: 1, read: readSigningKeyRevoke },
}

/** undefined: help was requested. @throws {Error} a usage error, naming what is wrong. */
export function readCommand(args: string[]): Command | undefined {
  const { values, positionals } = parseWords(args)
  if (values.help) return undefined
  const [first = '', second] = positionals
  const spoken = second === undefined || Object.hasOwn(ENTRIES, first) ? first : `${first} ${second}`
  const name = spoken.replace(/^signing-keys /, 'signing-key ')
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
