// The products that an account uses. They decide which events its webhook endpoints receive.

import { recordAudit } from '#src/account/audit/record.ts'
import { PRODUCTS, type Product } from '#src/catalogue/access.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { findProducts, replaceProducts } from '../keys/account-rows.ts'

export type AccountProducts = ReturnType<typeof createAccountProducts>

export function createAccountProducts({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    find: (scope: Scope): Promise<Product[]> => db.tenant(scope, findProducts),

    /** Replaces them, from the next event on. */
    put(by: Acting, wanted: readonly Product[], key?: IdempotencyKey): Promise<Product[]> {
      // One order, so that the same products are the same row.
      const products = PRODUCTS.filter((product) => wanted.includes(product))
      const replace = async (tx: Tx) => {
        const before = await replaceProducts(tx, products)
        await recordAudit(tx, by, {
          action: 'products.changed',
          before: { products: before },
          after: { products },
          isScoped: false,
        })
        return products
      }
      return db.tenant(by, (tx) => once(tx, key, replace, () => 'products'))
    },
  }
}
