// The risk policy of an account and environment: increasing versions, their authors, and what another policy would
// change.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { requestReevaluation } from '#src/attest/causes/request.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion, digestOf, lockDocument, type StoredDocument } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, numberOf, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { DEFAULT_POLICY, type RiskPolicyDocument } from './policy.ts'
import { findPolicies, findPolicy, findPolicyVersion, insertPolicy, type PolicyRow } from './rows.ts'

export type StoredRiskPolicy = StoredDocument<RiskPolicyDocument>

export interface RiskPolicyChange {
  document: RiskPolicyDocument
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
    async get(scope: Scope): Promise<StoredRiskPolicy> {
      return db.tenant(scope, async (tx) => storedOf(tx, await findPolicy(tx)))
    },

    /** @throws {Failure} `not_found`. */
    async getVersion(scope: Scope, version: number): Promise<StoredRiskPolicy> {
      return db.tenant(scope, async (tx) => {
        const row = await findPolicyVersion(tx, version)
        if (row === undefined && version !== 0) throw new Failure('not_found', `There is no version ${version}.`)
        return storedOf(tx, row)
      })
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async versions(scope: Scope, query: PageQuery): Promise<CountedPage<StoredRiskPolicy>> {
      const list = { route: 'GET /v1/account/risk-policy/versions', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, { before, limit }) => findPolicies(tx, { before: numberOf(before), limit }),
        keyOf: ({ version }) => String(version),
        show: allStoredOf,
      })
    },

    /**
     * Creates a new version, unless the document equals the current one, and requests a re-evaluation of the attestations
     * whose results it changes.
     * @throws {Failure} `precondition_failed` when the current version is not among the expected ones.
     */
    async put(scope: Acting, change: RiskPolicyChange, key?: IdempotencyKey): Promise<StoredRiskPolicy> {
      const { document, expected, requestId } = change
      const { id: changedBy } = actorOf(scope.principal)
      const { stored, isNew } = await db.tenant(scope, async (tx) => {
        await lockDocument(tx, 'risk_policy', scope)
        return once(
          tx,
          key,
          async () => {
            const current = await storedOf(tx, await findPolicy(tx))
            checkVersion(expected, current)
            // The first policy of an account is stored even when it equals the current defaults.
            if (current.version > 0 && current.digest === digestOf(document)) return { stored: current, isNew: false }
            const row = await insertPolicy(tx, scope, { version: current.version + 1, policy: document, changedBy })
            await requestReevaluation(tx, scope, { cause: 'policy_changed', version: row.version })
            await recordAudit(tx, scope, {
              action: 'risk_policy.changed',
              before: { version: current.version, policy: current.document },
              after: { version: row.version, policy: document },
            })
            return { stored: await storedOf(tx, row), isNew: true }
          },
          (made) => String(made.stored.version),
        )
      })
      if (isNew) {
        const { accountId: account, environment } = scope
        const subject = { account, environment, version: stored.version, actor: changedBy, requestId }
        log.info(subject, 'risk policy changed')
      }
      return stored
    },
  }
}

const DEFAULTS: StoredRiskPolicy = {
  version: 0,
  digest: digestOf(DEFAULT_POLICY),
  changedAt: null,
  changedBy: null,
  document: DEFAULT_POLICY,
}

async function storedOf(tx: Tx, row: PolicyRow | undefined): Promise<StoredRiskPolicy> {
  const [stored] = await allStoredOf(tx, row === undefined ? [] : [row])
  return stored ?? DEFAULTS
}

async function allStoredOf(tx: Tx, rows: readonly PolicyRow[]): Promise<StoredRiskPolicy[]> {
  const actors = await readActors(
    tx,
    rows.map(({ changedBy }) => changedBy),
  )
  return rows.map(({ version, policy, createdAt, changedBy }) => ({
    version,
    digest: digestOf(policy),
    changedAt: createdAt,
    changedBy: actors(changedBy),
    document: policy,
  }))
}
