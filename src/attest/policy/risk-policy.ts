// The risk policy of an account and environment: increasing versions, their authors, and what another policy would
// change.

import { recordAudit } from '#src/account/audit/record.ts'
import { requestReevaluation } from '#src/attest/causes/request.ts'
import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { DEFAULT_POLICY, type PolicyBody } from './policy.ts'
import { findPolicies, findPolicy, findPolicyVersion, insertPolicy, lockPolicy, type PolicyRow } from './rows.ts'

/** `version` 0: the defaults, which no account has set. */
export interface CurrentPolicy {
  version: number
  policy: PolicyBody
  createdAt: Date | null
  changedBy: string | null
}

export interface PolicyChange {
  policy: PolicyBody
  /** The versions that the caller expects to replace, from `If-Match`; undefined for any. */
  expected: readonly number[] | undefined
  requestId: string
}

export interface RiskPolicyDeps {
  db: Database
  pager: Pager
  log: Pick<Log, 'info'>
}

export type RiskPolicy = ReturnType<typeof createRiskPolicy>

export function createRiskPolicy({ db, pager, log }: RiskPolicyDeps) {
  return {
    async get(scope: Scope): Promise<CurrentPolicy> {
      return currentOf(await db.tenant(scope, findPolicy))
    },

    /** @throws {Failure} `not_found`. */
    async getVersion(scope: Scope, version: number): Promise<CurrentPolicy> {
      const row = await db.tenant(scope, (tx) => findPolicyVersion(tx, version))
      if (row === undefined && version !== 0) throw new Failure('not_found', `There is no version ${version}.`)
      return currentOf(row)
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async versions(scope: Scope, query: { limit: number; cursor?: string | undefined }): Promise<Page<PolicyRow>> {
      const binding = { route: 'GET /v1/account/risk-policy/versions', scope, query: { ...query } }
      const cursor = pager.decode(query.cursor, binding)
      const before = cursor === undefined ? undefined : Number(cursor)
      const rows = await db.tenant(scope, (tx) => findPolicies(tx, { before, limit: query.limit + 1 }))
      return pager.page(rows, query.limit, ({ version }) => String(version), binding)
    },

    /**
     * Creates a new version, unless the policy equals the current one, and requests a re-evaluation of the attestations
     * whose results it changes.
     * @throws {Failure} `precondition_failed` when the current version is not among the expected ones.
     */
    async put(scope: Acting, change: PolicyChange, key?: IdempotencyKey): Promise<CurrentPolicy> {
      const { policy, expected, requestId } = change
      const { id: changedBy } = actorOf(scope.principal)
      const { current, isNew } = await db.tenant(scope, async (tx) => {
        await lockPolicy(tx, scope)
        return once(
          tx,
          key,
          async () => {
            const current = currentOf(await findPolicy(tx))
            if (expected !== undefined && !expected.includes(current.version)) throw otherVersion(current)
            // The first policy of an account is stored even when it equals the current defaults.
            if (current.version > 0 && isSamePolicy(current.policy, policy)) return { current, isNew: false }
            const row = await insertPolicy(tx, scope, { version: current.version + 1, policy, changedBy })
            await requestReevaluation(tx, scope, { cause: 'policy_changed', version: row.version })
            await recordAudit(tx, scope, {
              action: 'risk_policy.changed',
              before: { version: current.version, policy: current.policy },
              after: { version: row.version, policy },
            })
            return { current: currentOf(row), isNew: true }
          },
          (made) => String(made.current.version),
        )
      })
      if (isNew) {
        const { accountId: account, environment } = scope
        const subject = { account, environment, version: current.version, actor: changedBy, requestId }
        log.info(subject, 'risk policy changed')
      }
      return current
    },
  }
}

function currentOf(row: PolicyRow | undefined): CurrentPolicy {
  return row ?? { version: 0, policy: DEFAULT_POLICY, createdAt: null, changedBy: null }
}

function isSamePolicy(a: PolicyBody, b: PolicyBody): boolean {
  const textOf = ({ thresholds: { review, failed }, ...policy }: PolicyBody) =>
    JSON.stringify([review, failed, ...Object.entries(policy).toSorted(([x], [y]) => (x < y ? -1 : 1))])
  return textOf(a) === textOf(b)
}

function otherVersion({ version }: CurrentPolicy): Failure {
  return new Failure('precondition_failed', {
    detail: `The risk policy is at version ${version}: read it again before you replace it.`,
    headers: { ETag: `"${version}"` },
  })
}
