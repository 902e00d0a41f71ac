// The policy of an account and environment: its versions, who made them, and the way back to an earlier one.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorsOf } from '#src/platform/http/actor.ts'
import { checkVersion, digestOf, lockDocument, type StoredDocument } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, numberOf, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { Log } from '#src/platform/log.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import { unknownFieldsOf } from './checks.ts'
import { DEFAULT_VERSION, type PolicyReader } from './current.ts'
import type { PolicyDocument } from './document.ts'
import {
  countRoles,
  findCurrentVersion,
  findVersion,
  insertVersion,
  listVersions,
  type PolicyVersion,
  type VersionSummary,
} from './rows.ts'

export interface PolicyWrite {
  document: PolicyDocument
  /** The versions that the caller expects to replace, from `If-Match`; undefined for any. */
  expected: readonly number[] | undefined
}

interface Rollback {
  version: number
  expected: readonly number[] | undefined
}

/** A version as callers see it. */
export interface StoredPolicy extends StoredDocument<PolicyDocument> {
  rolledBackTo: number | null
}

export type PolicySummary = Omit<StoredPolicy, 'document'> & Pick<VersionSummary, 'name' | 'rules'>

type NextVersion = Pick<PolicyVersion, 'document' | 'digest' | 'rolledBackTo'>

export interface PoliciesDeps {
  db: Database
  pager: Pager
  ledger: Pick<Ledger, 'record'>
  outbound: Pick<Outbound, 'check'>
  now: () => Date
  log: Pick<Log, 'info'>
  reader: Pick<PolicyReader, 'compileNew'>
}

export type Policies = ReturnType<typeof createPolicies>

const LIST_ROUTE = 'GET /v1/policy/versions'
// More would repeat the same few.
const MAX_ERRORS = 100

