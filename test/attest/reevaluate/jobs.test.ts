// Re-evaluations as jobs: the search run twice, interrupted, and dead.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '#src/platform/db/database.ts'
import { attestFixture, codesOf, type Phone, shoot } from '../claims/phone.ts'
import type { Caller } from '../claims/service.ts'
import { POLICY, type Reevaluating, startReevaluating } from './service.ts'

let on: Reevaluating
let caller: Caller
let phone: Phone

beforeAll(async () => {
  on = await startReevaluating()
})
afterAll(() => on?.close())
beforeEach(async () => {
  ;({ caller, phone } = await attestFixture({ service: on.service, row: { scopes: ['all'] } }))
})

async function judge(): Promise<string> {
  const { json } = await on.service.attest(caller, shoot(phone))
  const id = String(json.attestation_id)
  await on.service.run(id)
  return id
}
const seen = async (id: string) => (await on.service.call(caller, `/v1/attestations/${id}`)).json
const progress = async (id = '') => (await on.call(caller, `/v1/account/reevaluations/${id}`)).json
const requested = async (...attestationIds: string[]) =>
  (await on.request(caller, { cause: 'requested', attestationIds, key: attestationIds.join() })) ?? expect.fail()
const takeOf = async (id: string) => {
  const [job = ''] = await on.jobs.of(id)
  return on.jobs.take(job)
}
const jobIdOf = async (id: string) => {
  const [row] = await on.service.test.owner<{ id: string }>('SELECT job_id AS id FROM reevaluations WHERE id = $1', [
    id,
  ])
  return row?.id
}

/** A database of which a process sees only the first transactions. */
function dyingAfter(count: number): Database {
  const { db } = on.service.test
  let transactions = 0
  return {
    ...db,
    tenant(...args) {
      transactions += 1
      return transactions <= count ? db.tenant(...args) : Promise.reject(new Error('killed'))
    },
  }
}

