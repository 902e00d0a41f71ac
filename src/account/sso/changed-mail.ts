// The mail that tells every owner that the identity provider, or its domain, is another one: who controls it signs in as members.

import type { Letter } from '#src/account/mail/letter.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import { listOwnerAddresses } from '#src/account/users/sso-rows.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { quote } from '#src/platform/sanitize.ts'
import { findConfig, type SsoConfig } from './rows.ts'

/** One mail for each owner. In a tenant transaction, or with the account named in a system one. */
export async function tellOwners(
  tx: Tx,
  scope: Scope,
  { id, version }: Pick<SsoConfig, 'id' | 'version'>,
): Promise<void> {
  const { accountId, environment } = scope
  for (const recipient of await listOwnerAddresses(tx, accountId)) {
    const subjectId = `${id}.${version}`
    await sendMail(tx, { kind: 'sso_changed', recipient, subjectId, scope: { accountId, environment } })
  }
}

export function createChangedLetter({ db, baseUrl }: { db: Pick<Database, 'tenant'>; baseUrl: string }): LetterWriter {
  return ({ recipient, scope }) =>
    db.tenant(scope, async (tx) => {
      // A person who is no owner any more.
      if (!(await listOwnerAddresses(tx, scope.accountId)).includes(recipient)) return undefined
      return letterOf(scope.accountId, await findConfig(tx, scope.accountId), baseUrl)
    })
}

function letterOf(accountId: string, config: SsoConfig | undefined, baseUrl: string): Letter {
  return {
    subject: 'Single sign-on of your account was changed',
    paragraphs: [
      `The identity provider of the account ${accountId}, its client or its domain was changed.`,
      config === undefined
        ? 'Single sign-on is removed: users sign in by mailed links.'
        : `Users of ${config.domain} now sign in with ${quote(config.issuer) ?? ''}${config.verifiedAt === null ? ', once the domain is verified' : ''}. Nobody is linked to it before their next login.`,
    ],
    action: { label: 'Sign in and look', url: `${baseUrl}/login/link` },
    notes: [
      'A person who controls the identity provider signs in as users beside owners. If you did not expect the change, remove it with DELETE /v1/auth/sso/config.',
      'You get this mail because you are an owner of the account.',
    ],
  }
}
