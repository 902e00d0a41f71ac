// The one reader of actors: it turns the ids that tables store into views with labels, with one query for a page.

import type { Tx } from '#src/platform/db/database.ts'
import {
  type ActorsOf,
  type ActorView,
  actorTypeOf,
  labelledActor,
  type StoredActorId,
} from '#src/platform/http/actor.ts'

// Row-level security limits all three to the account, keys and agents also to the environment: of keys of the other
// environment a page shows the id alone.
const LABELS = `SELECT id, email AS label FROM users WHERE id = ANY($1::text[])
  UNION ALL SELECT id, name FROM api_keys WHERE id = ANY($2::text[])
  UNION ALL SELECT id, name FROM agents WHERE id = ANY($3::text[])`

/** Without a query where no id is that of a row. An id whose row is gone or belongs to another account has no label. */
export async function readActors(tx: Tx, ids: Iterable<StoredActorId>): Promise<ActorsOf> {
  const stored = [...new Set(ids)].filter((id) => id !== null)
  const ofType = (type: ActorView['type']) => stored.filter((id) => actorTypeOf(id) === type)
  const values = [ofType('user'), ofType('key'), ofType('agent')]
  const rows = values.some(({ length }) => length > 0)
    ? await tx.query<{ id: string; label: string }>(LABELS, values)
    : []
  const labels = new Map(rows.map(({ id, label }) => [id, label]))

  function viewOf(id: string, person?: string | null): ActorView
  function viewOf(id: StoredActorId, person?: string | null): ActorView | null
  function viewOf(id: StoredActorId, person: string | null = null): ActorView | null {
    if (id === null) return null
    const label = labels.get(id) ?? null
    return labelledActor(id, actorTypeOf(id) === 'key' ? (person ?? label) : label)
  }
  return viewOf
}

/** Rows with views of the actors that some of their members store. */
export type WithActors<Row, Member extends keyof Row> = Omit<Row, Member> & {
  [Name in Member]: null extends Row[Name] ? ActorView | null : ActorView
}

/** Replaces the ids that `members` store by views, with one query for all rows. */
export async function withActors<Row, Member extends keyof Row>(
  tx: Tx,
  rows: readonly Row[],
  members: readonly Member[],
): Promise<WithActors<Row, Member>[]> {
  const idsOf = (row: Row) => members.map((member) => row[member] as StoredActorId)
  const actorOf = await readActors(tx, rows.flatMap(idsOf))
  return rows.map((row) => replaceActors(row, members, actorOf))
}

/** The same for one row. */
export async function rowWithActors<Row, Member extends keyof Row>(
  tx: Tx,
  row: Row,
  members: readonly Member[],
): Promise<WithActors<Row, Member>> {
  const actorOf = await readActors(
    tx,
    members.map((member) => row[member] as StoredActorId),
  )
  return replaceActors(row, members, actorOf)
}

function replaceActors<Row, Member extends keyof Row>(
  row: Row,
  members: readonly Member[],
  actorOf: ActorsOf,
): WithActors<Row, Member> {
  const views = members.map((member) => [member, actorOf(row[member] as StoredActorId)])
  return { ...row, ...Object.fromEntries(views) }
}
