// A person who has the token of a share asks to see what it masks: an address is verified by a mailed code before the account
// learns of the request. What is refused does not show whether an address was used before.

import {
  type AttemptCount,
  type AttemptLimit,
  type AttemptRefusal,
  countsOfClient,
  createAttempts,
  limitsOfClient,
  siteOf,
  tooManyAttempts,
} from '#src/account/login/attempts.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { Failure, type FieldError, invalidField } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Origin } from '#src/platform/http/principal.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { visibleLength } from '#src/platform/sanitize.ts'
import type { DisclosureDecisions } from './deciding.ts'
import { findRequest, insertRequest, markRequestVerified, type RequestRow, takeTry } from './disclosure-rows.ts'
import { CODE_DIGITS, codeLetter, isCode, mailedCodeOf, sealPerson } from './person.ts'
import { holdShare, type ShareRow, statusOf, subjectOf, type TokenOwner } from './rows.ts'
import { noShare, type ShareTokens } from './viewing.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const CODE_MINUTES = 15
// A code is one of 10^8: with the limits below, an address has 15 tries an hour.
const CODE_TRIES = 5
export const MIN_PURPOSE = 10

const REQUESTS_OF_CLIENT = limitsOfClient({ name: 'disclosure client', most: 10, withinMs: HOUR_MS })
const REQUESTS_OF_ADDRESS: AttemptLimit = { name: 'disclosure address', most: 3, withinMs: HOUR_MS }
// From all shares together: how many codes strangers can send to one mailbox.
const MAILS_TO_ADDRESS: AttemptLimit = { name: 'disclosure mails', most: 10, withinMs: 24 * HOUR_MS }
const REQUESTS_OF_SHARE: AttemptLimit = { name: 'disclosure share', most: 100, withinMs: HOUR_MS }
// Only wrong codes count: people behind one address don't lock each other out. A request has its own tries.
const FAILED_TRIES = limitsOfClient({ name: 'disclosure code', most: 30, withinMs: HOUR_MS })

// What strangers send delays no account's own mails. A lane has the jobs of one account: dispatch leaves out the lane of an
// account that is suspended.
const laneOf = ({ accountId }: Scope) => `${accountId} disclosure`

export interface Asking {
  token: string | undefined
  shareId: string
  origin: Origin
}

export type ShownRequest = Pick<RequestRow, 'id' | 'status' | 'endsAt'>

type DisclosureDeps = Pick<Platform, 'db' | 'now' | 'sealer' | 'linkTokens' | 'baseUrl'> & {
  tokens: ShareTokens
  deciding: Pick<DisclosureDecisions, 'grantIn'>
}

export type Disclosure = ReturnType<typeof createDisclosure>

