import type { Plan, Product, Role } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newAccountId } from '#src/platform/ids.ts'

/** A member, removed or not, with what signing in must know of the account. */
export interface Member {
  accountId: string
  userId: string
  email: string
  role: Role
  isRemoved: boolean
  /** When the closed account is erased; null while it is open. */
  erasedAfter: Date | null
  accountName: string
  plan: Plan
  products: Product[]
}

interface AccountFacts {
  id: string
  name: string
  plan: Plan
  products: Product[]
}

const MEMBER = `u.account_id AS "accountId", u.id AS "userId", u.email, u.role,
  u.deprovisioned_at IS NOT NULL AS "isRemoved", a.erased_after AS "erasedAfter", a.name AS "accountName", a.plan, a.products`

// System role: only the address of a person who signs in tells the account.

/** What is known of an address that signs in. */
export interface KnownAddress {
  /** A removed member only where no account has the address as a member: its row keeps the address out. */
  member: Member | undefined
  /** The domain of an organization whose users sign in by single sign-on only, where the person of the address is such a user. */
  enforcedDomain: string | undefined
}

/**
 * The member with an address, and whether the organization of its domain demands single sign-on. Until the end of the
 * transaction no organization begins to demand it. Owners, and members of another account than that of the domain, are exempt.
 */
export async function findMemberByEmail(tx: Tx, email: string): Promise<KnownAddress> {
  // Locked and read in one: a change that commits while this waits is seen.
  const [config] = await tx.query<{ accountId: string; domain: string; isEnforced: boolean }>(
    `SELECT c.account_id AS "accountId", c.domain, c.is_enforced AND a.plan = 'enterprise' AS "isEnforced"
     FROM sso_configs c JOIN accounts a ON a.id = c.account_id
     WHERE c.domain = split_part($1, '@', 2) AND c.verified_at IS NOT NULL FOR SHARE OF c`,
    [email],
  )
  const [member] = await tx.query<Member>(
    `SELECT ${MEMBER} FROM users u JOIN accounts a ON a.id = u.account_id
     WHERE u.email = $1 ORDER BY u.deprovisioned_at IS NOT NULL LIMIT 1`,
    [email],
  )
  const active = member?.isRemoved === false ? member : undefined
  const isExempt = active !== undefined && (active.role === 'owner' || active.accountId !== config?.accountId)
  return { member, enforcedDomain: config?.isEnforced === true && !isExempt ? config.domain : undefined }
}

export async function findMember(tx: Tx, accountId: string, userId: string): Promise<Member | undefined> {
  const [row] = await tx.query<Member>(
    `SELECT ${MEMBER} FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.account_id = $1 AND u.id = $2`,
    [accountId, userId],
  )
  return row
}

export async function noteSignIn(
  tx: Tx,
  { accountId, userId }: Pick<Member, 'accountId' | 'userId'>,
  at: Date,
): Promise<void> {
  await tx.query(`UPDATE users SET last_login_at = $3 WHERE account_id = $1 AND id = $2`, [accountId, userId, at])
}

// System or tenant role.

/** @throws a unique violation of `users_active_email_key` when the address is a member already. */
export async function insertOwner(tx: Tx, email: string, account: AccountFacts): Promise<Member> {
  const userId = newAccountId('usr')
  await tx.query(`INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, 'owner')`, [
    account.id,
    userId,
    email,
  ])
  const { id: accountId, name: accountName, plan, products } = account
  return { accountId, userId, email, role: 'owner', isRemoved: false, erasedAfter: null, accountName, plan, products }
}
