// The products that an account uses. They decide which events its webhook endpoints receive.

import { recordAudit } from '#src/account/audit/record.ts'
import { PRODUCTS, type Product } from '#src/catalogue/access.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type AccountDetails, findDetails, lockDetails, updateProducts } from '../keys/account-rows.ts'

export type ShownProducts = Pick<AccountDetails, 'products' | 'version'>

export type AccountProducts = ReturnType<typeof createAccountProducts>

export function createAccountProducts({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    find: (scope: Scope): Promise<ShownProducts> => db.tenant(scope, findDetails),

    /**
     * Replaces them, from the next event on.
     * @param expected The versions that the caller expects to replace; undefined for any.
     * @throws {Failure} `precondition_failed`
     */
    put(
      by: Acting,
      wanted: readonly Product[],
      key?: IdempotencyKey,
      expected?: readonly number[],
    ): Promise<ShownProducts> {
      // A fixed order, so that the same products give the same row.
      const products = PRODUCTS.filter((product) => wanted.includes(product))
      const replace = async (tx: Tx) => {
        const before = await lockDetails(tx)
        checkVersion(expected, before)
        const after = await updateProducts(tx, products)
        await recordAudit(tx, by, {
          action: 'products.changed',
          before: { products: before.products },
          after: { products },
          isScoped: false,
        })
        return after
      }
      return db.tenant(by, (tx) => once(tx, key, replace, () => 'products'))
    },
  }
}
