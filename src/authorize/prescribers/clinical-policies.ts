// The clinical policy and the formulary of an account and environment: versions, who made them, and their replacement.

import { parse } from 'csv-parse/sync'
import { Failure, type FieldError, invalidField, refusalOf } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion, digestOf, lockDocument, type StoredDocument } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, numberOf, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { recordClinicalAct } from './acts.ts'
import type { ClinicalPolicyDocument } from './policy-document.ts'
import {
  type ClinicalPolicyRow,
  type FormularyEntry,
  type FormularyVersion,
  findFormularyVersion,
  findPolicyVersion,
  hasTeam,
  insertPolicyVersion,
  listFormulary,
  listPolicyVersions,
  readClinicalPolicy,
  replaceFormulary,
  withChangedBy,
} from './policy-rows.ts'
import { type DrugSchedule, SCHEDULES } from './substances.ts'

export type PolicyWarning = 'cosigner_unavailable'
export type StoredClinicalPolicy = StoredDocument<ClinicalPolicyDocument> & { warnings: PolicyWarning[] }
export type StoredFormulary = Omit<StoredDocument<unknown>, 'document'> & { entries: number }

interface ClinicalPoliciesDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  pager: Pager
}

const MAX_ENTRIES = 50_000
// More would repeat the same few.
const MAX_ERRORS = 100

export type ClinicalPolicies = ReturnType<typeof createClinicalPolicies>

