// The operator's own links: printed, never mailed. A person who runs the deployment's commands can read its database
// anyway, so such a link gives a full session.

import { recordAudit } from '#src/account/audit/record.ts'
import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import { findAccount } from '#src/account/keys/rows.ts'
import { findMemberByEmail, insertOwner, type Member } from '#src/account/users/rows.ts'
import type { LinkTokens } from '#src/platform/crypto/link-token.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { isOver } from '#src/platform/http/closed.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import type { Allowlist } from './allowlist.ts'
import { loginUrl, newLink } from './links.ts'
import { insertLink, lockAddress, voidLinks } from './rows.ts'

// It is read from a terminal, often later than a mail.
const OPERATOR_MINUTES = 60

interface OperatorLinkDeps {
  db: Pick<Database, 'system'>
  now: () => Date
  linkTokens: LinkTokens
  allowlist: Allowlist
  baseUrl: string
}

export interface PrintedLink {
  link: string
  email: string
  account: string
  user: string
  expiresAt: Date
}

export type PrintLink = ReturnType<typeof createPrintLink>

export function createPrintLink({ db, now, linkTokens, allowlist, baseUrl }: OperatorLinkDeps) {
  /**
   * A link that signs in the user with an address.
   * @param wanted accountId: where the address has no user, it becomes an owner of this account. at: the public address,
   * where the deployment's configuration does not say it.
   * @throws {Error} with a sentence for people.
   */
  return async (given: string, wanted: { accountId?: string | undefined; at?: string } = {}): Promise<PrintedLink> => {
    const email = normalizeAddress(given)
    if (email === undefined) throw new Error(`${given} is not an e-mail address that can sign in.`)
    if (!allowlist.isAllowed(email)) throw new Error(`DASHBOARD_LOGIN_ALLOWLIST does not allow ${email}.`)
    return db.system('print login link', async (tx) => {
      const at = now()
      await lockAddress(tx, email)
      const member = await memberFor(tx, email, wanted.accountId, at)
      await voidLinks(tx, { email, method: 'operator_link', at })
      const made = newLink(linkTokens, { email, at, method: 'operator_link', member, minutes: OPERATOR_MINUTES })
      await insertLink(tx, made.row)
      await recordAudit(
        tx,
        { accountId: member.accountId, kind: 'operator' },
        { action: 'login_link.printed', subjectId: member.userId, isScoped: false },
      )
      return {
        link: loginUrl(wanted.at ?? baseUrl, made.token),
        email,
        account: member.accountId,
        user: member.userId,
        expiresAt: made.row.expiresAt,
      }
    })
  }
}

async function memberFor(tx: Tx, email: string, accountId: string | undefined, now: Date): Promise<Member> {
  const { member: known } = await findMemberByEmail(tx, email)
  if (known !== undefined && !known.isRemoved) {
    if (accountId === undefined || accountId === known.accountId) return refuseOver(known, now)
    throw new Error(`${email} is a user of ${known.accountId}.`)
  }
  if (accountId === undefined) {
    throw new Error(`No user has the address ${email}. --account names an account whose owner it becomes.`)
  }
  if (known?.accountId === accountId)
    throw new Error(`${email} was removed from ${accountId}: only an invite undoes that.`)
  const account = await findAccount(tx, accountId)
  if (account === undefined) throw new Error(`There is no account ${accountId}.`)
  // Its owner could close the account that all publishable keys share, or stop all mails.
  if (account.is_public || accountId === SERVICE_ACCOUNT_ID) {
    throw new Error(`${accountId} belongs to the deployment and has no users.`)
  }
  refuseOver({ accountId, erasedAfter: account.erased_after }, now)
  return insertOwner(tx, email, account)
}

// The user would stay: nothing of an account is erased twice.
function refuseOver<M extends Pick<Member, 'accountId' | 'erasedAfter'>>(member: M, now: Date): M {
  if (!isOver(member.erasedAfter, now)) return member
  throw new Error(`${member.accountId} was closed 30 days ago: it is being erased, or was.`)
}
