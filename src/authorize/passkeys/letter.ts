// The mails that tell users of a change of their passkeys, which an attacker with their session may have made. The text is made
// when a mail is sent, from the entry of the audit log.

import { findAuditEntries } from '#src/account/audit/rows.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

type MailedAction = Extract<AuditAction, 'passkey.registered' | 'passkey.removed'>

export async function mailChange(
  tx: Tx,
  { accountId, environment }: Scope,
  { action, passkeyId, recipient }: { action: MailedAction; passkeyId: string; recipient: string },
): Promise<void> {
  const scope = { accountId, environment }
  await sendMail(tx, { kind: 'passkey_changed', recipient, subjectId: `${action} ${passkeyId}`, scope })
}

export function createPasskeyLetter({ db, baseUrl }: { db: Pick<Database, 'tenant'>; baseUrl: string }): LetterWriter {
  return async ({ subjectId, scope }) => {
    const [action = '', passkeyId = ''] = subjectId.split(' ')
    if (!isMailed(action)) return undefined
    const [entry] = await db.tenant(scope, (tx) =>
      findAuditEntries(tx, { actions: [action], subjectId: passkeyId }, { limit: 1 }),
    )
    if (entry === undefined) return undefined
    const isNew = action === 'passkey.registered'
    const name = nameIn(isNew ? entry.after : entry.before)
    return {
      subject: isNew ? 'A passkey was added to your account' : 'A passkey was removed from your account',
      paragraphs: [
        `The passkey "${name}" was ${isNew ? 'registered' : 'removed'} on ${entry.at.toISOString()}, from the address ${entry.ip ?? 'unknown'}.`,
        isNew
          ? 'The person who has it can confirm actions and decide on approvals in your name.'
          : 'Nothing can be confirmed with it any more.',
      ],
      action: { label: 'See your passkeys', url: `${baseUrl}/passkeys` },
      notes: ['If it was not you: sign in, remove passkeys that are not yours, and end all of your sessions.'],
    }
  }
}

function isMailed(action: string): action is MailedAction {
  return action === 'passkey.registered' || action === 'passkey.removed'
}

function nameIn(state: unknown): string {
  return typeof state === 'object' && state !== null ? String(Reflect.get(state, 'name')) : ''
}