export function createClinicalPolicies({ db, ledger, pager }: ClinicalPoliciesDeps) {
  async function stored(tx: Tx, scope: Scope, row: ClinicalPolicyRow): Promise<StoredClinicalPolicy> {
    const [shown] = await withChangedBy(tx, [row])
    if (shown === undefined) throw new Error('a row was shown as none')
    const wantsCosigner = Object.values(row.document.schedules).some(({ deny, cosign }) => cosign && !deny)
    const isAlone = wantsCosigner && !(await hasTeam(tx, scope))
    return { ...shown, warnings: isAlone ? ['cosigner_unavailable'] : [] }
  }

  async function storedFormulary(tx: Tx, row: FormularyVersion): Promise<StoredFormulary> {
    const [shown] = await withChangedBy(tx, [row])
    if (shown === undefined) throw new Error('a row was shown as none')
    return shown
  }

  async function recordChange(
    tx: Tx,
    by: Acting,
    what: 'clinical_policy.changed' | 'clinical_formulary.replaced',
    [before, after]: readonly { version: number; digest: string }[],
  ): Promise<void> {
    if (before === undefined || after === undefined) throw new Error('a change has two versions')
    await recordClinicalAct(tx, by, ledger, {
      action: what,
      subject: String(after.version),
      inputs: { document_sha256: after.digest, previous_sha256: before.digest },
    })
  }

  return {
    async get(scope: Scope): Promise<StoredClinicalPolicy> {
      return db.tenant(scope, async (tx) => stored(tx, scope, await readClinicalPolicy(tx, scope)))
    },

    /** @throws {Failure} `not_found`. */
    async getVersion(scope: Scope, version: number): Promise<StoredClinicalPolicy> {
      return db.tenant(scope, async (tx) => {
        const row = await findPolicyVersion(tx, scope, version)
        if (row === undefined) throw new Failure('not_found', `There is no version ${version}.`)
        return stored(tx, scope, row)
      })
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async versions(scope: Scope, query: PageQuery): Promise<CountedPage<StoredClinicalPolicy>> {
      return listPage(
        { db, pager },
        { route: 'GET /v1/clinical/policy/versions', scope, query },
        {
          rows: (tx, { before, limit }) => listPolicyVersions(tx, scope, { before: numberOf(before), limit }),
          keyOf: ({ version }) => String(version),
          show: (tx, rows) => Promise.all(rows.map((row) => stored(tx, scope, row))),
        },
      )
    },

    /** Makes a new version, unless the document equals the current one. @throws {Failure} `precondition_failed`. */
    async put(
      by: Acting,
      { document, expected }: { document: ClinicalPolicyDocument; expected: readonly number[] | undefined },
      key?: IdempotencyKey,
    ): Promise<StoredClinicalPolicy> {
      const digest = digestOf(document)
      const put = async (tx: Tx) => {
        const current = await readClinicalPolicy(tx, by)
        checkVersion(expected, current)
        if (current.version > 0 && current.digest === digest) return stored(tx, by, current)
        const changedBy = actorOf(by.principal).id
        const row = await insertPolicyVersion(tx, by, { version: current.version + 1, document, digest, changedBy })
        await recordChange(tx, by, 'clinical_policy.changed', [current, row])
        return stored(tx, by, row)
      }
      return db.tenant(by, async (tx) => {
        await lockDocument(tx, 'clinical_policy', by)
        return once(
          tx,
          key,
          () => put(tx),
          ({ version }) => String(version),
        )
      })
    },

    async formulary(scope: Scope): Promise<StoredFormulary> {
      return db.tenant(scope, async (tx) => storedFormulary(tx, await findFormularyVersion(tx, scope)))
    },

    /** In the order of the concepts' ids. @throws {Failure} `invalid_request` at `?cursor`. */
    async entries(scope: Scope, query: PageQuery): Promise<CountedPage<FormularyEntry>> {
      return listPage(
        { db, pager },
        { route: 'GET /v1/clinical/formulary/entries', scope, query },
        {
          rows: (tx, { before, limit }) => listFormulary(tx, scope, { after: before, limit }),
          keyOf: ({ rxcui }: FormularyEntry) => rxcui,
        },
      )
    },

    /** Replaces all entries. @throws {Failure} `invalid_request` with a pointer to each wrong line; `precondition_failed`. */
    async replaceFormulary(
      by: Acting,
      { csv, expected }: { csv: Buffer; expected: readonly number[] | undefined },
      key?: IdempotencyKey,
    ): Promise<StoredFormulary> {
      const entries = parseFormulary(csv)
      const digest = digestOf(Object.fromEntries(entries))
      const replace = async (tx: Tx) => {
        const current = await findFormularyVersion(tx, by)
        checkVersion(expected, current)
        if (current.version > 0 && current.digest === digest) return storedFormulary(tx, current)
        const version = current.version + 1
        await replaceFormulary(tx, by, { version, digest, entries, changedBy: actorOf(by.principal).id })
        await recordChange(tx, by, 'clinical_formulary.replaced', [current, { version, digest }])
        return storedFormulary(tx, await findFormularyVersion(tx, by))
      }
      return db.tenant(by, async (tx) => {
        await lockDocument(tx, 'clinical_formulary', by)
        return once(
          tx,
          key,
          () => replace(tx),
          () => 'formulary',
        )
      })
    },
  }
}

/**
 * `rxcui,schedule` in a line each, after a line with these names. An empty list is one line.
 * @throws {Failure} `invalid_request`.
 */
export function parseFormulary(csv: Buffer): Map<string, DrugSchedule> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(csv)
  } catch {
    throw invalidField('', 'invalid_utf8', 'is no UTF-8')
  }
  let rows: string[][]
  try {
    rows = parse(text, { skip_empty_lines: true, relax_column_count: true, trim: true, to: MAX_ENTRIES + 2 })
  } catch {
    throw invalidField('', 'malformed', 'is no CSV (RFC 4180)')
  }
  const [header, ...lines] = rows
  if (header?.length !== 2 || header[0]?.toLowerCase() !== 'rxcui' || header[1]?.toLowerCase() !== 'schedule') {
    throw invalidField('/0', 'required', 'must be the line rxcui,schedule')
  }
  if (lines.length > MAX_ENTRIES) throw invalidField('', 'too_many', `must have at most ${MAX_ENTRIES} entries`)
  const entries = new Map<string, DrugSchedule>()
  const errors: FieldError[] = []
  for (const [index, [rxcui = '', schedule = '', ...more]] of lines.entries()) {
    const pointer = `/${index + 1}`
    const found = SCHEDULES.find((name) => name.toLowerCase() === schedule.toLowerCase())
    if (more.length > 0) errors.push({ pointer, code: 'too_many_values', detail: 'must have two columns' })
    else if (!/^[1-9][0-9]{0,8}$/.test(rxcui)) {
      errors.push({ pointer: `${pointer}/rxcui`, code: 'invalid_format', detail: 'must be an RXCUI: a whole number' })
    } else if (found === undefined) {
      errors.push({
        pointer: `${pointer}/schedule`,
        code: 'invalid_value',
        detail: 'must be none, I, II, III, IV or V',
      })
    } else if (entries.has(rxcui)) {
      errors.push({ pointer: `${pointer}/rxcui`, code: 'duplicate', detail: 'stands in an earlier line too' })
    } else entries.set(rxcui, found)
    if (errors.length === MAX_ERRORS) break
  }
  if (errors.length > 0) throw refusalOf(errors)
  return entries
}
