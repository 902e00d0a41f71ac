// The audit log as an account reads it. A sandbox key, and a session whose link proved no address, read only what
// concerns the sandbox: the log names users, addresses and ids of live data.

import { readActors } from '#src/account/users/actors.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { recordAudit } from './record.ts'
import { type AuditEntry, type AuditFilter, countEntries, findAuditEntries, findAuditEntry } from './rows.ts'

/** Query as the routes parse it. */
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
    async list(by: Acting, query: AuditListQuery): Promise<Page<ShownEntry> & { total_count?: number }> {
      const filter = filterOf(by, query)
      // The log is one for both environments, and so are its cursors.
      const scope: Scope = { accountId: by.accountId, environment: 'live' }
      const binding = { route: 'GET /v1/account/audit', scope, query: { ...query, environment: filter.environment } }
      const below = pager.decode(query.cursor, binding)
      const { rows, total } = await db.tenant(by, async (tx) => ({
        rows: await shownAll(tx, await findAuditEntries(tx, filter, { below, limit: query.limit + 1 })),
        total: query.include === undefined ? undefined : await countEntries(tx, filter),
      }))
      const page = pager.page(rows, query.limit, ({ id }) => id, binding)
      return total === undefined ? page : { ...page, total_count: total }
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
      const createdLt = filter.createdLt !== undefined && filter.createdLt < until ? filter.createdLt : until
      const given = Object.entries(query).filter(([, value]) => value !== undefined)
      const after = { filters: Object.fromEntries(given) as Record<string, Json> }
      await db.tenant(by, (tx) => recordAudit(tx, by, { action: 'audit.exported', after, isScoped: false }))
      return pagesOf(by, { ...filter, createdLt })
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
      'This credential reads entries of the sandbox only: use a live key, or sign in with a mailed link.',
    )
  }
  return {
    actions: query.action,
    actorId: query.actor_id,
    subjectId: query.subject_id,
    environment: isLimited ? 'sandbox' : query.environment,
    createdGte: timeOf(query.created_gte),
    createdLt: timeOf(query.created_lt),
  }
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
