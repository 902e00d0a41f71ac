// What is recorded of an act: an entry of the audit log, and one of the ledger, which keeps clinical entries for two years (21 CFR
// 1311.125 and 1311.305). Both have ids and words of closed lists only: no names, birth dates or numbers of licences.

import { recordAudit } from '#src/account/audit/record.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import { readClock } from '#src/platform/db/clock.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { Tier } from './tier.ts'

type Recorded = string | number | null | readonly string[]

export interface ClinicalAct {
  action: AuditAction
  /** The prescriber, or the number of the version of a document. */
  subject: string
  inputs: Record<string, Recorded>
  /** The tier before the act, where it may change it. */
  tierBefore?: Tier
}

export async function recordClinicalAct(
  tx: Tx,
  acting: Acting,
  ledger: Pick<Ledger, 'record'>,
  { action, subject, inputs, tierBefore }: ClinicalAct,
): Promise<void> {
  const after = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, Array.isArray(value) ? [...value] : (value as string)]),
  )
  await recordAudit(tx, acting, {
    action,
    subjectId: subject,
    before: tierBefore === undefined ? undefined : { tier: tierBefore },
    after,
  })
  await ledger.record(tx, acting, {
    kind: 'clinician_order',
    at: await readClock(tx),
    actor: actorOf(acting.principal),
    subject,
    reason: action.replace('.', '_'),
    valid: null,
    inputs: {
      ...(tierBefore !== undefined && { tier_before: String(tierBefore) }),
      ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, textOf(value)])),
    },
  })
}

function textOf(value: Recorded): string | null {
  return value === null ? null : Array.isArray(value) ? value.join(' ') : String(value)
}
