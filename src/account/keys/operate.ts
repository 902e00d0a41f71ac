// What operators do to accounts. Every function runs in the caller's transaction, in the system role: the caller records the
// act in the same one.

import { PLANS, type Plan, PRODUCTS, type Product } from '#src/catalogue/access.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Account, changePlan, toAccount } from './accounts.ts'
import { changeAccount, countKeysByEnvironment, isAccountErasing, type KeyCount, lockAccount } from './rows.ts'

const MAX_REASON = 500

/**
 * From the next request on, every key of the account is refused. Accepted work waits, see `SUSPENDED_ACCOUNTS`. A closed
 * account is not erased meanwhile, and its 30 days begin anew when the suspension ends.
 * @throws {Failure} `not_found`; `conflict` when it is suspended, or being erased; `invalid_request` at `/reason`.
 */
export async function suspendAccount(tx: Tx, id: string, reason: string): Promise<Account> {
  if (reason.trim() === '' || reason.length > MAX_REASON || reason.includes('\0')) {
    throw invalidField('/reason', 'out_of_range', `must have 1 to ${MAX_REASON} characters`)
  }
  const account = await lockedAccount(tx, id)
  if (account.suspendedAt !== null) {
    throw new Failure('conflict', `${id} has been suspended since ${account.suspendedAt.toISOString()}.`)
  }
  // Half of it may be gone: there is nothing left to keep as it is.
  if (await isAccountErasing(tx, id)) throw new Failure('conflict', `${id} was closed and is being erased, or was.`)
  return change(tx, account, { suspensionReason: reason })
}

/** @throws {Failure} `not_found`; `conflict` when it is not suspended. */
export async function unsuspendAccount(tx: Tx, id: string): Promise<Account> {
  const account = await lockedAccount(tx, id)
  if (account.suspendedAt === null) throw new Failure('conflict', `${id} is not suspended.`)
  return change(tx, account, { suspensionReason: null })
}

/**
 * @returns the plan before: where it is the same, nothing was changed.
 * @throws {Failure} `not_found`, `invalid_request` at `/plan`.
 */
export async function setPlan(tx: Tx, id: string, plan: Plan): Promise<{ account: Account; before: Plan }> {
  if (!PLANS.includes(plan)) throw invalidField('/plan', 'invalid_value', `must be one of ${PLANS.join(', ')}`)
  const before = await changePlan(tx, id, plan)
  return { account: await lockedAccount(tx, id), before }
}

/** @throws {Failure} `not_found`; `invalid_request` at `/products`, also for none. */
export async function setProducts(tx: Tx, id: string, products: readonly Product[]): Promise<Account> {
  if (products.length === 0 || products.some((product) => !PRODUCTS.includes(product))) {
    throw invalidField('/products', 'invalid_value', `must be some of ${PRODUCTS.join(', ')}`)
  }
  return change(tx, await lockedAccount(tx, id), { products: PRODUCTS.filter((product) => products.includes(product)) })
}

/** The keys of an account by environment: how many are valid now, and the latest use of any. */
export function countKeysOf(tx: Tx, id: string): Promise<KeyCount[]> {
  return countKeysByEnvironment(tx, id)
}

/** @throws {Failure} `not_found` */
async function lockedAccount(tx: Tx, id: string): Promise<Account> {
  const row = await lockAccount(tx, id)
  if (row === undefined) throw new Failure('not_found', `There is no account ${id}.`)
  return toAccount(row)
}

interface Change {
  products?: readonly Product[]
  suspensionReason?: string | null
}

async function change(tx: Tx, account: Account, wanted: Change): Promise<Account> {
  const { products, suspensionReason } = { ...account, ...wanted }
  const row = await changeAccount(tx, { id: account.id, products, suspension_reason: suspensionReason })
  if (row === undefined) throw new Error(`account ${account.id} disappeared: accounts are not deleted`)
  return toAccount(row)
}
