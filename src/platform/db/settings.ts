// The settings of each transaction: its role, its scope, and its lock timeout.

import type { Environment, Scope } from '#src/platform/ids.ts'
import type { Statement } from './driver.ts'

export const APP_ROLE = 'countersign_app'
export const SYSTEM_ROLE = 'countersign_system'

export const BEGIN: Statement = { text: 'BEGIN', values: [] }
export const BEGIN_SNAPSHOT: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', values: [] }

// A transaction that waits for a row keeps a connection that others of the account need. Shorter than a caller's
// patience, long enough for every transaction that holds rows for a few statements. After it the work is tried again
// (503, or `defer`).
const TENANT_LOCK_TIMEOUT_MS = 900

const SAFE_ACCOUNT = /^[a-z]{3}_[0-9a-z]{1,40}$/

interface Mode {
  isReading?: boolean
  isDurable?: boolean
}

// Sent with BEGIN. set_config(..., true) ends with the transaction; a plain SET would leak the scope to the next user
// of the connection.
export function tenantSettings({ accountId, environment }: Scope, mode: Mode = {}): Statement {
  return { text: textFor(TENANT, mode), values: [checkAccount(accountId), checkEnvironment(environment)] }
}

export function systemSettings(reason: string, mode: Mode = {}): Statement {
  return { text: textFor(SYSTEM, mode), values: [`countersign ${reason.replaceAll(/[^a-z0-9 _-]/gi, '')}`] }
}

// A statement is planned once per connection. If its table was small then, the plan would read the whole table each time
// until autovacuum analyzes it again, and a batch of 10,000 lines fills a table within seconds.
const NO_SEQSCAN = `set_config('enable_seqscan', 'off', true)`
const TENANT = textsOf(
  `SELECT set_config('role', '${APP_ROLE}', true), set_config('app.account_id', $1, true),
     set_config('app.environment', $2, true), ${NO_SEQSCAN}`,
  `, set_config('lock_timeout', '${TENANT_LOCK_TIMEOUT_MS}', true)`,
)
const SYSTEM = textsOf(
  `SELECT set_config('role', '${SYSTEM_ROLE}', true), set_config('application_name', $1, true),
     ${NO_SEQSCAN}`,
  '',
)

// Whole texts: the driver finds what it has prepared by them, and a text that is put together anew is hashed anew.
function textsOf(start: string, writing: string) {
  return {
    reading: `${start}, set_config('transaction_read_only', 'on', true)`,
    writing: `${start}${writing}`,
    notDurable: `${start}${writing}, set_config('synchronous_commit', 'off', true)`,
  }
}

function textFor(texts: ReturnType<typeof textsOf>, { isReading = false, isDurable = true }: Mode): string {
  if (isReading) return texts.reading
  return isDurable ? texts.writing : texts.notDurable
}

function checkAccount(accountId: string): string {
  if (!SAFE_ACCOUNT.test(accountId)) throw new Error('account id has a character that an id never has')
  return accountId
}

function checkEnvironment(environment: Environment): Environment {
  if (environment !== 'sandbox' && environment !== 'live') throw new Error('unknown environment')
  return environment
}
