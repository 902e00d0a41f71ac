// An account's own evaluation sets. Their prompts may be anything, personal data too, so they are sealed at rest and shown
// to no caller again: the hash says which prompts a report is of.

import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { listPage, type Page, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { canonicalPrompts, type EvalPrompt, type EvalPrompts, evalPromptsOf, MAX_SET_BYTES } from './eval-prompts.ts'
import {
  countEvalSets,
  deleteEvalSet,
  type EvalSetRow,
  findEvalSet,
  findEvalSets,
  findSealedPrompts,
  insertEvalSet,
  lockEvalSet,
} from './eval-set-rows.ts'

/** Of an account and environment. */
const MAX_EVAL_SETS = 50

export const SEALED_PROMPTS: SealedColumn = {
  table: 'eval_sets',
  column: 'sealed_prompts',
  of: 'environment',
  id: 'id',
  use: ({ id = '' }) => useOf(id),
}

const useOf = (id: string) => `prompts of ${id}`

interface EvalSetsDeps {
  db: Pick<Database, 'tenant'>
  sealer: Sealer
  pager: Pager
  now: () => Date
}

/** A set with who stored it. */
export type ShownEvalSet = WithActors<EvalSetRow, 'createdBy'>

export type EvalSets = ReturnType<typeof createEvalSets>

export function createEvalSets({ db, sealer, pager, now }: EvalSetsDeps) {
  async function get(scope: Scope, id: string): Promise<ShownEvalSet> {
    checkId(id, 'evs', scope.environment)
    return db.tenant(scope, async (tx) => {
      const row = await findEvalSet(tx, id)
      if (row === undefined) throw new Failure('not_found', `There is no evaluation set ${id}.`)
      return rowWithActors(tx, row, ['createdBy'])
    })
  }

  return {
    /** @throws {Failure} `payload_too_large`; `limit_reached` beyond `MAX_EVAL_SETS`. */
    create(
      by: Acting,
      { name, prompts }: { name: string; prompts: readonly EvalPrompt[] },
      key?: IdempotencyKey,
    ): Promise<ShownEvalSet> {
      const id = newId('evs', by.environment)
      const bytes = Buffer.from(canonicalPrompts(prompts))
      if (bytes.length > MAX_SET_BYTES) {
        throw new Failure('payload_too_large', `The prompts of a set have at most ${MAX_SET_BYTES} bytes together.`)
      }
      const { sha256 } = evalPromptsOf(name, prompts)
      const sealedPrompts = sealer.seal(bytes, useOf(id))
      const row: EvalSetRow = {
        id,
        name,
        prompts: prompts.length,
        sha256: Buffer.from(sha256, 'hex'),
        createdBy: actorOf(by.principal).id,
        createdAt: now(),
      }
      const insert = async (tx: Tx) => {
        // Two at once may both be the last one: the bound is against waste.
        if ((await countEvalSets(tx)) >= MAX_EVAL_SETS) {
          throw new Failure('limit_reached', {
            detail: `An account has at most ${MAX_EVAL_SETS} evaluation sets: delete one.`,
            members: { maximum: MAX_EVAL_SETS },
          })
        }
        await insertEvalSet(tx, by, { ...row, sealedPrompts })
        return row
      }
      return db.tenant(by, async (tx) => {
        const made = await once(tx, key, insert, ({ id }) => id)
        return rowWithActors(tx, made, ['createdBy'])
      })
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    get,

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: { limit: number; cursor?: string | undefined }): Promise<Page<ShownEvalSet>> {
      const list = { route: 'GET /v1/trace/eval-sets', scope, query }
      return listPage({ db, pager }, list, {
        rows: findEvalSets,
        show: (tx, rows) => withActors(tx, rows, ['createdBy']),
      })
    },

    /** Diffs that have not ended fail: one that runs, at its next checkpoint. @throws {Failure} `not_found`, `environment_mismatch`. */
    async remove(scope: Scope, id: string, key?: IdempotencyKey): Promise<void> {
      checkId(id, 'evs', scope.environment)
      const remove = async (tx: Tx) => {
        if (!(await deleteEvalSet(tx, id))) throw new Failure('not_found', `There is no evaluation set ${id}.`)
      }
      await db.tenant(scope, (tx) => once(tx, key, remove, () => id))
    },

    /** @throws {Failure} `not_found`: it was deleted. */
    async read(scope: Scope, id: string): Promise<EvalPrompts> {
      const found = await db.tenant(scope, (tx) => findSealedPrompts(tx, id))
      if (found === undefined) throw deleted(id)
      const prompts = JSON.parse(sealer.open(found.sealedPrompts, useOf(id)).toString('utf8')) as EvalPrompt[]
      return { name: found.name, sha256: found.sha256.toString('hex'), prompts }
    },

    /** Of a set that was read: it stays until the transaction ends. @throws {Failure} `not_found`: it was deleted. */
    async hold(tx: Tx, id: string): Promise<void> {
      if (!(await lockEvalSet(tx, id))) throw deleted(id)
    },
  }
}

const deleted = (id: string) => new Failure('not_found', `There is no evaluation set ${id} any more.`)
