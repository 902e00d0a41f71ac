// Writes the audit log: each entry in the transaction of the act that it records, so that neither exists without the
// other.

import type { AuditAction } from '#src/catalogue/audit.ts'
import { currentSubject } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { actorOf, type Origin, type Refused } from '#src/platform/http/principal.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { insertAuditEntries, type NewAuditEntry } from './rows.ts'

export interface AuditedAct {
  action: AuditAction
  /** The id of what was changed or read. */
  subjectId?: string | undefined
  /** What changed, before and after. Without secrets: an entry is kept for years and is exported. */
  before?: Json | undefined
  after?: Json | undefined
  /** False for what concerns the whole account, whatever the environment. True when absent. */
  isScoped?: boolean
}

/** Actor of an act without a sign-in: the operator's command, or the service itself. */
export interface Unattended {
  accountId: string
  environment?: 'sandbox' | 'live' | undefined
  kind: 'operator' | 'service'
}

/**
 * A principal known by its id alone: the user of a link that failed, or the principal of counted refusals. `service`: a person
 * who signs in and is no user.
 */
export interface Unproven {
  isUnproven: true
  accountId: string
  environment?: 'sandbox' | 'live' | undefined
  kind: 'key' | 'session' | 'directory' | 'service'
  id: string
  origin?: Origin | undefined
}

type Recorded = Refused | Unattended | Unproven

/** Adds an entry. The transaction is the account's tenant transaction or a system one. */
export async function recordAudit(tx: Tx, by: Recorded, act: AuditedAct): Promise<void> {
  await insertAuditEntries(tx, [auditEntryOf(by, act)])
}

/** The row of an entry. Call it in the context of the request, whose id the entry carries. */
export function auditEntryOf(by: Recorded, act: AuditedAct): NewAuditEntry {
  const { actorKind, actorId, origin } = actorOfEntry(by)
  return {
    accountId: by.accountId,
    id: newAccountId('aud'),
    environment: act.isScoped === false ? null : (by.environment ?? null),
    action: act.action,
    actorKind,
    actorId,
    ip: origin?.ip ?? null,
    // 500 characters hold what browsers send; the header may have kilobytes. Postgres can't store NUL.
    userAgent: origin?.userAgent?.replaceAll('\0', '').slice(0, 500) ?? null,
    requestId: currentSubject()?.requestId ?? null,
    subjectId: act.subjectId ?? null,
    before: textOf(act.before),
    after: textOf(act.after),
  }
}

function actorOfEntry(by: Recorded) {
  if ('isUnproven' in by) return { actorKind: by.kind, actorId: by.id, origin: by.origin }
  if ('kind' in by) return { actorKind: by.kind, actorId: by.kind, origin: undefined }
  const { principal, origin } = by
  return { actorKind: principal.kind, actorId: actorOf(principal).id, origin }
}

function textOf(value: Json | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
