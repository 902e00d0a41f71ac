// Tests of the checker for cancelled captures and attacks: as in checker.test.ts, each violation is made
// by hand and must be found.

import { describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { check, type Invariant } from '../../faults/check.ts'
import type { AttestationFact, Evidence } from '../../faults/evidence.ts'
import { measure } from '../../faults/figures.ts'
import { sampleEvidence, signResult } from '../../faults/sample.ts'

interface Sabotage {
  what: string
  finds: Invariant
  does(evidence: Evidence): void
}

const SABOTAGES: Sabotage[] = [
  {
    what: 'a capture that was cancelled and submitted again, of which only the cancelled row is there',
    finds: 'I1',
    does: (evidence) => {
      cancelFirst(evidence)
      evidence.attestations.pop()
    },
  },
  {
    what: 'a capture that was cancelled and submitted again, and is there twice',
    finds: 'I1',
    does: (evidence) => {
      const again = cancelFirst(evidence)
      evidence.attestations.push({ ...again, id: newId('att', 'sandbox') })
    },
  },
  {
    what: 'a cancelled row without a request',
    finds: 'I1',
    does: (evidence) => {
      cancelFirst(evidence)
      evidence.asked = evidence.asked.filter(({ op }) => op !== 'cancel')
    },
  },
  {
    what: 'a cancelled capture whose job went on',
    finds: 'I2',
    does: (evidence) => {
      const { jobId } = first(evidence.attestations)
      cancelFirst(evidence)
      for (const job of evidence.jobs) if (job.id === jobId) job.state = 'succeeded'
    },
  },
  {
    what: 'a capture that is judged by its nonce as a replay after it had been cancelled',
    finds: 'I6',
    does: (evidence) => {
      const again = cancelFirst(evidence)
      again.riskScore = 110
      again.riskStatus = 'failed'
      again.resultJws = signResult(again)
    },
  },
  {
    what: 'an event of what was cancelled',
    finds: 'I6',
    does: (evidence) => {
      const { id } = first(evidence.attestations)
      cancelFirst(evidence)
      const told = evidence.events.find(({ type }) => type === 'attestation.created')
      if (told !== undefined) evidence.events.push({ ...told, data: { ...told.data, attestation_id: id } })
    },
  },
  {
    what: 'a request without an answer during an attack',
    finds: 'I8',
    does: (evidence) => {
      attackAll(evidence)
      evidence.unanswered.push({ ...first(evidence.answered), kind: 'unanswered', error: 'TimeoutError' })
    },
  },
  {
    what: 'a request that was refused during an attack',
    finds: 'I8',
    does: (evidence) => {
      attackAll(evidence)
      evidence.answered.push({ ...first(evidence.answered), status: 503, code: 'service_unavailable', retryAfter: '1' })
    },
  },
  {
    what: 'a slow answer during an attack',
    finds: 'I8',
    does: (evidence) => {
      attackAll(evidence)
      first(evidence.answered).ms = 5_001
    },
  },
]

describe('the checker of cancelled captures and of attacks', () => {
  it('finds nothing in a capture that was cancelled and then submitted again', async () => {
    const evidence = sampleEvidence()
    cancelFirst(evidence)
    expect(await check(evidence)).toEqual([])
    expect(measure(evidence).submitted).toBe(4)
  })

  it('blames no attack for the effects of another fault', async () => {
    const evidence = sampleEvidence()
    attackAll(evidence)
    first(evidence.answered).ms = 5_001
    const { at } = first(evidence.answered)
    evidence.faults.push({ kind: 'fault', at, until: at, name: 'kill', detail: 'kill web', figures: {} })
    expect(await check(evidence)).toEqual([])
  })

  it.each(SABOTAGES)('finds $what as $finds', async ({ finds, does }) => {
    const evidence = sampleEvidence()
    does(evidence)
    expect((await check(evidence)).map(({ invariant }) => invariant)).toContain(finds)
  })
})

/** As if the first capture had been cancelled before it ran, and submitted again: returns what came of it then. */
function cancelFirst(evidence: Evidence): AttestationFact {
  const { attestations, asked, answered, jobs, steps } = evidence
  const cancelled = first(attestations)
  const jobId = crypto.randomUUID()
  const again: AttestationFact = { ...cancelled, id: newId('att', 'sandbox'), jobId }
  again.resultJws = signResult(again)
  attestations.push(again)
  for (const job of jobs.filter(({ id }) => id === cancelled.jobId)) {
    jobs.push({ ...job, id: jobId })
    job.state = 'cancelled'
  }
  for (const job of jobs) if (job.attestationId === cancelled.id) job.attestationId = again.id
  const trail = steps.filter(({ id }) => id === cancelled.jobId)
  steps.push(...trail.map((step) => ({ ...step, id: jobId })))
  const [queued, ...later] = trail
  for (const step of later) steps.splice(steps.indexOf(step), 1)
  if (queued !== undefined) steps.push({ ...queued, state: 'cancelled', at: queued.at + 1 })
  for (const { type, data } of evidence.events) {
    if (type === 'attestation.created' && data.attestation_id === cancelled.id) data.attestation_id = again.id
  }
  const nothing = { status: 'cancelled', riskScore: null, riskStatus: null, provenanceStatus: null } as const
  Object.assign(cancelled, { ...nothing, evaluatedAt: null, resultJws: null, externalId: null })
  const request = first(asked)
  const n = asked.length + 1
  asked.push({ ...request, n, op: 'cancel' }, { ...request, n: n + 1 })
  const told = { ...first(answered), attestationId: null, ids: [] }
  answered.push({ ...told, n }, { ...told, n: n + 1, attestationId: again.id, ids: [again.id] })
  return again
}

/** As if another account had attacked from the first answer to the last. */
function attackAll({ faults, answered }: Evidence): void {
  const times = answered.map(({ at }) => at)
  faults.push({
    kind: 'fault',
    at: Math.min(...times) - 1_000,
    until: Math.max(...times) + 1_000,
    name: 'attack',
    detail: 'attack locks',
    figures: {},
  })
}

function first<Value>(values: readonly Value[]): Value {
  const [value] = values
  if (value === undefined) throw new Error('the sample has none')
  return value
}
