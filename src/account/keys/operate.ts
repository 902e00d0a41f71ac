// What operators do to accounts. Every function runs in the caller's transaction, in the system role: the caller records the
// act in the same one.

import { PLANS, type Plan, PRODUCTS, type Product } from '#src/catalogue/access.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Account, toAccount } from './accounts.ts'
import { changeAccount, countKeys, type KeyCount, lockAccount } from './rows.ts'

const MAX_REASON = 500

/**
 * From the next request on, every key of the account is refused. Accepted work waits, see `SUSPENDED_ACCOUNTS`.
 * @throws {Failure} `not_found`; `conflict` when it is suspended; `invalid_request` at `/reason`.
 */
export async function suspendAccount(tx: Tx, id: string, reason: string): Promise<Account> {
  if (reason.trim() === '' || reason.length > MAX_REASON || reason.includes('\0')) {
    throw invalidField('/reason', 'out_of_range', `must have 1 to ${MAX_REASON} characters`)
  }
  const account = await getAccount(tx, id)
  if (account.suspendedAt !== null) {
    throw new Failure('conflict', `${id} has been suspended since ${account.suspendedAt.toISOString()}.`)
  }
  return change(tx, account, { suspensionReason: reason })
}

/** @throws {Failure} `not_found`; `conflict` when it is not suspended. */
export async function unsuspendAccount(tx: Tx, id: string): Promise<Account> {
  const account = await getAccount(tx, id)
  if (account.suspendedAt === null) throw new Failure('conflict', `${id} is not suspended.`)
  return change(tx, account, { suspensionReason: null })
}

/** @throws {Failure} `not_found`, `invalid_request` at `/plan`. */
export async function setPlan(tx: Tx, id: string, plan: Plan): Promise<Account> {
  if (!PLANS.includes(plan)) throw invalidField('/plan', 'invalid_value', `must be one of ${PLANS.join(', ')}`)
  return change(tx, await getAccount(tx, id), { plan })
}

/** @throws {Failure} `not_found`; `invalid_request` at `/products`, also for none. */
export async function setProducts(tx: Tx, id: string, products: readonly Product[]): Promise<Account> {
  if (products.length === 0 || products.some((product) => !PRODUCTS.includes(product))) {
    throw invalidField('/products', 'invalid_value', `must be some of ${PRODUCTS.join(', ')}`)
  }
  return change(tx, await getAccount(tx, id), { products: PRODUCTS.filter((product) => products.includes(product)) })
}

/** The keys of an account by environment: how many are valid now, and the latest use of any. */
export function countKeysOf(tx: Tx, id: string): Promise<KeyCount[]> {
  return countKeys(tx, id)
}

/** @throws {Failure} `not_found` */
async function getAccount(tx: Tx, id: string): Promise<Account> {
  const row = await lockAccount(tx, id)
  if (row === undefined) throw new Failure('not_found', `There is no account ${id}.`)
  return toAccount(row)
}

interface Change {
  plan?: Plan
  products?: readonly Product[]
  suspensionReason?: string | null
}

async function change(tx: Tx, account: Account, wanted: Change): Promise<Account> {
  const { plan, products, suspensionReason } = { ...account, ...wanted }
  const row = await changeAccount(tx, { id: account.id, plan, products, suspension_reason: suspensionReason })
  if (row === undefined) throw new Error(`account ${account.id} disappeared: accounts are not deleted`)
  return toAccount(row)
}
