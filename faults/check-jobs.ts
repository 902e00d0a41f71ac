// I2 and I3: the history of every job, by the trail of its steps.

import type { Finding } from './check.ts'
import type { Evidence, JobFact, Step } from './evidence.ts'
import { groupBy } from './group.ts'

const TERMINAL = new Set(['succeeded', 'dead', 'cancelled'])
const LONGEST_MS = 30_000
// Two jobs that are due at nearly the same moment may go in either order.
const SAME_MS = 1_000

export function checkJobs({ jobs, steps, attestations, screenings, deliveries, attributions }: Evidence): Finding[] {
  const wrong: string[] = []
  const trails = groupBy(steps, ({ id }) => id)
  for (const job of jobs) {
    if (!TERMINAL.has(job.state)) wrong.push(`the ${job.queue} job ${job.id} is still ${job.state}`)
    if (job.state === 'dead') wrong.push(`the ${job.queue} job ${job.id} is dead: ${job.lastError}`)
    wrong.push(...checkTrail(job, trails.get(job.id) ?? []))
  }
  const known = new Map(jobs.map((job) => [job.id, job]))
  const compared = new Set(jobs.flatMap(({ queue, attestationId }) => (queue === 'compare' ? attestationId : [])))
  for (const { id, jobId, status, evaluatedAt } of attestations) {
    if (status === 'cancelled') {
      if (known.get(jobId)?.state !== 'cancelled') wrong.push(`${id} is cancelled, and its job is not`)
      continue
    }
    if (known.get(jobId)?.state !== 'succeeded') wrong.push(`${id} has no job that succeeded`)
    if (status !== 'evaluated' || evaluatedAt === null) wrong.push(`${id} is ${status}`)
    else if (!compared.has(id)) wrong.push(`${id} was never compared with other claims`)
  }
  for (const { id, jobId, status } of screenings) {
    if (known.get(jobId)?.state !== 'succeeded') wrong.push(`${id} has no job that succeeded`)
    if (status !== 'scored') wrong.push(`${id} is ${status}`)
  }
  for (const { id, jobId } of attributions.works) {
    if (known.get(jobId)?.state !== 'succeeded') wrong.push(`${id} has no job that succeeded`)
  }
  for (const { id, jobId, status } of deliveries) {
    if (known.get(jobId)?.state !== 'succeeded') wrong.push(`${id} has no job that succeeded`)
    if (status === 'pending') wrong.push(`${id} is pending although its job has ended`)
  }
  return wrong.map((what) => ({ invariant: 'I2', what }))
}

function checkTrail({ id, queue }: JobFact, trail: readonly Step[]): string[] {
  const wrong: string[] = []
  let before: Step | undefined
  for (const step of trail) {
    if (before !== undefined) {
      const rise = step.fence - before.fence
      if (rise < 0) wrong.push(`the fence of the ${queue} job ${id} fell from ${before.fence} to ${step.fence}`)
      if (rise > 0 && (rise > 1 || step.state !== 'running')) {
        wrong.push(`the fence of the ${queue} job ${id} rose by ${rise} when it became ${step.state}`)
      }
      if (TERMINAL.has(before.state)) wrong.push(`the ${queue} job ${id} was ${before.state}, and then ${step.state}`)
    }
    before = step
  }
  return wrong
}

/** I3 also says: an effect refers to committed rows. */
export function checkSchedule(evidence: Evidence): Finding[] {
  return [...checkEffects(evidence), ...checkOrder(evidence)].map((what) => ({ invariant: 'I3', what }))
}

