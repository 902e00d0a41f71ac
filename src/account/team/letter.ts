import type { Letter } from '#src/account/mail/letter.ts'
import type { Role } from '#src/catalogue/access.ts'
import { quote } from '#src/platform/sanitize.ts'

export const INVITE_DAYS = 7

/** The token is in the fragment, which browsers send to no server: no log on the way has it. */
function inviteUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/login/invite#${token}`
}

interface Invitation {
  baseUrl: string
  token: string
  accountName: string
  role: Role
}

export function inviteLetterOf({ baseUrl, token, accountName, role }: Invitation): Letter {
  return {
    subject: 'You are invited to Countersign',
    paragraphs: [
      // Chosen by strangers: without line breaks and invisible characters it can't pose as another part of the mail.
      `You are invited to the account "${quote(accountName) ?? ''}" of Countersign at ${baseUrl}, with the role ${role}.`,
    ],
    action: { label: 'Accept the invite', url: inviteUrl(baseUrl, token) },
    notes: [
      `The link works once, for ${INVITE_DAYS} days, and only until the invite is sent again or revoked.`,
      'If you did not expect it, do nothing.',
    ],
  }
}
