// I10: an inference that was answered has one trace, one entry of the ledger, and in live one count, and its repeats are
// answered with the same; what was withheld has no completion; a session has one live lock, and a lock one entry and one event.

import type { Finding } from './check.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'
import type { InferenceFacts } from './inferences.ts'

export function checkInferences({ inferences }: Evidence): Finding[] {
  return [...checkAnswered(inferences), ...checkTraces(inferences), ...checkLocks(inferences)].map((what) => ({
    invariant: 'I10',
    what,
  }))
}

function checkAnswered({ answered, traces, locks }: InferenceFacts): string[] {
  const wrong: string[] = []
  const byId = new Map(traces.map((trace) => [trace.id, trace]))
  const known = new Set(locks.map(({ id }) => id))
  for (const { traceId, isWithheld, lockId } of answered) {
    const trace = byId.get(traceId)
    if (trace === undefined) wrong.push(`lost: the inference ${traceId} was answered and is not there`)
    else if (trace.isWithheld !== isWithheld) wrong.push(`${traceId} was answered otherwise than it is stored`)
    if (lockId !== null && !known.has(lockId)) wrong.push(`lost: the lock ${lockId} was answered and is not there`)
  }
  for (const [request, own] of groupBy(answered, (one) => one.request)) {
    const made = new Set(own.map(({ traceId }) => traceId))
    if (made.size > 1) wrong.push(`${request} made ${made.size} inferences: ${[...made].join(' ')}`)
  }
  return wrong
}

function checkTraces({ traces, recorded, counted }: InferenceFacts): string[] {
  const wrong: string[] = []
  const [entries, counts] = [timesOf(recorded), timesOf(counted)]
  for (const { id, scope } of traces) {
    const expected = scope.endsWith(' live') ? 1 : 0
    if (entries.get(id) !== 1) wrong.push(`the inference ${id} has ${entries.get(id) ?? 0} entries`)
    if ((counts.get(id) ?? 0) !== expected) wrong.push(`the inference ${id} is counted ${counts.get(id) ?? 0} times`)
  }
  const known = new Set(traces.map(({ id }) => id))
  for (const id of [...entries.keys(), ...counts.keys()])
    if (!known.has(id)) wrong.push(`an entry or a count is of no inference: ${id}`)
  return wrong
}

function checkLocks({ locks, lockEntries, lockEvents }: InferenceFacts): string[] {
  const wrong: string[] = []
  const [entries, events] = [timesOf(lockEntries), timesOf(lockEvents)]
  for (const { id } of locks) {
    if (entries.get(id) !== 1) wrong.push(`the lock ${id} has ${entries.get(id) ?? 0} entries`)
    if (events.get(id) !== 1) wrong.push(`the lock ${id} has ${events.get(id) ?? 0} events`)
  }
  for (const [session, own] of groupBy(
    locks.filter(({ isLive }) => isLive),
    (lock) => `${lock.scope} ${lock.session}`,
  )) {
    if (own.length > 1) wrong.push(`${session} has ${own.length} live locks`)
  }
  const known = new Set(locks.map(({ id }) => id))
  for (const id of [...entries.keys(), ...events.keys()])
    if (!known.has(id)) wrong.push(`an entry or an event is of no lock: ${id}`)
  return wrong
}

function timesOf(ids: readonly string[]): Map<string, number> {
  return new Map([...groupBy(ids, (id) => id)].map(([id, same]) => [id, same.length]))
}