export function createDisclosure({ db, now, sealer, linkTokens, baseUrl, tokens, deciding }: DisclosureDeps) {
  const attempts = createAttempts()

  async function findOwner({ token, shareId, origin }: Asking): Promise<TokenOwner> {
    const owner = await tokens.find(token, origin, now())
    // The token of a granted person is for looking.
    if (owner.shareId !== shareId || owner.requestId !== null) throw noShare()
    noteForLog({ account: owner.accountId, environment: owner.environment, share: shareId })
    return owner
  }

  async function count(origin: Origin, counted: readonly AttemptCount[]): Promise<void> {
    const at = now()
    attempts.check(counted, at)
    const limited = await tokens.withSlot(siteOf(origin.ip), () =>
      db.system(
        'count disclosure request',
        (tx): Promise<AttemptRefusal | undefined> => attempts.count(tx, counted, at),
      ),
    )
    if (limited !== undefined) throw tooManyAttempts(limited)
  }

  return {
    /**
     * Mails a code to the address.
     * @throws {Failure} `not_found` for the token of another share; `invalid_request` at `/email` and `/purpose`; `conflict`
     * where nothing is masked; `rate_limited`.
     */
    async request(asking: Asking, given: { email: string; purpose: string }): Promise<ShownRequest> {
      const owner = await findOwner(asking)
      const person = readPerson(given)
      const share = await db.tenant(owner, (tx) => getActive(tx, owner.shareId, now()))
      if (share.maskedNodeIds.length === 0) throw new Failure('conflict', 'This share masks nothing.')
      await count(asking.origin, [
        ...countsOfClient(asking.origin.ip, REQUESTS_OF_CLIENT),
        { limit: REQUESTS_OF_ADDRESS, subject: [share.id, person.email] },
        { limit: MAILS_TO_ADDRESS, subject: [person.email] },
        { limit: REQUESTS_OF_SHARE, subject: [share.id] },
      ])
      return db.tenant(owner, async (tx) => {
        const at = now()
        await getActive(tx, share.id, at)
        const id = newId('dsr', owner.environment, at.getTime())
        const { nonce: codeNonce, tokenHash: codeHash } = linkTokens.make(id)
        const endsAt = new Date(at.getTime() + CODE_MINUTES * MINUTE_MS)
        const sealedPerson = sealPerson(sealer, id, person)
        await insertRequest(tx, owner, {
          id,
          shareId: share.id,
          sealedPerson,
          codeNonce,
          codeHash,
          triesLeft: CODE_TRIES,
          createdAt: at,
          endsAt,
        })
        await sendMail(tx, {
          kind: 'disclosure_code',
          recipient: person.email,
          subjectId: id,
          scope: owner,
          lane: laneOf(owner),
        })
        return { id, status: 'unverified' as const, endsAt }
      })
    },

    /**
     * Verifies the address of a request by its code. Only now the account learns of it; in the mode `auto` it is granted.
     * @throws {Failure} `not_found`; `invalid_request` at `/code`, whatever is wrong with it; `rate_limited`.
     */
    async verify(asking: Asking, requestId: string, code: string): Promise<ShownRequest> {
      const owner = await findOwner(asking)
      // A try counts, whatever comes of it: this transaction commits.
      const tried = await db.tenant(owner, async (tx) => {
        const at = now()
        await getActive(tx, owner.shareId, at)
        return takeTry(tx, requestId, owner.shareId, at)
      })
      const token = tried && linkTokens.recompute({ id: tried.id, nonce: tried.codeNonce, tokenHash: tried.codeHash })
      if (tried === undefined || token === undefined || !isCode(code, token)) {
        await count(asking.origin, countsOfClient(asking.origin.ip, FAILED_TRIES))
        throw wrongCode()
      }
      return db.tenant(owner, async (tx) => {
        const at = now()
        const share = await getActive(tx, owner.shareId, at)
        // Only one of two concurrent requests with the right code gets here.
        if (!(await markRequestVerified(tx, tried.id, { at, endsAt: share.expiresAt }))) throw wrongCode()
        await emit(tx, owner, {
          type: 'trace.disclosure_requested',
          data: { request_id: tried.id, status: 'pending', ...subjectOf(share) },
          dedupKey: `trace.disclosure_requested ${tried.id}`,
        })
        if (share.disclosureMode === 'auto') await deciding.grantIn(tx, owner, { requestId: tried.id, share, at })
        const row = await findRequest(tx, tried.id, at)
        if (row === undefined) throw new Error('a request that was just verified is not there')
        return row
      })
    },

    /** Writes the letter for the mail queue. */
    writeCodeLetter: (async ({ subjectId, scope }) => {
      const row = await db.tenant(scope, (tx) => findRequest(tx, subjectId, now()))
      if (row?.status !== 'unverified' || row.triesLeft === 0) return undefined
      const token = linkTokens.recompute({ id: row.id, nonce: row.codeNonce, tokenHash: row.codeHash })
      if (token === undefined) return undefined
      return codeLetter(baseUrl, { requestId: row.id, code: mailedCodeOf(token), minutes: CODE_MINUTES })
    }) satisfies LetterWriter,
  }
}

/** Its end does not change until the transaction ends. */
async function getActive(tx: Tx, shareId: string, at: Date): Promise<ShareRow> {
  const share = await holdShare(tx, shareId)
  if (share === undefined || statusOf(share, at) !== 'active') throw noShare()
  return share
}

// Controls but for line breaks, and what reorders or hides a text.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** @throws {Failure} with a finding for each of the two. */
function readPerson(given: { email: string; purpose: string }): { email: string; purpose: string } {
  const email = normalizeAddress(given.email)
  const purpose = given.purpose
    .replaceAll('\r\n', '\n')
    .replaceAll(UNSEEN, (character) => (character === '\n' ? '\n' : ''))
    .trim()
    .toWellFormed()
  const isShort = visibleLength(purpose) < MIN_PURPOSE
  if (email !== undefined && !isShort) return { email, purpose }
  throw invalidRequest([...(email === undefined ? [NO_ADDRESS] : []), ...(isShort ? [NO_PURPOSE] : [])])
}

const NO_ADDRESS: FieldError = {
  pointer: '/email',
  code: 'invalid_format',
  detail: 'must be an e-mail address: ASCII before one @, a domain after it',
}
const NO_PURPOSE: FieldError = {
  pointer: '/purpose',
  code: 'too_short',
  detail: `must have ${MIN_PURPOSE} visible characters: the account decides by it`,
}

function wrongCode(): Failure {
  return invalidField(
    '/code',
    'invalid_code',
    `is not the code of this request: it has ${CODE_DIGITS} digits, works once, for ${CODE_MINUTES} minutes and ${CODE_TRIES} tries`,
  )
}
