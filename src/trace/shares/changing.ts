// The name of a share and its end, which the account may change. Requests of a share end with it at the latest, so a new end
// moves theirs. The row of the share is locked first, as a grant does: of two at the same time the later one sees the earlier.

import { recordAudit } from '#src/account/audit/record.ts'
import { rowWithActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, getOwned } from '#src/platform/ids.ts'
import { checkEnd } from './beside.ts'
import { moveRequestEnds } from './disclosure-rows.ts'
import { findShareToChange, type ShareRow, statusOf, updateShare } from './rows.ts'
import type { ShownShare } from './shares.ts'

export interface ShareChange {
  /** null removes it. */
  name?: string | null | undefined
  expiresAt?: Date | undefined
}

export type ShareChanges = ReturnType<typeof createShareChanges>

export function createShareChanges({ db, now }: Pick<Platform, 'db' | 'now'>) {
  return {
    /**
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` for an end in the past or too far away;
     * `invalid_state_transition` for another end of a share that has ended.
     */
    async update(acting: Acting, id: string, change: ShareChange, key?: IdempotencyKey): Promise<ShownShare> {
      checkId(id, 'shr', acting.environment)
      noteForLog({ share: id })
      const update = async (tx: Tx): Promise<ShareRow> => {
        const at = now()
        const before = await getOwned(findShareToChange(tx, id), id)
        const { name = before.name, expiresAt = before.expiresAt } = change
        const isMoved = expiresAt.getTime() !== before.expiresAt.getTime()
        if (isMoved) {
          refuseEnded(before, at)
          checkEnd(expiresAt, at)
        }
        if (!isMoved && name === before.name) return before
        const after = { ...before, name, expiresAt }
        await updateShare(tx, id, after)
        if (isMoved) await moveRequestEnds(tx, id, { to: expiresAt, at })
        await recordAudit(tx, acting, {
          action: 'share.changed',
          subjectId: id,
          before: auditedOf(before),
          after: auditedOf(after),
        })
        return after
      }
      return db.tenant(acting, async (tx) => {
        const share = await once(tx, key, update, () => id)
        return rowWithActors(tx, share, ['createdBy', 'revokedBy'])
      })
    },
  }
}

function refuseEnded(share: ShareRow, at: Date): void {
  const status = statusOf(share, at)
  if (status === 'active') return
  throw new Failure('invalid_state_transition', {
    detail: `${share.id} is ${status}: only an active share gets another end.`,
    members: { allowed: ['active'], current_status: status },
  })
}

const auditedOf = ({ name, expiresAt }: ShareRow) => ({ name, expires_at: expiresAt.toISOString() })
