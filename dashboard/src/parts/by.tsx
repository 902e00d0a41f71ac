import type { Actor } from '@countersign/client'
import { Id, Nothing } from './values.tsx'

/** Who did something: a person by the address, a key by its name, the service itself by its kind. */
export function By({ actor }: { actor: Actor | null }) {
  if (actor === null) return <Nothing />
  if (actor.label !== null) return <span>{actor.label}</span>
  return actor.id === null ? <span>{actor.type}</span> : <Id id={actor.id} />
}
