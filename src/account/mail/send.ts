// To send a mail is to write a row and a job, in the transaction of what the mail is about. Neither contains a link or a
// text: the worker asks the feature of the mail's kind for its letter when it sends it.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { Letter } from './letter.ts'
import { insertMail } from './rows.ts'

/** What a mail is about. A new kind is one line here, and its writer in src/account/account.ts or, from above, src/products.ts. */
export const MAIL_KINDS = [
  'login_link',
  'invite',
  'usage_notice',
  'passkey_changed',
  'approval',
  'webhook_endpoint_disabled',
  'sso_changed',
  'exclusions_changed',
  'disclosure_code',
  'disclosure_grant',
] as const
export type MailKind = (typeof MAIL_KINDS)[number]

export interface NewMail {
  kind: MailKind
  /** A normalized address (src/platform/mail-address.ts). */
  recipient: string
  /** The id of what the mail is about, such as that of the link. */
  subjectId: string
  /**
   * Account and environment of the mail. A tenant transaction uses its own scope. A system transaction leaves it out
   * for a mail of no account: the mail must not show whether the recipient has one.
   */
  scope?: Scope
  /** The unit that shares fairly: the account when absent. */
  lane?: string
}

/**
 * Makes the letter when it is sent. undefined when it is no longer to be sent: the link was used, replaced, or has
 * expired.
 */
export type LetterWriter = (mail: { recipient: string; subjectId: string; scope: Scope }) => Promise<Letter | undefined>

// Made by the migration: jobs need an account.
const SERVICE_SCOPE: Scope = { accountId: SERVICE_ACCOUNT_ID, environment: 'live' }

/** Returns the id of the mail. */
export async function sendMail(tx: Tx, { kind, recipient, subjectId, scope, lane }: NewMail): Promise<string> {
  const owner = scope ?? SERVICE_SCOPE
  const id = newAccountId('mai')
  await insertMail(tx, owner, { id, kind, recipient, subjectId })
  await enqueue(tx, 'mail', owner, [{ payload: { mailId: id }, ...(lane === undefined ? {} : { lane }) }])
  return id
}
