// One account locks the row of a claim: its own callers are told to retry, and other accounts are not delayed.

import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLookup } from '#src/account/keys/lookup.ts'
import { selectByHashes } from '#src/account/keys/rows.ts'
import { closeClaim } from '#src/attest/claims/erase-rows.ts'
import { acceptScreenings } from '#src/attest/screen/accept.ts'
import { return503, type TestAnswer } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { makeMedia } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
let other: Caller
let mediaId: string
let otherMediaId: string

beforeAll(async () => {
  // As in a process of the service: three of the four connections are the most that one account gets.
  service = await startService({ poolSize: 4 })
  caller = await service.makeCaller()
  other = await service.makeCaller()
  mediaId = await makeMedia(service, caller)
  otherMediaId = await makeMedia(service, other)
})
afterAll(() => service.close())

return503()

const nameOf = () => `name-${randomBytes(6).toString('hex')}`
const bodyOf = (reference: string, media = mediaId) => ({
  external_id: nameOf(),
  media_type: 'image',
  media: { media_id: media },
  claim: { reference },
})

/** Locks the row of a claim as a settling worker does, until the work has ended. */
async function holding<R>(claimId: unknown, work: () => Promise<R>): Promise<R> {
  const holder = new pg.Client({ connectionString: service.test.ownerUrl })
  await holder.connect()
  try {
    await holder.query('BEGIN')
    await holder.query('SELECT FROM claims WHERE id = $1 FOR NO KEY UPDATE', [claimId])
    return await work()
  } finally {
    await holder.end()
  }
}

const untilBlocked = (count: number) =>
  until(async () => {
    const [row] = await service.test.owner<{ blocked: number }>(
      `SELECT count(*)::int AS blocked FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return (row?.blocked ?? 0) >= count
  })

const expectComeAgain = (answer: TestAnswer) => {
  expect(`${answer.status} ${answer.json.code}`, answer.text).toBe('503 service_unavailable')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
}

describe('a locked claim', () => {
  it('delays neither other accounts nor keys and readiness, and loses none of its own submissions', async () => {
    const reference = nameOf()
    const { json } = await service.attest(caller, bodyOf(reference))
    const before = await service.count('attestations')
    let isHeld = true
    const refusals: TestAnswer[] = []
    const submit = async () => {
      const body = bodyOf(reference)
      for (;;) {
        const wasHeld = isHeld
        const answer = await service.attest(caller, body)
        if (answer.status === 202) return
        refusals.push(answer)
        if (!wasHeld) throw new Error(`refused although no transaction locks the claim: ${answer.text}`)
      }
    }
    const lookUp = createLookup(service.test.db, 'key look-up', selectByHashes)
    const submissions: Promise<void>[] = []
    const answers = await holding(json.claim_id, async () => {
      for (let count = 0; count < 60; count += 1) submissions.push(submit())
      await untilBlocked(3)
      const told: string[] = []
      for (let round = 0; round < 5; round += 1) {
        const accepted = await service.attest(other, bodyOf(nameOf(), otherMediaId))
        const read = await service.call(other, `/v1/attestations/${accepted.json.attestation_id}`)
        const listed = await service.call(other, '/v1/claims')
        told.push(`${accepted.status} ${read.status} ${listed.status}`)
        await service.test.db.system('ready', (tx) => tx.query('SELECT 1'))
        await lookUp(createHash('sha256').update(nameOf()).digest())
      }
      isHeld = false
      return told
    })
    expect(answers).toEqual(Array(5).fill('202 200 200'))
    await Promise.all(submissions)
    expect(await service.count('attestations')).toBe(before + 60 + 5)
    for (const refusal of refusals) expectComeAgain(refusal)
  })

  it('is answered with 503 and Retry-After, while other claims of the account are served', async () => {
    const reference = nameOf()
    const { json } = await service.attest(caller, bodyOf(reference))
    const body = bodyOf(reference)
    const refused = await holding(json.claim_id, async () => {
      const waiting = service.attest(caller, body)
      await untilBlocked(1)
      expect((await service.attest(caller, bodyOf(nameOf()))).status).toBe(202)
      return waiting
    })
    expectComeAgain(refused)
    const again = await service.attest(caller, body)
    expect([again.status, again.json.claim_id]).toEqual([202, json.claim_id])
  })

  it('defers its jobs, which counts as no attempt', async () => {
    const reference = nameOf()
    const { json } = await service.attest(caller, bodyOf(reference))
    const id = String(json.attestation_id)
    const jobId = await service.jobOf(id)
    const worker = await service.startWorker()
    try {
      await holding(json.claim_id, () =>
        until(async () => {
          const [row] = await service.test.owner<{ state: string; attempts: number; fence: number }>(
            'SELECT state, attempts, fence FROM jobs WHERE id = $1',
            [jobId],
          )
          return row?.state === 'queued' && row.attempts === 0 && row.fence > 1
        }),
      )
      const settled = await service.call(caller, `/v1/attestations/${id}?wait=30`)
      expect(settled.json.status).toBe('succeeded')
    } finally {
      await worker.close(5_000)
    }
    const created = (await service.events(caller)).filter(
      ({ type, data }) => type === 'attestation.created' && data.attestation_id === id,
    )
    expect(created).toHaveLength(1)
  })
})

describe('screenings that are being accepted for a claim', () => {
  it('do not delay its captures, and an erasure of the claim waits for them', async () => {
    const reference = nameOf()
    const { json } = await service.attest(caller, bodyOf(reference))
    const claimId = String(json.claim_id)
    const line = { media_id: mediaId, claim_id: claimId }
    const closing = await service.test.db.tenant(caller, async (tx) => {
      await acceptScreenings(tx, caller, [line], { priority: 'bulk', now: new Date() })
      const accepted = await service.attest(caller, bodyOf(reference))
      expect(accepted.status, accepted.text).toBe(202)
      await service.run(String(accepted.json.attestation_id))
      const settled = await service.call(caller, `/v1/attestations/${accepted.json.attestation_id}`)
      expect(settled.json.status).toBe('succeeded')
      const closed = service.test.db.tenant(caller, (erasing) => closeClaim(erasing, claimId))
      return closed.catch((error: { code?: string }) => error.code)
    })
    expect(closing).toBe('55P03')
  })
})
