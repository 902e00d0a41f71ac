// Records refused acts and failed sign-ins in the audit log, so that an administrator sees who tries what they may not do, and
// where a stolen key or link is tried. The caller decides how many refusals there are, so the first of a principal in a window
// are entries of their own, and the others are counted in one entry.

import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { AuditAction } from '#src/catalogue/audit.ts'
import type { FailureCode } from '#src/failure.ts'
import { detached } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { actorOf, type Origin, type Refused } from '#src/platform/http/principal.ts'
import type { Log } from '#src/platform/log.ts'
import { type AuditedAct, auditEntryOf, recordAudit, type Unproven } from './record.ts'
import { insertAuditEntries } from './rows.ts'

const WINDOW_MS = 10 * 60_000
// Entries of one principal and action in a window. A person makes a handful of mistakes; a program repeats one.
const MAX_ENTRIES = 10
// Windows that a process keeps. Beyond them the least used one is dropped, and its principal begins a new one; its count is written.
const MAX_WINDOWS = 20_000

interface Window {
  by: { accountId: string; environment?: 'sandbox' | 'live' | undefined; kind: Unproven['kind']; id: string }
  action: AuditAction
  since: Date
  endsAt: number
  entries: number
  /** Refusals without an entry of their own. */
  counted: number
}

interface RefusalAuditDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  log: Log
  windowMs?: number
}

/** A sign-in of a user that failed. The person is not proven to be the user. */
export interface FailedSignIn {
  accountId: string
  userId: string
  origin: Origin
  route: string
  code: string
  reason: 'link_ended' | 'user_removed' | 'address_not_allowed' | 'sso_required'
}

export interface RefusedSso {
  accountId: string
  userId?: string | undefined
  origin: Origin
  code: string
  cause: string | null
}

export type RefusalAudit = ReturnType<typeof createRefusalAudit>

export function createRefusalAudit({ db, now, log, windowMs = WINDOW_MS }: RefusalAuditDeps) {
  const windows = new LRUCache<string, Window>({ max: MAX_WINDOWS })
  const closing = new AbortController()
  const counting = new Set<Promise<void>>()

  /** Whether a refusal has an entry of its own. */
  function takeEntry(by: Window['by'], action: AuditAction): boolean {
    const name = JSON.stringify([action, by.accountId, by.id])
    const at = performance.now()
    let window = windows.get(name)
    if (window === undefined || window.endsAt <= at) {
      window = { by, action, since: now(), endsAt: at + windowMs, entries: 0, counted: 0 }
      windows.set(name, window)
    }
    if (window.entries < MAX_ENTRIES) {
      window.entries += 1
      return true
    }
    window.counted += 1
    if (window.counted === 1) countLater(window)
    return false
  }

  function countLater(window: Window): void {
    const written = detached(async () => {
      await delay(window.endsAt - performance.now(), undefined, { signal: closing.signal, ref: false }).catch(() => {})
      // Refusals that come while the count is written begin a new window.
      window.endsAt = 0
      const after = { refusals: window.counted, since: window.since.toISOString() }
      await write({ ...window.by, isUnproven: true }, { action: window.action, after, isScoped: false })
    }).finally(() => counting.delete(written))
    counting.add(written)
  }

  // A refusal is answered even where its entry can't be written.
  async function write(by: Parameters<typeof auditEntryOf>[0], act: AuditedAct): Promise<void> {
    const { accountId, environment = 'sandbox' } = by
    const entry = auditEntryOf(by, act)
    await db
      .tenant({ accountId, environment }, (tx) => insertAuditEntries(tx, [entry]))
      .catch((error: unknown) => log.warn({ err: error }, 'a refusal is not in the audit log'))
  }

  return {
    /** Records a refused request to a route that names the entry of its act. A session may have named no environment yet. */
    async recordAct(
      by: Refused,
      route: Pick<Route, 'method' | 'path' | 'audits' | 'isAccountLevel'>,
      code: FailureCode,
    ) {
      const { accountId, environment, principal } = by
      const { id } = actorOf(principal)
      if (!takeEntry({ accountId, environment, kind: principal.kind, id }, 'act.refused')) return
      const after = { act: route.audits ?? null, route: `${route.method} ${route.path}`, code }
      await write(by, { action: 'act.refused', after, isScoped: route.isAccountLevel !== true })
    },

    /** Records a failed sign-in in the transaction that looked the link up. */
    async recordSignIn(tx: Tx, { accountId, userId, origin, route, code, reason }: FailedSignIn): Promise<void> {
      const by = { accountId, kind: 'session' as const, id: userId }
      if (!takeEntry(by, 'user.sign_in_refused')) return
      const after = { route, code, reason }
      const act = { action: 'user.sign_in_refused' as const, after, isScoped: false }
      await recordAudit(tx, { ...by, origin, isUnproven: true }, act)
    },

    /** Records a single sign-on that the account refused. `userId`: of the member whom it would have signed in. */
    async recordSso(tx: Tx, { accountId, userId, origin, code, cause }: RefusedSso): Promise<void> {
      const by =
        userId === undefined
          ? { accountId, kind: 'service' as const, id: 'service' }
          : { accountId, kind: 'session' as const, id: userId }
      if (!takeEntry(by, 'sso.login_refused')) return
      const act = { action: 'sso.login_refused' as const, after: { code, cause }, isScoped: false }
      await recordAudit(tx, { ...by, origin, isUnproven: true }, act)
    },

    /** Writes the counts of all windows. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(counting)
    },
  }
}
