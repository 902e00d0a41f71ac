// Limits on requests for login links. Only a limit that counts every request alike answers 429. The others leave a
// request without a mail: the answer is the same, and so are the statements, because what they decide depends on
// whether the address has an account. These limits don't count by it either: otherwise a person could tell from the
// mails to their own address whether a request for another address was counted.

import type { Tx } from '#src/platform/db/database.ts'
import { isOver } from '#src/platform/http/closed.ts'
import {
  type AttemptCount,
  type AttemptLimit,
  type AttemptRefusal,
  clearAttempts,
  countAttempt,
  countsOfClient,
  limitsOfClient,
  networkOf,
} from './attempts.ts'
import { LINK_MINUTES } from './links.ts'
import { findSignInFacts, voidLinks } from './rows.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

// Strangers in other networks can't use these up, and one in the same network leaves links that work.
const REQUESTS_FOR_ADDRESS = {
  network: { name: 'login address', most: 5, withinMs: 15 * MINUTE_MS },
  site: { name: 'login address site', most: 20, withinMs: HOUR_MS },
} as const satisfies Record<string, AttemptLimit>
const REQUESTS_OF_BROWSER: AttemptLimit = { name: 'login browser', most: 5, withinMs: 15 * MINUTE_MS }

// The first requests of a network may name addresses without a user, which get a mail where people may sign up.
const FIRST_OF_CLIENT = limitsOfClient({ name: 'login first', most: 20, withinMs: HOUR_MS })
// That many people may share one network address.
const REQUESTS_OF_CLIENT = limitsOfClient({ name: 'login client', most: 300, withinMs: HOUR_MS })
const UNLISTED_OF_CLIENT = limitsOfClient({ name: 'login unlisted', most: 20, withinMs: HOUR_MS })

// Mails to one address from everywhere, in three shares. Each counts as long as a link works: a user who
// gets no mail has a link that works. The shares bound the open links, too.
const SHARE_MS = LINK_MINUTES * MINUTE_MS
const MAILS_FOR_STRANGERS: AttemptLimit = { name: 'login mails', most: 10, withinMs: SHARE_MS }
// For requests from networks of the last sessions.
const MAILS_FOR_KNOWN_NETWORKS: AttemptLimit = { name: 'login mails known', most: 10, withinMs: SHARE_MS }
// For requests from networks beyond REQUESTS_OF_CLIENT.
const MAILS_FOR_BUSY_NETWORKS: AttemptLimit = { name: 'login mails busy', most: 1, withinMs: SHARE_MS }

/** A request for a link. */
export interface LinkRequest {
  email: string
  ip: string
  /** The id of a browser in which the reader of this mailbox signed in before. */
  browser: string | undefined
  /** Whether the allowlist has the address. */
  isListed: boolean
  at: Date
}

/** What decides about the mail of a request that is not refused. */
export interface MailShare {
  /** The limit of mails that counts, if the request gets one. undefined: it was counted already. */
  count: AttemptCount | undefined
  /** Why it gets none. */
  refused: AttemptRefusal | undefined
}

/** The limits that answer 429: the same whether the address has an account or not. */
export function countsOfRequest({ email, ip, browser }: LinkRequest): AttemptCount[] {
  return browser !== undefined
    ? [{ limit: REQUESTS_OF_BROWSER, subject: [email, browser] }]
    : countsOfClient(ip, REQUESTS_FOR_ADDRESS).map(({ limit, subject }) => ({ limit, subject: [email, ...subject] }))
}

/** Sends the same statements for every address. */
export async function findShare(tx: Tx, { email, ip, browser, isListed, at }: LinkRequest): Promise<MailShare> {
  // Only the person's own browser knows its cookie.
  if (browser !== undefined) return { count: undefined, refused: undefined }
  const isBusy = (await countAttempt(tx, countsOfClient(ip, REQUESTS_OF_CLIENT), at)) !== undefined
  const refused = await countAttempt(tx, countsOfClient(ip, isListed ? FIRST_OF_CLIENT : UNLISTED_OF_CLIENT), at)
  const { isUser, erasedAfter, addresses } = await findSignInFacts(tx, email)
  const mails = addresses.map(networkOf).includes(networkOf(ip))
    ? MAILS_FOR_KNOWN_NETWORKS
    : isBusy
      ? MAILS_FOR_BUSY_NETWORKS
      : MAILS_FOR_STRANGERS
  const isExempt = isListed && isUser && !isOver(erasedAfter, at)
  return { count: { limit: mails, subject: [email] }, refused: isExempt ? undefined : refused }
}

/**
 * Voids the links of an address whose reader signs in, under the lock of the address. Mails to it count anew: those that were
 * counted have no link that works.
 */
export async function endRequests(tx: Tx, email: string, at: Date): Promise<void> {
  await voidLinks(tx, { email, at })
  const shares = [MAILS_FOR_STRANGERS, MAILS_FOR_KNOWN_NETWORKS, MAILS_FOR_BUSY_NETWORKS]
  await clearAttempts(
    tx,
    shares.map((limit) => ({ limit, subject: [email] })),
  )
}
