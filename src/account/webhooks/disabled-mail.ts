// The mail that tells owners and admins that the service has disabled a webhook endpoint. The row of a mail names the
// endpoint; its text is made when it is sent.

import type { Letter } from '#src/account/mail/letter.ts'
import type { LetterWriter } from '#src/account/mail/send.ts'
import { findTold } from '#src/account/usage/notice-rows.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type EndpointRow, findEndpoint } from './rows.ts'

export function createDisabledLetter({ db, baseUrl }: { db: Pick<Database, 'tenant'>; baseUrl: string }): LetterWriter {
  return ({ subjectId, recipient, scope }) =>
    db.tenant(scope, async (tx) => {
      // A person who was removed, or lost the role, meanwhile; an endpoint that was enabled again or deleted.
      const isTold = (await findTold(tx)).some(({ email }) => email === recipient)
      const endpoint = isTold ? await findEndpoint(tx, subjectId) : undefined
      return endpoint?.status === 'disabled' ? letterOf(endpoint, scope, baseUrl) : undefined
    })
}

function letterOf(
  endpoint: EndpointRow,
  { accountId, environment }: { accountId: string; environment: string },
  baseUrl: string,
): Letter {
  // A path or a query may contain the receiver's secret.
  const { origin } = new URL(endpoint.url)
  const why =
    endpoint.disabledReason === 'gone'
      ? 'It answered a delivery with the status 410 (Gone).'
      : 'For five days it has answered no delivery with a status from 200 to 299.'
  return {
    subject: 'A webhook endpoint was disabled',
    paragraphs: [
      `The ${environment} webhook endpoint ${endpoint.id} (${origin}) of the account ${accountId} was disabled. ${why}`,
      'Nothing is sent to it, and the deliveries that waited for it were cancelled. When the receiver works, enable the endpoint with PATCH and status "enabled", and recover the events that it missed.',
    ],
    action: { label: 'How to enable it and recover', url: `${baseUrl}/docs/webhooks/webhook-delivery` },
    notes: ['You get this mail because you are an owner or an admin of the account.'],
  }
}
