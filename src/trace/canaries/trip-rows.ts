// Which traces of a session and its agent tripped of late. A trip counts whatever reading is presented after it.

import type { Tx } from '#src/platform/db/database.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import type { TripSubject } from '../locks/locks.ts'
import { type StoredTrace, TRACE, type TraceRow, toTrace } from './traces.ts'

const LATEST_TRIP = (subject: string) =>
  `(SELECT reading_at AS at FROM traces WHERE tripped_families IS NOT NULL AND ${subject} ORDER BY reading_at DESC LIMIT 1)`

// Traces with a hundred families of their caller's own are large.
const MAX_TRIPS = 50

// A row or none for each of the two indexes. $1 the session, $2 the agent, $3 since when.
const TRIPS_OF = (
  subject: string,
) => `SELECT trace.id, trace.source, trace.canary_set, trace.readings, trace.tripped_families,
    trace.reading_at, trace.created_at, trace.agent_session_id, trace.agent_id
  FROM traces trace WHERE trace.tripped_families IS NOT NULL AND trace.reading_at >= $3 AND ${subject}`

// One trace for each family, set, kind of probe and source; those of the service's models first, since callers choose the
// names of their own families.
const FIND_TRIPS = `SELECT ${TRACE} FROM traces WHERE id IN (
  SELECT id FROM (
    SELECT DISTINCT ON (trip.source, trip.canary_set, reading->>'family', reading->>'probe_status')
      trip.id, trip.source, trip.reading_at
    FROM (${TRIPS_OF('trace.agent_session_id = $1')} UNION ALL ${TRIPS_OF('trace.agent_id = $2')}) trip
    CROSS JOIN LATERAL jsonb_array_elements(trip.readings) reading
    WHERE reading->>'family' = ANY (trip.tripped_families)
      AND NOT EXISTS (SELECT FROM session_locks lock WHERE lock.cleared_at >= trip.created_at
        AND (lock.agent_session_id IN ($1, trip.agent_session_id) OR lock.agent_id IN ($2, trip.agent_id))
        AND (lock.trace_id = trip.id OR lock.agent_session_id = trip.agent_session_id
          OR lock.agent_session_id IS NULL AND lock.agent_id = trip.agent_id))
    ORDER BY trip.source, trip.canary_set, reading->>'family', reading->>'probe_status', trip.reading_at DESC) latest
  GROUP BY id, source ORDER BY source DESC, max(reading_at) DESC LIMIT ${MAX_TRIPS})`

/** Time of the last trip of the session $1 or the agent $2, as two places of a statement. */
export const latestTrip = (session: `$${number}`, agent: `$${number}`) =>
  oneRow<{ at: Date }>(
    `SELECT at FROM (${LATEST_TRIP(`agent_session_id = ${session}`)} UNION ALL ${LATEST_TRIP(`agent_id = ${agent}`)}) trip
     ORDER BY at DESC LIMIT 1`,
  )

/**
 * Returns the traces of a session and its agent that tripped since a time, the latest of each kind. Leaves out trips
 * from before a person cleared the lock of the session or agent, or the lock that they caused.
 */
export async function findTrips(
  tx: Pick<Tx, 'query'>,
  { agentSessionId, agentId }: TripSubject,
  since: Date,
): Promise<TraceRow[]> {
  if (agentSessionId === null && agentId === null) return []
  const rows = await tx.query<StoredTrace>(FIND_TRIPS, [agentSessionId, agentId, since])
  return rows.map(toTrace)
}
