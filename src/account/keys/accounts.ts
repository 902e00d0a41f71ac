import { PLANS, type Plan, PRODUCTS, type Product } from '#src/catalogue/access.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { newAccountId } from '#src/platform/ids.ts'
import {
  type AccountRow,
  findAccount,
  insertAccount,
  listAccounts,
  listNewestAccounts,
  lockPlan,
  updatePlan,
} from './rows.ts'

export interface Account {
  id: string
  name: string
  plan: Plan
  products: Product[]
  /** The account's keys are published: its data is deleted after a week (see retention.ts). */
  isPublic: boolean
  createdAt: Date
  /** Since when every request of the account is refused and its work waits; null when it is not suspended. */
  suspendedAt: Date | null
  suspensionReason: string | null
  /** When an owner closed the account; null while it is open. */
  closedAt: Date | null
  /** When what is left of a closed account is erased. A suspension postpones it. */
  erasedAfter: Date | null
  /** Nothing is left of it but this row. */
  erasedAt: Date | null
}

interface NewAccount {
  name: string
  plan: Plan
  /** All products when absent. */
  products?: Product[]
  /** For an account that the deployment itself owns: creating it again returns it unchanged. */
  id?: string
  /** False when absent. */
  isPublic?: boolean
}

interface AccountPage {
  before?: string | undefined
  limit: number
  /** Only these, when true. */
  isSuspended?: boolean
  isClosed?: boolean
}

/**
 * Account of the jobs that send mails before the recipient has an account. A migration creates it; it has no keys and
 * no users.
 */
export const SERVICE_ACCOUNT_ID = 'acc_service'

const WALK_ROWS = 500
const ACCOUNT_ID = /^acc_[0-9a-z]{1,40}$/

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts({ db }: { db: Pick<Database, 'system'> }) {
  /**
   * @param record Called in the transaction that creates the account, and not for one that exists.
   * @throws {Failure} `invalid_request` for a name, plan, product or id that can't be one.
   */
  async function create(
    { name, plan, products = [...PRODUCTS], id = newAccountId('acc'), isPublic = false }: NewAccount,
    record: (tx: Tx, account: Account) => Promise<void> = async () => {},
  ): Promise<Account> {
    if (name.trim() === '' || name.length > 200 || name.includes('\0'))
      throw invalidField('/name', 'out_of_range', 'must have 1 to 200 characters')
    if (!PLANS.includes(plan)) throw invalidField('/plan', 'invalid_value', `must be one of ${PLANS.join(', ')}`)
    if (products.some((product) => !PRODUCTS.includes(product))) {
      throw invalidField('/products', 'invalid_value', `must be some of ${PRODUCTS.join(', ')}`)
    }
    if (!ACCOUNT_ID.test(id))
      throw invalidField('/id', 'invalid_format', 'must be acc_ and lower-case letters or digits')
    return db.system('create account', async (tx) => {
      const isNew = await insertAccount(tx, { id, name, plan, products, is_public: isPublic })
      const row = await findAccount(tx, id)
      if (row === undefined) throw new Error('an account that was just inserted is not there')
      const account = toAccount(row)
      if (isNew) await record(tx, account)
      return account
    })
  }

  async function find(id: string): Promise<Account | undefined> {
    const row = await db.system('find account', (tx) => findAccount(tx, id))
    return row === undefined ? undefined : toAccount(row)
  }

  /** @throws {Failure} `not_found` */
  async function get(id: string): Promise<Account> {
    const account = await find(id)
    if (account === undefined) throw new Failure('not_found', 'No such account.')
    return account
  }

  /** Newest first, starting below the id `before`. */
  async function list(page: AccountPage): Promise<Account[]> {
    const { isSuspended = false, isClosed = false } = page
    const rows = await db.system('list accounts', (tx) => listNewestAccounts(tx, { ...page, isSuspended, isClosed }))
    return rows.map(toAccount)
  }

  /** Every account, for work that is done for each. An account created meanwhile may be included. */
  async function* walk(): AsyncGenerator<Pick<Account, 'id' | 'isPublic'>> {
    for (let after = ''; ; ) {
      const rows = await db.system('walk accounts', (tx) => listAccounts(tx, { after, limit: WALK_ROWS }))
      for (const row of rows) yield { id: row.id, isPublic: row.is_public }
      const last = rows.at(-1)
      if (last === undefined || rows.length < WALK_ROWS) return
      after = last.id
    }
  }

  return { create, find, get, list, walk }
}

/**
 * Sets the plan, in a transaction of either role. The present plan again changes nothing.
 * @param check Throws where the caller may not make the change. Not called for the present plan.
 * @returns the plan before.
 * @throws {Failure} `not_found`
 */
export async function changePlan(
  tx: Tx,
  accountId: string,
  plan: Plan,
  check: (before: Plan) => void = () => {},
): Promise<Plan> {
  const before = await lockPlan(tx, accountId)
  if (before === undefined) throw new Failure('not_found', `There is no account ${accountId}.`)
  if (before === plan) return before
  check(before)
  await updatePlan(tx, accountId, plan)
  return before
}

export function toAccount(row: AccountRow): Account {
  const products = row.products.filter((name): name is Product => PRODUCTS.some((known) => known === name))
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    products,
    isPublic: row.is_public,
    createdAt: row.created_at,
    suspendedAt: row.suspended_at,
    suspensionReason: row.suspension_reason,
    closedAt: row.closed_at,
    erasedAfter: row.erased_after,
    erasedAt: row.erased_at,
  }
}
