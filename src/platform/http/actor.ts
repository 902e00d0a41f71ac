// How answers and events name the actor: every `*_by`, `actor` and `by` is an `Actor`. Tables store an id and, for an
// act of a key, the person whom its caller named. src/account/users/actors.ts turns what is stored into views.

import type { ActorView } from '#src/catalogue/actors.ts'
import type { Tx } from '#src/platform/db/database.ts'

export { type ActorView, actorView } from '#src/catalogue/actors.ts'

/** The id of an actor as tables store it: of a user, a key or an agent, or a word such as `service`. */
export type StoredActorId = string | null

/** Views of the actors that were read. */
export interface ActorsOf {
  /** @param person The person whom the caller of a key named, if the table stores one. */
  (id: string, person?: string | null): ActorView
  /** null for an act that has not happened. */
  (id: StoredActorId, person?: string | null): ActorView | null
}

/** Reads the labels of all actors of a page with one query, in a tenant transaction. */
export type ReadActors = (tx: Tx, ids: Iterable<StoredActorId>) => Promise<ActorsOf>

const TYPES: Record<string, ActorView['type']> = { usr: 'user', key: 'key', agt: 'agent' }

/** The type of an actor follows from its id. */
export function actorTypeOf(id: string): ActorView['type'] {
  if (id === 'operator' || id === 'directory') return id
  return TYPES[/^([a-z]{3})_/.exec(id)?.[1] ?? ''] ?? 'service'
}

/** An actor without a label, for events: they are stored, sent to third parties and contain nothing personal. */
export function unlabelledActor(id: string): ActorView {
  return labelledActor(id, null)
}

export function labelledActor(id: string, label: string | null): ActorView {
  const type = actorTypeOf(id)
  const isWord = type === 'operator' || type === 'service' || type === 'directory'
  return isWord ? { type, id: null, label: null } : { type, id, label }
}

/**
 * The id for tables that store a person and a key: the person alone is the user of a session, neither is the service.
 * The person is the second argument of `ActorsOf`.
 */
export function actorIdOf({ person, keyId }: { person: string | null; keyId: string | null }): string {
  return keyId ?? person ?? 'service'
}