function checkEffects({
  attestations,
  claims,
  screenings,
  events,
  deliveries,
  received,
  mails,
  exports,
  imports,
  exclusionScreenings,
  attributions,
  jobs,
}: Evidence): string[] {
  const wrong: string[] = []
  const has = (rows: readonly { id: string }[]) => new Set(rows.map(({ id }) => id))
  const known = {
    attestations: has(attestations),
    claims: has(claims),
    screenings: has(screenings),
    events: has(events),
    deliveries: has(deliveries),
    mails: has(mails),
    exclusions: has([...imports, ...exclusionScreenings]),
  }
  for (const { id, data } of events) {
    if (typeof data.attestation_id === 'string' && !known.attestations.has(data.attestation_id)) {
      wrong.push(`${id} is about an attestation that is not there`)
    }
    if (typeof data.screening_id === 'string' && !known.screenings.has(data.screening_id)) {
      wrong.push(`${id} is about a screening that is not there`)
    }
    if (typeof data.claim_id === 'string' && !known.claims.has(data.claim_id)) wrong.push(`${id} is about no claim`)
  }
  for (const { id, claimId } of attestations) if (!known.claims.has(claimId)) wrong.push(`${id} has no claim`)
  for (const { id, eventId } of deliveries) if (!known.events.has(eventId)) wrong.push(`${id} delivers no event`)
  for (const { headers, receiver } of received) {
    const delivery = headers['service-delivery-id'] ?? ''
    if (!known.deliveries.has(delivery)) wrong.push(`${receiver} was sent ${delivery}, which is not there`)
    if (!known.events.has(headers['service-event-id'] ?? '')) wrong.push(`${receiver} was sent an event without a row`)
  }
  const works = [...attestations, ...screenings, ...deliveries, ...exports, ...attributions.works]
  const subjects = new Set(works.map(({ jobId }) => jobId))
  for (const { id, queue, attestationId, mailId, exclusionId } of jobs) {
    if (queue === 'mail' && mailId !== null && known.mails.has(mailId)) continue
    if (queue === 'exclusions' && exclusionId !== null && known.exclusions.has(exclusionId)) continue
    // An attestation has one job that evaluates it, and any number of these.
    const isMore = queue === 'compare' || queue === 'reevaluate'
    const isKnown = isMore ? attestationId === null || known.attestations.has(attestationId) : subjects.has(id)
    if (!isKnown) wrong.push(`the ${queue} job ${id} has no subject`)
  }
  return wrong
}

// In one lane and priority, the job that is due earlier goes earlier. A job that is passed over must not wait on for 30
// s: a backlog is no reason for that, only a row that is not read. Time in which Postgres or the engine was down does
// not count.
function checkOrder({ jobs, steps, faults }: Evidence): string[] {
  const away = faults.filter(
    ({ name, detail }) => /^(?:redis|postgres)/.test(name) || /^link (?:postgres|redis)/.test(detail),
  )
  const awayMs = (from: number, to: number) =>
    away.reduce((sum, { at, until }) => sum + Math.max(0, Math.min(to, until) - Math.max(from, at)), 0)
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const lanes = groupBy(waitsOf(steps), ({ id }) => {
    const job = byId.get(id)
    return `${job?.queue} ${job?.lane} ${job?.priority}`
  })
  const wrong: string[] = []
  for (const [lane, waits] of lanes) {
    waits.sort((a, b) => a.takenAt - b.takenAt)
    for (const [index, { id, dueAt, takenAt }] of waits.entries()) {
      if (takenAt - dueAt <= LONGEST_MS) continue
      const passed = firstThatPassed(waits, index)
      if (passed === undefined) continue
      const waitedMs = takenAt - passed - awayMs(passed, takenAt)
      if (waitedMs > LONGEST_MS) wrong.push(`${id} of ${lane} was passed over for ${Math.round(waitedMs / 1_000)} s`)
    }
  }
  return wrong
}

interface Wait {
  id: string
  /** The key that orders the lane. */
  runAt: number
  /** Since when it could be dispatched: due, and visible to others. */
  dueAt: number
  takenAt: number
}

/** Each time span from when a job was due until it was dispatched. */
function waitsOf(steps: readonly Step[]): Wait[] {
  const due = new Map<string, { runAt: number; dueAt: number }>()
  const waits: Wait[] = []
  for (const { id, state, runAt, at } of steps) {
    if (state === 'queued') due.set(id, { runAt, dueAt: Math.max(runAt, at) })
    const own = due.get(id)
    if (state === 'dispatched' && own !== undefined) {
      due.delete(id)
      waits.push({ id, ...own, takenAt: at })
    }
  }
  return waits
}

/** When a job that was due later was dispatched while this one was already due. `waits` in the order of dispatch. */
function firstThatPassed(waits: readonly Wait[], index: number): number | undefined {
  const own = waits[index]
  let at: number | undefined
  for (let before = index - 1; before >= 0; before -= 1) {
    const other = waits[before]
    if (own === undefined || other === undefined || other.takenAt < own.dueAt) break
    if (other.runAt > own.runAt + SAME_MS) at = other.takenAt
  }
  return at
}
