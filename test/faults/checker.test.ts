// The checker must find violations: each is made by hand and found under the name of its invariant.

import { describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { check, type Invariant } from '../../faults/check.ts'
import { countDuplicates } from '../../faults/check-deliveries.ts'
import type { Evidence } from '../../faults/evidence.ts'
import { measure } from '../../faults/figures.ts'
import { sampleEvidence, signResult } from '../../faults/sample.ts'

interface Sabotage {
  what: string
  finds: Invariant
  does(evidence: Evidence): void
}

const SABOTAGES: Sabotage[] = [
  { what: 'a lost row', finds: 'I1', does: ({ attestations }) => void attestations.pop() },
  {
    what: 'a phantom row',
    finds: 'I1',
    does: ({ attestations }) => {
      const row = first(attestations)
      attestations.push({ ...row, id: newId('att', 'sandbox'), name: '1sandbox-99' })
    },
  },
  {
    what: 'one capture accepted twice',
    finds: 'I1',
    does: ({ attestations }) => void attestations.push({ ...first(attestations), id: newId('att', 'sandbox') }),
  },
  {
    what: 'a repeat that was given another name',
    finds: 'I1',
    does: ({ answered }) => {
      first(answered).attestationId = newId('att', 'sandbox')
    },
  },
  {
    what: 'one key that did two things',
    finds: 'I1',
    does: ({ asked, answered }) => {
      for (const request of asked.slice(0, 2)) request.key = 'again'
      expect(new Set(answered.slice(0, 4).map(({ attestationId }) => attestationId)).size).toBe(2)
    },
  },
  {
    what: 'a medium that was answered and is not there',
    finds: 'I1',
    does: ({ asked, answered }) => {
      asked.push({ ...first(asked), n: 900, op: 'upload', count: 0, sha256: '00' })
      answered.push({ ...first(answered), n: 900, attestationId: null, mediaId: newId('med', 'sandbox'), ids: [] })
    },
  },
  {
    what: 'a row of a refused submission',
    finds: 'I1',
    does: ({ asked }) => void asked.shift(),
  },
  {
    what: 'a capture that was refused although it is right',
    finds: 'I1',
    does: ({ answered }) => void answered.push({ ...first(answered), status: 400, code: 'invalid_request' }),
  },
  {
    what: 'a batch that took fewer lines than it says',
    finds: 'I1',
    does: ({ asked, answered, batches }) => {
      const batchId = newId('bat', 'sandbox')
      const { accountId, environment } = first(asked)
      asked.push({ ...first(asked), n: 901, op: 'batch', first: 900, count: 0 })
      batches.push({ id: batchId, scope: `${accountId} ${environment}`, accepted: 1 })
      answered.push({ ...first(answered), n: 901, attestationId: null, batchId, accepted: 0, ids: [] })
    },
  },
  {
    what: 'a job without an end',
    finds: 'I2',
    does: ({ jobs }) => {
      first(jobs).state = 'running'
    },
  },
  {
    what: 'a job that died',
    finds: 'I2',
    does: ({ jobs }) => {
      first(jobs).state = 'dead'
    },
  },
  {
    what: 'a fence that fell',
    finds: 'I2',
    does: ({ steps }) => {
      const running = steps.find(({ state }) => state === 'running')
      if (running !== undefined) running.fence = 5
    },
  },
  {
    what: 'a job that ended twice',
    finds: 'I2',
    does: ({ steps }) => void steps.splice(4, 0, { ...at(steps, 3), at: at(steps, 3).at + 1 }),
  },
  {
    what: 'an attestation that was never compared',
    finds: 'I2',
    does: ({ jobs, steps }) => {
      const [lost] = jobs.splice(
        jobs.findIndex(({ queue }) => queue === 'compare'),
        1,
      )
      for (const step of steps.filter(({ id }) => id === lost?.id)) steps.splice(steps.indexOf(step), 1)
    },
  },
  {
    what: 'an attestation without a result',
    finds: 'I2',
    does: ({ attestations }) => {
      first(attestations).status = 'queued'
    },
  },
  {
    what: 'an effect without a committed row',
    finds: 'I3',
    does: ({ deliveries, received }) => {
      const sent = first(received).headers['service-delivery-id']
      deliveries.splice(
        deliveries.findIndex(({ id }) => id === sent),
        1,
      )
    },
  },
  {
    what: 'a due row that was passed over for more than 30 s',
    finds: 'I3',
    does: (evidence) => passOver(evidence),
  },
  { what: 'a mail that the mail server never took', finds: 'I4', does: ({ mailed }) => void mailed.pop() },
  {
    what: 'a mail that was given up',
    finds: 'I4',
    does: ({ mails }) => {
      first(mails).status = 'failed'
    },
  },
  {
    what: 'a link that signs nobody in',
    finds: 'I4',
    does: ({ visited }) => {
      first(visited).isSignedIn = false
    },
  },
  {
    what: 'a mail job without a mail',
    finds: 'I3',
    does: ({ mails }) => void mails.shift(),
  },
  {
    what: 'an export that did not end',
    finds: 'I1',
    does: ({ exports }) => {
      first(exports).state = 'running'
    },
  },
  {
    what: 'an archive that is not the one of its row',
    finds: 'I1',
    does: ({ exports }) => {
      first(exports).sha256 = '00'
    },
  },
  {
    what: 'two exports of one request',
    finds: 'I1',
    does: ({ exports }) => void exports.push({ ...first(exports), id: 'exp_again' }),
  },
  {
    what: 'an import of an exclusion list that did not end',
    finds: 'I1',
    does: ({ imports }) => {
      first(imports).status = 'running'
    },
  },
  {
    what: 'an import that succeeded and is not in force',
    finds: 'I1',
    does: ({ imports }) => {
      first(imports).isCurrent = false
    },
  },
  {
    what: 'a job of an exclusion list that is not there',
    finds: 'I3',
    does: ({ imports }) => void imports.shift(),
  },
  {
    what: 'a delivery that was never written',
    finds: 'I4',
    does: ({ deliveries, received }) => {
      const [gone] = deliveries.splice(0, 1)
      received.splice(
        received.findIndex(({ headers }) => headers['service-delivery-id'] === gone?.id),
        1,
      )
    },
  },
  { what: 'a delivery that never came', finds: 'I4', does: ({ received }) => void received.shift() },
  {
    what: 'a delivery that counts as taken although it was refused',
    finds: 'I4',
    does: ({ acknowledged }) => {
      first(acknowledged).status = 500
    },
  },
  {
    what: 'a forged signature of a delivery',
    finds: 'I5',
    does: ({ received }) => {
      first(received).body = first(received).body.replace('attestation.created', 'attestation.creates')
    },
  },
  {
    what: 'a delivery that was signed by a clock ten minutes off',
    finds: 'I5',
    does: ({ received }) => {
      first(received).at += 600_000
    },
  },
  {
    what: 'a forged result',
    finds: 'I6',
    does: ({ attestations }) => {
      const row = first(attestations)
      const [header, payload, signature = ''] = (row.resultJws ?? '').split('.')
      const forged = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
      row.resultJws = `${header}.${payload}.${forged}`
    },
  },
  {
    what: 'a result that says something else than its row',
    finds: 'I6',
    does: ({ attestations }) => {
      const row = first(attestations)
      row.resultJws = signResult({ ...row, riskScore: 0 })
    },
  },
  {
    what: 'a result by an unknown key',
    finds: 'I6',
    does: (evidence) => {
      evidence.signers = {}
    },
  },
  {
    what: 'a double event',
    finds: 'I6',
    does: ({ events }) => void events.push({ ...first(events), id: newId('evt', 'sandbox') }),
  },
  {
    what: 'an event that did not happen',
    finds: 'I6',
    does: ({ events }) =>
      void events.splice(
        events.findIndex(({ type }) => type === 'claim.escalated'),
        1,
      ),
  },
  { what: 'a lost screening', finds: 'I1', does: ({ screenings }) => void screenings.pop() },
  {
    what: 'one photo that is screened twice',
    finds: 'I1',
    does: ({ screenings }) => void screenings.push({ ...first(screenings), id: newId('scr', 'sandbox') }),
  },
  {
    what: 'a screening without a request',
    finds: 'I1',
    does: ({ screenings }) => void screenings.push({ ...first(screenings), sha256: '00'.repeat(32) }),
  },
  {
    what: 'a screening without an end',
    finds: 'I2',
    does: ({ screenings }) => {
      first(screenings).status = 'queued'
    },
  },
  {
    what: 'a score that the detector never gave',
    finds: 'I6',
    does: ({ looked }) => void looked.shift(),
  },
  {
    what: 'a score that is another one',
    finds: 'I6',
    does: ({ screenings }) => {
      const row = first(screenings)
      row.genaiScore = 1 - (row.genaiScore ?? 0)
    },
  },
  {
    what: 'a screening that was told twice',
    finds: 'I6',
    does: ({ events }) => {
      const told = events.find(({ type }) => type === 'screening.completed')
      if (told !== undefined) events.push({ ...told, id: newId('evt', 'sandbox') })
    },
  },
  {
    what: 'a judgement that is dated ten minutes after its end',
    finds: 'I6',
    does: ({ attestations }) => {
      const row = first(attestations)
      row.evaluatedAt = (row.evaluatedAt ?? 0) + 600_000
      row.resultJws = signResult(row)
    },
  },
  {
    what: "another account's id in a delivery",
    finds: 'I7',
    does: ({ received, attestations }) => {
      const other = at(attestations, attestations.length - 1)
      first(received).headers['service-note'] = other.id
    },
  },
  {
    what: "another account's id in an answer",
    finds: 'I7',
    does: ({ answered, claims }) => void first(answered).ids.push(at(claims, claims.length - 1).id),
  },
  {
    what: "an answer about another account's attestation",
    finds: 'I7',
    does: ({ asked, answered, attestations }) => {
      asked.push({ ...first(asked), n: 902, op: 'foreign', count: 0 })
      const { id } = at(attestations, attestations.length - 1)
      answered.push({ ...first(answered), n: 902, status: 200, attestationId: id, ids: [id] })
    },
  },
]

describe('the checker', () => {
  it('finds nothing in a run without violations', async () => {
    const evidence = sampleEvidence()
    expect(await check(evidence)).toEqual([])
    expect(measure(evidence)).toMatchObject({ submitted: 4, accepted: 4, duplicates: 0, lapses: 0 })
  })

  it.each(SABOTAGES)('finds $what as $finds', async ({ finds, does }) => {
    const evidence = sampleEvidence()
    does(evidence)
    const found = (await check(evidence)).map(({ invariant }) => invariant)
    expect(found).toContain(finds)
  })

  it('counts deliveries after the event was accepted, and not the ones before', () => {
    const evidence = sampleEvidence()
    const received = first(evidence.received)
    evidence.received.push({ ...received, n: 100, at: received.at - 50 })
    expect(countDuplicates(evidence).duplicates).toBe(0)
    evidence.received.push({ ...received, n: 101, at: received.at + 50 })
    expect(countDuplicates(evidence).duplicates).toBe(1)
  })

  it('reads the time to the next run from the trail', () => {
    const evidence = sampleEvidence()
    const trail = evidence.steps.filter(({ id }) => id === first(evidence.steps).id)
    const running = at(trail, 2)
    const killedAt = running.at + 1
    Object.assign(at(trail, 3), { fence: 2, at: running.at + 30_000 })
    const lapse = { ...running, state: 'queued', isLapse: true, at: running.at + 21_000 }
    const again = { ...running, fence: 2, at: running.at + 22_001 }
    evidence.steps.splice(3, 0, lapse, { ...lapse, state: 'dispatched', isLapse: false }, again)
    const kill = {
      kind: 'fault',
      at: killedAt,
      until: killedAt,
      name: 'kill',
      detail: 'kill attest',
      figures: {},
    } as const
    evidence.faults.push(kill)
    expect(measure(evidence).killToRunMs).toEqual([22_000])
    evidence.faults.push({ ...kill, at: killedAt + 24_000, until: killedAt + 30_000, name: 'redis-freeze', detail: '' })
    expect(measure(evidence).killToRunMs, 'Redis was frozen before they could run').toEqual([])
  })
})

// In one lane: a later job goes at once, and a job that was due earlier waits for half a minute more.
function passOver({ steps, jobs }: Evidence): void {
  const [early, late] = jobs.filter(({ queue }) => queue === 'attest')
  if (early === undefined || late === undefined) throw new Error('a sample of one job')
  const trail = (id: string) => steps.filter((step) => step.id === id)
  for (const step of trail(late.id)) Object.assign(step, { runAt: step.runAt + 5_000, at: step.at + 5_000 })
  for (const step of trail(early.id).slice(1)) step.at += 40_000
  steps.sort((a, b) => a.at - b.at)
}

function first<Value>(values: readonly Value[]): Value {
  return at(values, 0)
}

function at<Value>(values: readonly Value[], index: number): Value {
  const value = values[index]
  if (value === undefined) throw new Error('the sample has fewer')
  return value
}
