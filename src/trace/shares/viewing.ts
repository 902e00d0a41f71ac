// What a share shows to the holder of a token: of the share itself, or of a granted person. Who holds none learns nothing: a
// token that is wrong, that has ended and whose account is gone are answered alike.

import type { Account } from '#src/account/keys/accounts.ts'
import { type AttemptLimit, limitsOfClient, siteOf, tooManyAttempts } from '#src/account/login/attempts.ts'
import { createStrangerTurns, createTokenDoor, isToken } from '#src/account/login/token-door.ts'
import { Failure } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import { lockShared } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Origin } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import { findTrace, type TraceRow } from '../canaries/traces.ts'
import { masksIn, showsPositions } from './beside.ts'
import { isPoolable, shareGraph } from './by-message.ts'
import { findRequest } from './disclosure-rows.ts'
import type { FindManifest } from './manifests.ts'
import type { Masking, SharedGraph } from './mask.ts'
import { findShare, findSharesOf, findTokenOwner, type ShareRow, statusOf, type TokenOwner } from './rows.ts'
import { lockOfShares } from './shares.ts'
import { insertView, truncateAddress } from './view-rows.ts'

const MINUTE_MS = 60_000
// Only tokens of no share count for the client: people behind one address don't lock each other out.
const FAILED_USES = limitsOfClient({ name: 'share token', most: 300, withinMs: 10 * MINUTE_MS })
// Each view is a row of the log.
const VIEWS_OF_TOKEN: AttemptLimit = { name: 'share views', most: 600, withinMs: 10 * MINUTE_MS }

export interface AccountsOfShares {
  find(id: string): Promise<Pick<Account, 'suspendedAt' | 'closedAt' | 'products' | 'plan'> | undefined>
}

export interface SharedView {
  share: ShareRow
  trace: TraceRow
  graph: SharedGraph | undefined
  /** Whether it has positions. */
  revealsPrompt: boolean
  maskedNodes: number
  /** Grant of the person who views. */
  disclosure: { requestId: string; endsAt: Date; nodeIds: readonly string[] } | undefined
}

export type ShareTokens = ReturnType<typeof createShareTokens>

/** Finds what a token is for. */
export function createShareTokens({ db, accounts }: Pick<Platform, 'db'> & { accounts: AccountsOfShares }) {
  const withSlot = createStrangerTurns('Too many people look at shares at this moment. Try again.')
  const door = createTokenDoor({ find: findTokenOwner, failures: FAILED_USES, uses: VIEWS_OF_TOKEN })

  /** @throws {Failure} `not_found`, `rate_limited`; `service_unavailable` while too many ask. */
  async function find(token: string | undefined, origin: Origin, at: Date): Promise<TokenOwner> {
    if (token === undefined || !isToken(token)) throw noShare()
    door.check(token, at)
    const opened = await withSlot(siteOf(origin.ip), () =>
      db.system('share token', (tx) => door.open(tx, { token, origin, at })),
    )
    if ('limited' in opened) throw tooManyAttempts(opened.limited)
    const { row: found } = opened
    const account = found && (await accounts.find(found.accountId))
    const isOpen = account?.suspendedAt === null && account.closedAt === null
    if (found === undefined || !isOpen || !account.products.includes('trace')) throw noShare()
    return found
  }

  return { find, withSlot }
}

export type Viewing = ReturnType<typeof createViewing>

export function createViewing({
  db,
  now,
  tokens,
  findManifest,
}: Pick<Platform, 'db' | 'now'> & { tokens: ShareTokens; findManifest: FindManifest }) {
  return {
    /**
     * Shows a share, and writes that it did. @throws {Failure} `not_found`, `rate_limited`.
     */
    async view(token: string | undefined, origin: Origin): Promise<SharedView> {
      const owner = await tokens.find(token, origin, now())
      noteForLog({ account: owner.accountId, environment: owner.environment, share: owner.shareId })
      // A token that has ended costs no reading of a graph.
      const { jobId } = await db.tenant(owner, async (tx) => (await getLive(tx, owner, now())).share)
      // It never changes, so it may be read outside of the lock. What may have ended meanwhile is read again below.
      const kept = jobId === null ? undefined : (await findManifest(owner, jobId))?.manifest
      const { masking, manifest, disclosure, ...shown } = await db.tenant(owner, async (tx) => {
        const at = now()
        const { share, trace, disclosure } = await getLive(tx, owner, at)
        const shares = await findSharesOf(tx, { traceId: trace.id, modelVersionId: trace.modelVersionId })
        const known = kept === undefined ? [] : masksIn(kept, shares)
        const revealsPrompt = showsPositions(share, shares, known)
        const manifest = kept !== undefined && (revealsPrompt || isPoolable(kept)) ? kept : undefined
        const masks = manifest === undefined ? [] : known
        // A grant shows what its share masked when it was made, and not what later shares added.
        const granted = masks.filter((_, index) => (shares[index]?.position ?? 0) <= share.position)
        const disclosed = new Set(disclosure === undefined ? [] : granted.flatMap(({ nodeIds }) => [...nodeIds]))
        const masked = new Set(masks.flatMap(({ nodeIds }) => [...nodeIds]))
        const hidden = [...masked].filter((id) => !disclosed.has(id)).length
        await insertView(tx, owner, {
          id: newId('shv', owner.environment, at.getTime()),
          shareId: share.id,
          requestId: disclosure?.requestId ?? null,
          network: truncateAddress(origin.ip),
          hasGraph: manifest !== undefined,
          maskedNodes: hidden,
          disclosedNodes: disclosed.size,
          viewedAt: at,
        })
        const masking: Masking = { masks, disclosed, salt: share.maskSalt }
        return { share, trace, revealsPrompt, maskedNodes: hidden, disclosure, masking, manifest }
      })
      const graph = manifest && shareGraph(manifest, masking, shown)
      const nodeIds = graph?.metadata.svc.disclosed.toSorted() ?? []
      return { ...shown, graph, disclosure: disclosure && { ...disclosure, nodeIds } }
    },
  }

  async function getLive(tx: Tx, owner: TokenOwner, at: Date) {
    const known = await findShare(tx, owner.shareId)
    const trace = known && (await findTrace(tx, known.traceId))
    if (trace === undefined) throw noShare()
    await lockShared(tx, [lockOfShares(owner, trace)])
    const share = await findShare(tx, owner.shareId)
    if (share === undefined || statusOf(share, at) !== 'active') throw noShare()
    if (owner.requestId === null) return { share, trace, disclosure: undefined }
    const request = await findRequest(tx, owner.requestId, at)
    if (request?.status !== 'granted') throw noShare()
    return { share, trace, disclosure: { requestId: request.id, endsAt: request.endsAt } }
  }
}

export function noShare(): Failure {
  return new Failure(
    'not_found',
    'There is no share with this token: it never was, or has ended. Ask who gave it to you.',
  )
}
