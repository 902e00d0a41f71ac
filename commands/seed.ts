// What a deployment on embedded parts has from the start: settings for its processes, the shared sandbox account with
// its publishable keys, and an account for the newcomer.

import { join } from 'node:path'
import { recordAudit } from '#src/account/audit/record.ts'
import type { Account } from '#src/account/keys/accounts.ts'
import type { Config, readDeploymentSettings } from '#src/config.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Services } from '#src/services.ts'
import type { DeploymentState } from './state.ts'

/** All publishable sandbox keys share one account, whose data anyone may see. */
export const SANDBOX_ACCOUNT = 'acc_sandbox'

/** Owner of the newcomer's own account. */
export const OWNER_EMAIL = 'owner@localhost'

/** A sign-in link that opens the dashboard once it has signed in. */
export function opensDashboard(link: string): string {
  return `${link}&app`
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

interface Embedding {
  directory: string
  state: DeploymentState
  settings: ReturnType<typeof readDeploymentSettings>
  isDatabaseOurs: boolean
}

export function embeddedDefaults({ directory, state, settings, isDatabaseOurs }: Embedding): Record<string, string> {
  return {
    MASTER_KEY: settings.masterKey ?? state.masterKey,
    BLOB_STORE: settings.blobStore ?? `disk:${join(directory, 'blobs')}`,
    MAIL_DIR: settings.mailDirectory ?? join(directory, 'mail'),
    TRACE_MODEL_DIR: settings.modelDirectory,
    // No other machine reaches the service then, and a newcomer has no mail server.
    LOGIN_ECHO: settings.loginEcho ?? (isDatabaseOurs && LOOPBACK.test(settings.host) ? '1' : '0'),
    // A newcomer's receiver is on the same machine.
    OUTBOUND_ALLOW: settings.outboundAllow ?? 'localhost,127.0.0.1,[::1]',
    // A prefix belongs to a database: two checkouts that use one Redis would take each other's jobs.
    ...(isDatabaseOurs ? { QUEUE_PREFIX: settings.queuePrefix ?? `cs-${state.account.id.slice(-10)}` } : {}),
  }
}

/** Nothing is created twice: a second start finds the same accounts and keys. */
export async function seed(services: Services, state: DeploymentState, config: Config): Promise<void> {
  const keys = publishableKeys(state, config)
  const sandbox = await services.account.accounts.create(
    { id: SANDBOX_ACCOUNT, name: 'Sandbox', plan: 'developer', isPublic: true },
    recordCreation,
  )
  const scope = { accountId: sandbox.id, environment: 'sandbox' } as const
  for (const name of ['all', 'verify', 'attest'] as const) {
    await services.account.keys.create(scope, {
      name: `publishable ${name}`,
      scopes: [name],
      isAccountBearing: false,
      raw: keys[name],
    })
  }
  const own = await services.account.accounts.create(
    { id: state.account.id, name: 'My account', plan: 'enterprise' },
    recordCreation,
  )
  const ownScope = { accountId: own.id, environment: 'sandbox' } as const
  await services.account.keys.create(ownScope, { name: 'first key', scopes: ['all'], raw: state.account.key })
  await services.platform.signingKeys.ensure()
}

/** The operator made it, by starting the deployment or by a command. */
export async function recordCreation(tx: Tx, { id, name, plan }: Account): Promise<void> {
  const entry = { action: 'account.created', subjectId: id, after: { name, plan }, isScoped: false } as const
  await recordAudit(tx, { kind: 'operator', accountId: id }, entry)
}

export function publishableKeys({ sandboxKeys }: DeploymentState, config: Config): DeploymentState['sandboxKeys'] {
  return {
    all: config.SANDBOX_KEY_ALL ?? sandboxKeys.all,
    verify: config.SANDBOX_KEY_VERIFY ?? sandboxKeys.verify,
    attest: config.SANDBOX_KEY_ATTEST ?? sandboxKeys.attest,
  }
}
