// A search for what a person has at hand: an id, a claim number, an external id, an address or a name. It looks only into what
// the caller may read by the routes that show it.

import type { ScopedType } from '#src/catalogue/ids.ts'
import type { Database } from '#src/platform/db/database.ts'
import { mayCall } from '#src/platform/http/caller.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { checkName } from '#src/platform/ids.ts'
import type { FromProducts } from '../overview.ts'
import { type FoundRow, findByPrefix } from './rows.ts'

/** Most results of one type. */
const MAX_FOUND = 5

interface Place {
  /** The route that shows such an object, or lists those of its type. */
  route: string
  table: string
  /** Their ids begin with it and `_`. */
  word: ScopedType | 'usr' | 'inv'
  /** Callers choose the ids: any text may begin one. */
  hasOwnIds?: true
  /** Another column whose beginning is searched, whatever the text. It has an index of each account. */
  name?: { column: string; isCaseless?: true }
  title?: string
  where?: string
}

const PLACES = {
  claim: {
    route: 'GET /v1/claims/:id',
    table: 'claims',
    word: 'clm',
    name: { column: 'reference' },
    title: 'coalesce(reference, id)',
  },
  case: { route: 'GET /v1/cases/:id', table: 'cases', word: 'cas' },
  attestation: {
    route: 'GET /v1/attestations/:id',
    table: 'attestations',
    word: 'att',
    name: { column: 'external_id' },
    title: 'coalesce(external_id, id)',
  },
  batch: { route: 'GET /v1/claims/batches/:id', table: 'batches', word: 'bat' },
  capture_session: { route: 'GET /v1/claims/attest/sessions/:id', table: 'capture_sessions', word: 'cap' },
  screening: { route: 'GET /v1/media/screenings/:id', table: 'screenings', word: 'scr' },
  device: {
    route: 'GET /v1/admin/devices/:id',
    table: 'devices',
    word: 'dev',
    hasOwnIds: true,
    title: 'coalesce(name, id)',
  },
  root_ca: { route: 'GET /v1/admin/root-cas/:id', table: 'root_cas', word: 'rca', title: 'name' },
  c2pa_anchor: { route: 'GET /v1/admin/c2pa-anchors/:id', table: 'c2pa_anchors', word: 'cpa', title: 'name' },
  agent: {
    route: 'GET /v1/agents/:id',
    table: 'agents',
    word: 'agt',
    name: { column: 'name_lower', isCaseless: true },
    title: 'name',
  },
  agent_session: { route: 'GET /v1/agents/:id/sessions', table: 'agent_sessions', word: 'ses' },
  session_lock: { route: 'GET /v1/trace/session-locks/:id', table: 'session_locks', word: 'lck' },
  trace: { route: 'GET /v1/trace/traces/:id', table: 'traces', word: 'trc' },
  trace_job: { route: 'GET /v1/trace/jobs/:id', table: 'trace_jobs', word: 'job' },
  model_diff: { route: 'GET /v1/trace/diffs/:id', table: 'model_diffs', word: 'dif' },
  trace_share: { route: 'GET /v1/trace/shares/:id', table: 'trace_shares', word: 'shr' },
  mandate: { route: 'GET /v1/mandates/:id', table: 'mandates', word: 'mnd' },
  schedule: { route: 'GET /v1/schedules/:id', table: 'schedules', word: 'sch' },
  approval: { route: 'GET /v1/approvals/:id', table: 'approvals', word: 'apr' },
  revocation: { route: 'GET /v1/intent/revocations/:id', table: 'revocations', word: 'rev' },
  decision: { route: 'GET /v1/decisions', table: 'decisions', word: 'dec', title: 'kind' },
  webhook_endpoint: {
    route: 'GET /v1/webhook-endpoints/:id',
    table: 'webhook_endpoints',
    word: 'whe',
    title: 'url',
    where: 'deleted_at IS NULL',
  },
  webhook_delivery: { route: 'GET /v1/webhook-deliveries', table: 'deliveries', word: 'whd' },
  api_key: { route: 'GET /v1/account/keys', table: 'api_keys', word: 'key', title: 'name' },
  user: {
    route: 'GET /v1/org/users',
    table: 'users',
    word: 'usr',
    name: { column: 'email', isCaseless: true },
    title: 'email',
    where: 'deprovisioned_at IS NULL',
  },
  invite: { route: 'GET /v1/org/invites', table: 'invites', word: 'inv', title: 'email' },
} as const satisfies Record<string, Place>

export type SearchResultType = keyof typeof PLACES
export const SEARCH_RESULT_TYPES = Object.keys(PLACES) as [SearchResultType, ...SearchResultType[]]

export interface SearchHit extends FoundRow {
  type: SearchResultType
}

export type ObjectSearch = ReturnType<typeof createSearch>

export function createSearch({ db, routeOf }: { db: Pick<Database, 'tenant'> } & Pick<FromProducts, 'routeOf'>) {
  return {
    /**
     * Finds at most five objects of each type, in the order of the types. `truncated`: a type has more.
     * @throws {Failure} `environment_mismatch` when the text is an id of the other environment.
     */
    async find(caller: Caller, text: string): Promise<{ hits: SearchHit[]; truncated: boolean }> {
      checkName(text, caller.environment)
      const places = SEARCH_RESULT_TYPES.map((type) => ({ type, place: PLACES[type] as Place }))
      const wanted = places.filter(({ place }) => isSearched(place, text) && mayCall(routeOf(place.route), caller))
      const found = await db.tenant(
        caller,
        (tx) =>
          Promise.all(
            wanted.map(async ({ type, place }) => {
              const { name } = place
              const [byId, byName] = await Promise.all([
                isIdOf(place, text) ? findByPrefix(tx, { ...place, column: 'id' }, text, MAX_FOUND + 1) : [],
                name === undefined
                  ? []
                  : findByPrefix(
                      tx,
                      { ...place, column: name.column },
                      name.isCaseless ? text.toLowerCase() : text,
                      MAX_FOUND + 1,
                    ),
              ])
              const rows = [...byId, ...byName.filter(({ id }) => !byId.some((other) => other.id === id))]
              return {
                hits: rows.slice(0, MAX_FOUND).map((row) => ({ type, ...row })),
                isMore: rows.length > MAX_FOUND,
              }
            }),
          ),
        { isSnapshot: true },
      )
      return { hits: found.flatMap(({ hits }) => hits), truncated: found.some(({ isMore }) => isMore) }
    },
  }
}

function isIdOf({ word, hasOwnIds }: Place, text: string): boolean {
  return hasOwnIds === true || text.startsWith(`${word}_`)
}

function isSearched(place: Place, text: string): boolean {
  return place.name !== undefined || isIdOf(place, text)
}
