// Compares all prescribers of an account with the lists in force, notes what changed since the screening before, and opens reviews.
// It informs: verification compares by itself.

import type { Letter } from '#src/account/mail/letter.ts'
import type { LetterWriter } from '#src/account/mail/send.ts'
import { sendMail } from '#src/account/mail/send.ts'
import { findTold } from '#src/account/usage/notice-rows.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { type ComparedSubject, checkExclusions } from './check.ts'
import { insertReviews } from './rows.ts'
import {
  addScreened,
  type ChangeRow,
  findDueScreenings,
  findScreening,
  findStatuses,
  finishScreening,
  insertChanges,
  queueScreening,
  startScreening,
} from './screening-rows.ts'

/** Prescribers compared in one transaction, which takes some hundredths of a second. */
const PAGE = 500
/** Accounts that the clock looks at in one transaction. */
const ACCOUNTS = 500

/** Prescribers of an account and environment in the order of their ids. */
export type SubjectPager = (
  tx: Tx,
  page: Scope & { after: string | undefined; limit: number },
) => Promise<ComparedSubject[]>

export interface ScreeningDeps {
  db: Pick<Database, 'tenant' | 'system'>
  ledger: Pick<Ledger, 'record'>
  now: () => Date
  baseUrl: string
  subjects: SubjectPager
}

export type ExclusionScreenings = ReturnType<typeof createScreenings>

export function createScreenings({ db, ledger, now, baseUrl, subjects }: ScreeningDeps) {
  async function screenPage(
    tx: Tx,
    scope: Scope,
    { screeningId, after }: { screeningId: string; after: string | undefined },
  ): Promise<string | undefined> {
    const page = await subjects(tx, { ...scope, after, limit: PAGE })
    if (page.length === 0) return undefined
    const ids = page.map(({ prescriberId }) => prescriberId)
    const at = now()
    const [found, before] = await Promise.all([checkExclusions(tx, scope, { at }, page), findStatuses(tx, scope, ids)])
    const changes: ChangeRow[] = []
    for (const [prescriberId, { status, evidence }] of found) {
      const statusBefore = before.get(prescriberId) ?? 'clear'
      if (status !== statusBefore) changes.push({ prescriberId, statusBefore, status, evidence, changedAt: at })
    }
    await insertChanges(tx, scope, { screeningId, changes })
    await openReviews(tx, scope, found)
    await addScreened(tx, screeningId, page.length)
    return page.length < PAGE ? undefined : ids.at(-1)
  }

  /** Reviews of rows that may be a prescriber's, unless they are open or decided. */
  async function openReviews(
    tx: Tx,
    scope: Scope,
    found: ReadonlyMap<string, Pick<ChangeRow, 'status' | 'evidence'>>,
  ): Promise<void> {
    const at = now()
    const rows = [...found].flatMap(([prescriberId, { status, evidence }]) =>
      status !== 'review' ? [] : evidence.map((row) => ({ prescriberId, row })),
    )
    await insertReviews(
      tx,
      scope,
      rows.map(({ prescriberId, row }, index) => ({
        id: newId('exr', scope.environment, at.getTime(), index),
        prescriberId,
        list: row.list,
        rowHash: row.row_hash,
        listDate: row.list_date,
        matchedOn: row.matched_on,
        createdAt: at,
      })),
    )
  }

  return {
    openReviews,

    /** Does nothing when the screening has ended. Returns whether it settled the job. */
    async screen(id: string, { scope, signal, settle }: RunningJob): Promise<boolean> {
      const row = await db.tenant(scope, (tx) => startScreening(tx, id))
      if (row === undefined) return false
      let after: string | undefined
      do {
        signal.throwIfAborted()
        after = await db.tenant(scope, (tx) => screenPage(tx, scope, { screeningId: id, after }))
      } while (after !== undefined)
      await db.tenant(scope, async (tx) => {
        const changed = await finishScreening(tx, id)
        if (changed !== undefined && changed > 0) await tell(tx, scope, { id, changed })
        await settle(tx)
      })
      return true
    },

    /** Queues screenings where lists or prescribers have changed since the last one. Returns how many. */
    async queueDue(signal: AbortSignal): Promise<number> {
      let queued = 0
      for (let after: Scope | undefined; !signal.aborted; ) {
        const due = await db.system('exclusion screenings that are due', (tx) =>
          findDueScreenings(tx, { after, limit: ACCOUNTS }),
        )
        for (const { cause, ...scope } of due) {
          if (signal.aborted) return queued
          const at = now()
          const id = newId('exs', scope.environment, at.getTime())
          await db.tenant(scope, (tx) => queueScreening(tx, scope, { id, cause, at }))
          queued += 1
        }
        after = due.at(-1)
        if (due.length < ACCOUNTS) break
      }
      return queued
    },

    /** The mail to owners and admins. It has numbers and no names. */
    writeLetter: (({ recipient, subjectId, scope }) =>
      db.tenant(scope, async (tx) => {
        const told = await findTold(tx)
        const row = await findScreening(tx, scope, subjectId)
        if (row === undefined || !told.some(({ email }) => email === recipient)) return undefined
        return letterOf(scope, { id: row.id, changed: row.changed }, baseUrl)
      })) satisfies LetterWriter,
  }

  async function tell(tx: Tx, scope: Scope, { id, changed }: { id: string; changed: number }): Promise<void> {
    await ledger.record(tx, scope, {
      kind: 'clinician_order',
      at: now(),
      actor: { id: 'service', person: null, keyId: null },
      subject: id,
      reason: 'exclusions_changed',
      valid: null,
      inputs: { changed: String(changed) },
    })
    for (const { email } of await findTold(tx)) {
      await sendMail(tx, { kind: 'exclusions_changed', recipient: email, subjectId: id, scope })
    }
  }
}

function letterOf(
  { accountId, environment }: Scope,
  { id, changed }: { id: string; changed: number },
  baseUrl: string,
): Letter {
  return {
    subject: 'Prescribers of your account: exclusion lists',
    paragraphs: [
      `The prescribers of the account ${accountId} (${environment}) were compared with the exclusion lists LEIE and SAM. The status of ${changed} ${changed === 1 ? 'prescriber' : 'prescribers'} is another one than before.`,
      `GET /v1/clinical/exclusion-screenings/${id}/changes lists them. Orders of an excluded prescriber are refused, and those of one under review wait for a decision.`,
    ],
    action: { label: 'Read how reviews are decided', url: `${baseUrl}/docs/authorize/clinical#exclusion-lists` },
    notes: ['You get this mail because you are an owner or admin of the account.'],
  }
}
