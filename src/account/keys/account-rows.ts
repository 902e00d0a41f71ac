// What an account changes of its own row, in the tenant role.

import type { Product } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'

export async function findProducts(tx: Tx): Promise<Product[]> {
  const [row] = await tx.query<{ products: Product[] }>('SELECT products FROM accounts')
  if (row === undefined) throw new Error('the account of a request is not there')
  return row.products
}

/** Returns the products as they were. */
export async function replaceProducts(tx: Tx, products: readonly Product[]): Promise<Product[]> {
  // Foreign keys of other transactions are not held up: the key of the row stays.
  const [row] = await tx.query<{ products: Product[] }>('SELECT products FROM accounts FOR NO KEY UPDATE')
  if (row === undefined) throw new Error('the account of a request is not there')
  await tx.query('UPDATE accounts SET products = $1', [products])
  return row.products
}
