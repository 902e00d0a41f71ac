// The audit log as an account reads it. A sandbox key, and a session whose link proved no address, read only what
// concerns the sandbox: the log names users, addresses and ids of live data.

import { readActors } from '#src/account/users/actors.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { type CountedPage, createdBetween, inBothEnvironments, listPage, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { recordAudit } from './record.ts'
import { type AuditEntry, type AuditFilter, countEntries, findAuditEntries, findAuditEntry } from './rows.ts'

/** As the routes parse it. */
export interface AuditQuery {
  action?: readonly AuditAction[] | undefined
  actor_id?: string | undefined
  subject_id?: string | undefined
  environment?: Environment | undefined
  /** ISO 8601, like `created_lt`. */
  created_gte?: string | undefined
  created_lt?: string | undefined
}

export interface AuditListQuery extends AuditQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

interface AuditLogDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
  /** Rows that an export reads at once. */
  exportRows?: number
}

// An entry has a kilobyte, or some dozens when it shows a policy before and after.
const EXPORT_ROWS = 500

export interface ShownEntry extends AuditEntry {
  actor: ActorView
}

export type AuditLog = ReturnType<typeof createAuditLog>

export function createAuditLog({ db, pager, now, exportRows = EXPORT_ROWS }: AuditLogDeps) {
  return {
    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`; `environment_mismatch`. */
    async list(by: Acting, asked: AuditListQuery): Promise<CountedPage<ShownEntry>> {
      const filter = filterOf(by, asked)
      const query = { ...asked, environment: filter.environment }
      const list = { ...inBothEnvironments(by), route: 'GET /v1/account/audit', query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findAuditEntries(tx, filter, page),
        count: (tx) => countEntries(tx, filter),
        show: shownAll,
      })
    },

    /** @throws {Failure} `not_found`; for a caller that reads the sandbox only, also of what concerns more. */
    async get(by: Acting, id: string): Promise<ShownEntry> {
      return db.tenant(by, async (tx) => {
        const row = await findAuditEntry(tx, id)
        const isHidden = isSandboxReader(by) && row?.environment !== 'sandbox'
        if (row === undefined || isHidden) throw new Failure('not_found', `There is no audit entry ${id}.`)
        return shown(tx, row)
      })
    },

    /**
     * All entries from before now, oldest first. The export itself is recorded before it begins.
     * @throws {Failure} `environment_mismatch`.
     */
    async export(by: Acting, query: AuditQuery): Promise<AsyncGenerator<ShownEntry[]>> {
      const filter = filterOf(by, query)
      const until = now()
      const to = filter.to !== undefined && filter.to < until ? filter.to : until
      const given = Object.entries(query).filter(([, value]) => value !== undefined)
      const after = { filters: Object.fromEntries(given) as Record<string, Json> }
      await db.tenant(by, (tx) => recordAudit(tx, by, { action: 'audit.exported', after, isScoped: false }))
      return pagesOf(by, { ...filter, to })
    },
  }

  // Each page is a transaction of its own: a slow reader holds no connection and no snapshot.
  async function* pagesOf(scope: Scope, filter: AuditFilter): AsyncGenerator<ShownEntry[]> {
    for (let above = ''; ; ) {
      const range = { above, limit: exportRows }
      const rows = await db.tenant(scope, async (tx) => shownAll(tx, await findAuditEntries(tx, filter, range)))
      if (rows.length > 0) yield rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < exportRows) return
      above = last.id
    }
  }
}

function isSandboxReader({ principal, environment }: Acting): boolean {
  return principal.kind === 'key' ? environment === 'sandbox' : principal.isSandboxOnly
}

async function shownAll(tx: Tx, rows: readonly AuditEntry[]): Promise<ShownEntry[]> {
  const actor = await readActors(
    tx,
    rows.map(({ actorId }) => actorId),
  )
  return rows.map((row) => ({ ...row, actor: actor(row.actorId) }))
}

async function shown(tx: Tx, row: AuditEntry): Promise<ShownEntry> {
  const actor = await readActors(tx, [row.actorId])
  return { ...row, actor: actor(row.actorId) }
}

function filterOf(by: Acting, query: AuditQuery): AuditFilter {
  const isLimited = isSandboxReader(by)
  if (isLimited && query.environment === 'live') {
    throw new Failure(
      'environment_mismatch',
      'This reads what concerns the sandbox only: use a live key, or sign in with a mailed link.',
    )
  }
  return {
    actions: query.action,
    actorId: query.actor_id,
    subjectId: query.subject_id,
    environment: isLimited ? 'sandbox' : query.environment,
    ...createdBetween(query),
  }
}
