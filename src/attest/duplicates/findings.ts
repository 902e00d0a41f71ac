// The duplicates of a claim's media in both directions: the earlier claims that showed it, and the later ones.

import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { type ComparedRow, findCompared, isClaim } from './rows.ts'
import { MAX_NAMED } from './search.ts'

export type DuplicateFindings = ReturnType<typeof createDuplicateFindings>

export function createDuplicateFindings({ db, pager }: { db: Pick<Database, 'tenant'>; pager: Pager }) {
  return {
    /**
     * The claim's evaluated attestations, newest first, each with its findings.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `?cursor`.
     */
    async list(scope: Scope, claimId: string, query: PageQuery): Promise<CountedPage<ComparedRow>> {
      checkId(claimId, 'clm', scope.environment)
      const list = { route: 'GET /v1/claims/:id/duplicates', scope, query: { ...query, claimId } }
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => {
          const [isThere, rows] = await Promise.all([
            isClaim(tx, claimId),
            findCompared(tx, claimId, { ...page, named: MAX_NAMED }),
          ])
          if (!isThere) throw new Failure('not_found', `There is no claim ${claimId}.`)
          return rows
        },
        keyOf: ({ attestationId }) => attestationId,
      })
    },
  }
}
