// The secrets that sign questions to policy webhooks: one per account and environment, and during a rotation the one
// before it as well. An account has none until it asks for one, and without one no question is sent.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { newSecret } from '#src/account/webhooks/secret.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import {
  findLiveSecrets,
  insertSecret,
  LIVE_SECRETS,
  lockSecrets,
  type PolicySecretRow,
  retireSecrets,
  type SealedPolicySecret,
} from './rows.ts'

export const SEALED_POLICY_SECRETS: SealedColumn = {
  table: 'policy_webhook_secrets',
  column: 'sealed_secret',
  of: 'environment',
  id: 'version',
  reads: ['account_id', 'environment'],
  use: ({ account_id = '', environment = '', version = '' }) => useOf(account_id, environment, version),
}

export interface PolicySecretState {
  /** undefined: the account has none yet. */
  newest: PolicySecretRow | undefined
  rotatedBy: ActorView | null
  /** Signs as well, until its `expiresAt`. */
  previous: PolicySecretRow | undefined
}

export interface PolicySecretsDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  sealer: Sealer
}

export type PolicySecrets = ReturnType<typeof createPolicySecrets>

export function createPolicySecrets({ db, sealer }: PolicySecretsDeps) {
  return {
    /**
     * Returns the secrets that sign now, newest first. Each evaluation reads them, so that a rotation takes effect at
     * once in every process.
     */
    async live(scope: Scope): Promise<string[]> {
      const [rows] = await db.readTenant<[SealedPolicySecret]>(scope, [LIVE_SECRETS])
      return rows.map(({ version, sealedSecret }) =>
        sealer.open(sealedSecret, useOf(scope.accountId, scope.environment, String(version))).toString(),
      )
    },

    async get(scope: Scope): Promise<PolicySecretState> {
      return db.tenant(scope, stateIn)
    },

    /** Whether there is one to sign with. */
    async hasAny(scope: Scope): Promise<boolean> {
      return (await db.tenant(scope, findLiveSecrets)).length > 0
    },

    /** Makes a new secret, or the first one, and returns it this once. */
    async rotate(
      scope: Acting,
      { graceSeconds }: { graceSeconds: number },
      key?: IdempotencyKey,
    ): Promise<PolicySecretState & { secret: string }> {
      const secret = newSecret()
      const { id: createdBy } = actorOf(scope.principal)
      return db.tenant(scope, async (tx) => {
        await lockSecrets(tx, scope)
        const rotate = async () => {
          const { newest: before } = await stateIn(tx)
          const version = (before?.version ?? 0) + 1
          const sealed = sealer.seal(Buffer.from(secret), useOf(scope.accountId, scope.environment, String(version)))
          await retireSecrets(tx, graceSeconds)
          await insertSecret(tx, scope, { version, sealedSecret: sealed, createdBy })
          await recordAudit(tx, scope, {
            action: 'policy_webhook_secret.rotated',
            before: { version: before?.version ?? null },
            after: { version, grace_seconds: graceSeconds },
          })
          return { ...(await stateIn(tx)), secret }
        }
        return once(tx, key, rotate, ({ newest }) => String(newest?.version))
      })
    },
  }
}

async function stateIn(tx: Tx): Promise<PolicySecretState> {
  const [newest, previous] = await findLiveSecrets(tx)
  const actors = await readActors(tx, newest === undefined ? [] : [newest.createdBy])
  return { newest, rotatedBy: actors(newest?.createdBy ?? null), previous }
}

// A sealed secret that is copied to the row of another account, environment or version doesn't open there.
function useOf(accountId: string, environment: string, version: string): string {
  return `policy webhook secret ${accountId} ${environment} ${version}`
}