describe('the search of a re-evaluation', () => {
  it('is a job that is enqueued with the cause, and the row names it', async () => {
    const id = await requested(await judge())
    const [job] = await on.jobs.of(id)
    expect(await jobIdOf(id)).toBe(job)
    expect(await on.request(caller, { cause: 'requested', attestationIds: [], key: '' })).toBeDefined()
    await on.drain(caller)
    expect(await on.jobs.of(id)).toEqual([])
    expect(await progress(id)).toMatchObject({ status: 'succeeded', unchanged: 1 })
  })

  it('continues after a crash in each of its steps, and marks nothing twice', async () => {
    const ids = [await judge(), await judge()]
    await on.service.test.owner("UPDATE attestations SET rules_version = '0' WHERE id = $1", [ids[0]])
    await on.put(caller, { ...POLICY, require_session_nonce: true })
    const { data } = (await on.call(caller, '/v1/account/reevaluations')).json
    const [{ reevaluation_id: id }] = data as [{ reevaluation_id: string }]
    for (let steps = 0; steps < 8; steps += 1) {
      const [job] = await on.jobs.of(id)
      if (job === undefined) break
      await on.jobs.run(await on.jobs.take(job), on.makeReevaluate({ db: dyingAfter(steps) }))
    }
    expect(await progress(id)).toMatchObject({ status: 'running', looked: 2, touched: 2, pending: 2 })
    for (const one of ids) expect(await on.jobs.of(one)).toHaveLength(1)
    await on.drain(caller)
    expect(await progress(id)).toMatchObject({ status: 'succeeded', changed: 2, pending: 0 })
  })

  it('run by two workers at once finds each attestation once', async () => {
    const ids = [await judge(), await judge(), await judge()]
    const id = await requested(...ids)
    const [first, second] = [await takeOf(id), await takeOf(id)]
    const other = on.makeReevaluate()
    const outcomes = await Promise.all([on.jobs.run(first, on.reevaluate), on.jobs.run(second, other)])
    expect(outcomes.every((kind) => kind === 'defer')).toBe(true)
    expect(await progress(id)).toMatchObject({ looked: 3, touched: 3, pending: 3 })
    for (const one of ids) expect(await on.jobs.of(one)).toHaveLength(1)
  })

  it('writes nothing where another worker has moved it on meanwhile', async () => {
    const one = await judge()
    const id = await requested(one)
    const { db } = on.service.test
    let transactions = 0
    const overtaken: Database = {
      ...db,
      async tenant(...args) {
        transactions += 1
        // Read, first seen, read, search: the fifth writes what it found.
        if (transactions === 5) await on.jobs.run(await on.jobs.take((await jobIdOf(id)) ?? ''), on.reevaluate)
        return db.tenant(...args)
      },
    }
    await on.jobs.run(await takeOf(id), on.makeReevaluate({ db: overtaken }))
    expect(transactions).toBeGreaterThan(5)
    expect(await progress(id)).toMatchObject({ looked: 1, touched: 1 })
    expect(await on.jobs.of(one)).toHaveLength(1)
  })

  it('is waited for until it has ended', async () => {
    const id = await requested(await judge())
    expect(await progress(id)).toMatchObject({ status: 'queued', failure: null, searched_at: null })
    const waited = progress(`${id}?wait=30`)
    await on.drain(caller)
    expect(await waited).toMatchObject({ status: 'succeeded', searched_at: expect.any(String), unchanged: 1 })
    expect(await progress(`${id}?wait=30`)).toEqual(await waited)
    expect(await progress(`${id}?wait=31`)).toMatchObject({ code: 'invalid_request' })
  })

  it('does nothing when it has ended, or is gone', async () => {
    const id = await requested(await judge())
    await on.drain(caller)
    const before = await progress(id)
    expect(await on.jobs.runNew(caller, { reevaluationId: id }, on.reevaluate)).toBe('done')
    expect(await progress(id)).toEqual(before)
    expect(await on.jobs.runNew(caller, { reevaluationId: 'ree_test_gone' }, on.reevaluate)).toBe('done')
  })

  it('says that it failed when its job is dead, and a redrive ends it', async () => {
    const one = await judge()
    const id = await requested(one)
    const taken = await takeOf(id)
    await on.jobs.kill(taken, on.reevaluate)
    expect(await progress(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'attempts_exhausted' },
      touched: 0,
      finished_at: null,
    })
    const [dead] = await on.service.test.owner<{ state: string }>('SELECT state FROM jobs WHERE id = $1', [
      await jobIdOf(id),
    ])
    expect(dead?.state).toBe('dead')
    await on.jobs.redrive(taken, on.reevaluate)
    expect(await progress(id)).toMatchObject({ status: 'queued', failure: null })
    await on.drain(caller)
    expect(await progress(id)).toMatchObject({ status: 'succeeded', unchanged: 1 })
  })
})

describe('the job of an attestation', () => {
  it('run twice replaces one result', async () => {
    const one = await judge()
    await on.put(caller, { ...POLICY, require_session_nonce: true })
    await on.drain(caller)
    const before = await seen(one)
    expect(codesOf(before)).toContain('session_nonce_mismatch')
    expect(await on.jobs.runNew(caller, { attestationId: one }, on.reevaluate)).toBe('done')
    expect(await seen(one)).toEqual(before)
  })

  it('of which several are dead and redriven ends their re-evaluation once', async () => {
    const ids = [await judge(), await judge()]
    const id = await requested(...ids)
    await on.walk(caller)
    const taken = await Promise.all(ids.map(takeOf))
    for (const one of taken) await on.jobs.kill(one, on.reevaluate)
    await on.drain(caller)
    expect(await progress(id)).toMatchObject({ status: 'succeeded', failed: 2 })
    for (const one of taken) await on.jobs.redrive(one, on.reevaluate)
    expect(await on.jobs.of(id)).toEqual([await jobIdOf(id)])
    await on.drain(caller)
    expect(await progress(id)).toMatchObject({ status: 'succeeded', failed: 0, unchanged: 2 })
  })
})