export function createPolicies({ db, pager, ledger, outbound, now, log, reader }: PoliciesDeps) {
  /** What the schema of a document can't know, with pointers into the document. */
  function problemsOf(document: PolicyDocument, environment: Environment): FieldError[] {
    const errors: FieldError[] = []
    for (const [index, { require }] of document.rules.entries()) {
      const pointer = `/rules/${index}/require`
      const target = require.webhook && outbound.check(require.webhook.url, environment)
      if (target?.ok === false) {
        errors.push({ pointer: `${pointer}/webhook/url`, code: target.code, detail: target.detail })
      }
    }
    return errors
  }

  /** In the transaction that holds the lock on the versions. */
  async function replace(
    tx: Tx,
    by: Acting,
    current: PolicyVersion,
    { document, digest, rolledBackTo }: NextVersion,
  ): Promise<PolicyVersion> {
    const actor = actorOf(by.principal)
    const version = current.version + 1
    const row = await insertVersion(tx, by, { version, document, digest, rolledBackTo, changedBy: actor.id })
    const changed = { version, digest, ...(rolledBackTo !== null && { rolled_back_to: rolledBackTo }) }
    await recordAudit(tx, by, {
      action: rolledBackTo === null ? 'policy.changed' : 'policy.rolled_back',
      before: { version: current.version, digest: current.digest },
      after: changed,
    })
    await ledger.record(tx, by, {
      kind: 'policy_change',
      at: now(),
      actor,
      subject: String(version),
      reason: null,
      valid: null,
      inputs: { document_sha256: digest, previous_sha256: current.digest },
      policyVersion: version,
    })
    return row
  }

  async function change(
    by: Acting,
    expected: readonly number[] | undefined,
    key: IdempotencyKey | undefined,
    next: (tx: Tx, current: PolicyVersion) => Promise<NextVersion | undefined>,
  ): Promise<StoredPolicy> {
    const { policy, isNew } = await db.tenant(by, async (tx) => {
      await lockDocument(tx, 'policy', by)
      return once(
        tx,
        key,
        async () => {
          const current = (await findCurrentVersion(tx)) ?? DEFAULT_VERSION
          checkVersion(expected, current)
          const wanted = await next(tx, current)
          const row = wanted === undefined ? current : await replace(tx, by, current, wanted)
          return { policy: await storedOf(tx, row), isNew: wanted !== undefined }
        },
        (made) => String(made.policy.version),
      )
    })
    if (isNew) {
      const { accountId: account, environment } = by
      log.info({ account, environment, version: policy.version, actor: actorOf(by.principal).id }, 'policy changed')
    }
    return policy
  }

  async function getVersion(scope: Scope, version: number): Promise<StoredPolicy> {
    return db.tenant(scope, async (tx) => {
      const row = version === 0 ? DEFAULT_VERSION : await findVersion(tx, version)
      if (row === undefined) throw new Failure('not_found', `There is no version ${version}.`)
      return storedOf(tx, row)
    })
  }

  return {
    problemsOf,
    getVersion,

    /** The members who may act, by role. */
    countRoles: (scope: Scope): Promise<Record<string, number>> => db.tenant(scope, (tx) => countRoles(tx, scope)),

    async get(scope: Scope): Promise<StoredPolicy> {
      return db.tenant(scope, async (tx) => storedOf(tx, (await findCurrentVersion(tx)) ?? DEFAULT_VERSION))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async versions(scope: Scope, query: PageQuery): Promise<CountedPage<PolicySummary>> {
      const list = { route: LIST_ROUTE, scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, { before, limit }) => listVersions(tx, { before: numberOf(before), limit }),
        keyOf: ({ version }) => String(version),
        show: async (tx, rows) => {
          const actors = await readActors(
            tx,
            rows.map(({ changedBy }) => changedBy),
          )
          return rows.map((row) => toStored(row, actors))
        },
      })
    },

    /**
     * Makes a new version, unless the document equals the current one.
     * @throws {Failure} `invalid_request`; `precondition_failed` when the current version is not among the expected ones.
     */
    async put(by: Acting, { document, expected }: PolicyWrite, key?: IdempotencyKey): Promise<StoredPolicy> {
      const errors = problemsOf(document, by.environment).map(inBody)
      if (errors.length > 0) throw invalidRequest(errors)
      // What does not compile is refused before it is stored: no decision could be made by it.
      const digest = reader.compileNew(document)
      return change(by, expected, key, async (_tx, current) =>
        current.version > 0 && current.digest === digest ? undefined : { document, digest, rolledBackTo: null },
      )
    },

    /**
     * Makes a new version with the document of an earlier one; 0 is the defaults.
     * @throws {Failure} `not_found`, `conflict` for the current version, `precondition_failed`, and `invalid_request` when
     * the earlier document is refused today.
     */
    async rollback(by: Acting, { version, expected }: Rollback, key?: IdempotencyKey): Promise<StoredPolicy> {
      return change(by, expected, key, async (tx, current) => {
        if (version === current.version) throw new Failure('conflict', `Version ${version} is the current one.`)
        const earlier = version === 0 ? DEFAULT_VERSION : await findVersion(tx, version)
        if (earlier === undefined) throw new Failure('not_found', `There is no version ${version}.`)
        const errors = [...unknownFields(earlier.document), ...problemsOf(earlier.document, by.environment)]
        if (errors.length > 0) throw invalidRequest(errors)
        return { document: earlier.document, digest: digestOf(earlier.document), rolledBackTo: version }
      })
    },
  }
}

// Only stored documents have them, when a version no longer has a field: the schema refuses others.
function unknownFields({ rules }: PolicyDocument): FieldError[] {
  const found = rules.flatMap((rule, index) => [...unknownFieldsOf(rule, index)])
  return found.slice(0, MAX_ERRORS).map((field) => ({ ...field, code: 'unknown_policy_field' as const }))
}

/** A finding about a document, with its pointer into the body that has it. */
export function inBody<Problem extends { pointer: string }>(error: Problem): Problem {
  return { ...error, pointer: `/document${error.pointer}` }
}

async function storedOf(tx: Tx, row: PolicyVersion): Promise<StoredPolicy> {
  return toStored(row, await readActors(tx, [row.changedBy]))
}

function toStored<Row extends Omit<PolicyVersion, 'document'>>(
  { createdAt, changedBy, ...row }: Row,
  actors: ActorsOf,
) {
  return { ...row, changedAt: createdAt, changedBy: actors(changedBy) }
}
