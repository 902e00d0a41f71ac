// Comparisons as jobs: run twice, interrupted, without a store, and dead.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CompareDeps, createCompare } from '#src/attest/duplicates/compare.ts'
import { createHasher, type Hasher } from '#src/attest/duplicates/hasher.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import type { Database } from '#src/platform/db/database.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { attestFixture, type Phone, shoot } from '../claims/phone.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'
import { drawPicture, recompress } from './pictures.ts'

interface Submitted {
  attestation_id: string
  claim_id: string
  media_id: string
}
interface Fingerprint {
  state: string
  hash: string | null
  not_comparable: string | null
  exact_count: number
  similar_count: number
}

const decoder = createDecoder()
const hasher = createHasher(decoder)
const refusing: Pick<Hasher, 'hash'> = { hash: () => expect.fail('hashed again') }
let service: Service
let jobs: Jobs<'compare'>
let caller: Caller
let phone: Phone

beforeAll(async () => {
  service = await startService()
  jobs = createJobs(service.test, 'compare')
})
afterAll(async () => {
  await decoder.close()
  await service?.close()
})
beforeEach(async () => {
  ;({ caller, phone } = await attestFixture({ service }))
})

let drawn = 1_000
function draw(): Promise<Buffer> {
  drawn += 1
  return drawPicture(drawn)
}

/** A capture of a claim of its own, evaluated. */
async function submit(photo: Buffer): Promise<Submitted> {
  return (await service.judge(caller, shoot(phone, { photo }))) as unknown as Submitted
}

const makeCompare = (deps: Partial<CompareDeps> = {}) =>
  createCompare({ db: service.test.db, store: service.store, hasher, random: () => 0.5, ...deps })

async function takeOf({ attestation_id: id }: Submitted) {
  const [job = ''] = await jobs.of(id)
  return jobs.take(job)
}

async function rowOf({ attestation_id: id }: Submitted): Promise<Fingerprint | undefined> {
  const [row] = await service.test.owner<Fingerprint & Record<string, unknown>>(
    `SELECT state, hash::text, f.not_comparable, exact_count, similar_count FROM fingerprints f
     LEFT JOIN pictures USING (media_id) WHERE attestation_id = $1`,
    [id],
  )
  return row
}

async function othersOf({ attestation_id: id }: Submitted): Promise<string[]> {
  const rows = await service.test.owner<{ id: string }>(
    'SELECT other_attestation_id AS id FROM duplicate_findings WHERE attestation_id = $1 ORDER BY 1',
    [id],
  )
  return rows.map((row) => row.id)
}

describe('a comparison', () => {
  it('is enqueued with the result, in its transaction', async () => {
    const { attestation_id: id } = await submit(await draw())
    const [own] = await service.test.owner<{ queue: string; lane: string; isTogether: boolean }>(
      `SELECT queue, lane, j.xmin = f.xmin AS "isTogether" FROM jobs j, fingerprints f
       WHERE j.payload = jsonb_build_object('attestationId', f.attestation_id) AND j.queue = 'compare'
         AND f.attestation_id = $1`,
      [id],
    )
    expect(own).toEqual({ queue: 'compare', lane: caller.accountId, isTogether: true })
  })

  it('run twice changes nothing, and hashes nothing', async () => {
    const photo = await draw()
    const [first, later] = [await submit(photo), await submit(await recompress(photo))]
    await jobs.drain(makeCompare(), caller)
    const before = [await rowOf(later), await othersOf(later)]
    expect(before[1]).toEqual([first.attestation_id])
    const again = { attestationId: later.attestation_id }
    expect(await jobs.runNew(caller, again, makeCompare({ hasher: refusing }))).toBe('done')
    expect([await rowOf(later), await othersOf(later)]).toEqual(before)
  })

  it('by a delivery that lost its job writes no findings', async () => {
    const photo = await draw()
    await submit(photo)
    const later = await submit(photo)
    const stale = await takeOf(later)
    await jobs.take(stale.job.id)
    expect(await jobs.run(stale, makeCompare())).toBe('stale')
    expect(await rowOf(later)).toMatchObject({ state: 'due' })
    expect(await othersOf(later)).toEqual([])
  })

  it('continues with the comparison when its process died after the hash', async () => {
    const photo = await draw()
    const first = await submit(photo)
    await jobs.drain(makeCompare(), caller)
    const later = await submit(await recompress(photo))
    const { db } = service.test
    let transactions = 0
    const dying: Database = {
      ...db,
      tenant(...args) {
        transactions += 1
        return transactions < 4 ? db.tenant(...args) : Promise.reject(new Error('killed'))
      },
    }
    const dead = await takeOf(later)
    expect(await jobs.run(dead, makeCompare({ db: dying }))).toBe('retry')
    expect(await rowOf(later)).toMatchObject({ state: 'due', hash: expect.any(String) })
    await jobs.hurry()
    await jobs.drain(makeCompare({ hasher: refusing }), caller)
    expect(await othersOf(later)).toEqual([first.attestation_id])
  })

  it('waits without losing an attempt while the store is away, and fails when the photo is gone', async () => {
    const one = await submit(await draw())
    const away = () => Promise.reject(new Error('connect ECONNREFUSED'))
    const isAway = makeCompare({ store: { withLocalFile: away, exists: away } })
    const isBack = makeCompare({ store: { withLocalFile: away, exists: async () => true } })
    for (const work of [isAway, isBack]) {
      const taken = await takeOf(one)
      expect(taken.job.attempt).toBe(1)
      expect(await work.run(taken.payload, taken.job)).toMatchObject({ kind: 'defer', delayMs: 30_000 })
      expect(await jobs.run(taken, work)).toBe('defer')
    }
    const isGone = makeCompare({ store: { withLocalFile: away, exists: async () => false } })
    expect(await jobs.run(await takeOf(one), isGone)).toBe('retry')
    const second = await takeOf(one)
    expect(second.job.attempt).toBe(2)
    expect(await jobs.run(second, makeCompare())).toBe('settled')
  })

  it('waits while the decoder is busy, and when the worker is stopping', async () => {
    const one = await submit(await draw())
    for (const code of ['busy', 'closed', 'missing'] as const) {
      const busy = makeCompare({ hasher: { hash: async () => ({ ok: false, code, detail: 'later' }) } })
      expect(await jobs.run(await takeOf(one), busy), code).toBe('defer')
    }
    const { job, payload } = await takeOf(one)
    const stopping = { ...job, signal: AbortSignal.abort() }
    expect(await makeCompare({ hasher: refusing }).run(payload, stopping)).toMatchObject({ kind: 'defer', delayMs: 0 })
  })

  it('of a file that the decoder fails on has it tried twice, however many attestations show it', async () => {
    const photo = await draw()
    const sent = [await submit(photo), await submit(photo), await submit(photo)]
    let tries = 0
    let nowMs = 0
    const work = makeCompare({
      hasher: {
        async hash() {
          tries += 1
          return { ok: false, code: 'crashed', detail: 'too large' }
        },
      },
      elapsed: () => nowMs,
    })
    const runAll = async () => {
      const outcomes = []
      for (const one of sent) outcomes.push(await jobs.run(await takeOf(one), work))
      return outcomes
    }
    expect(await runAll()).toEqual(['retry', 'defer', 'defer'])
    expect(tries).toBe(1)
    nowMs += 5_000
    expect(await runAll()).toEqual(['settled', 'settled', 'settled'])
    expect(tries).toBe(2)
    for (const one of sent) expect(await rowOf(one)).toMatchObject({ state: 'compared', not_comparable: 'crashed' })
  })

  it('does not wait for a picture that is being decoded when the worker stops', async () => {
    const { job, payload } = await takeOf(await submit(await draw()))
    const stopping = new AbortController()
    const work = makeCompare({
      hasher: {
        hash() {
          stopping.abort()
          return new Promise(() => {})
        },
      },
    })
    expect(work.endsAtOnce).toBe(true)
    expect(await work.run(payload, { ...job, signal: stopping.signal })).toMatchObject({ kind: 'defer', delayMs: 0 })
  })

  it('of an attestation that is gone does nothing', async () => {
    expect(await jobs.runNew(caller, { attestationId: 'att_test_gone' }, makeCompare({ hasher: refusing }))).toBe(
      'done',
    )
  })

  it('finds each pair once, on the later one, however two workers interleave', async () => {
    const photo = await draw()
    const copies = await Promise.all([80, 75, 70, 65, 60, 55].map((quality) => recompress(photo, quality)))
    const sent: Submitted[] = []
    for (const copy of copies) sent.push(await submit(copy))
    const byId = sent.toSorted((a, b) => (a.attestation_id < b.attestation_id ? -1 : 1))
    // All hashes are committed before any comparison starts: each comparison would find all others.
    const barrier = Promise.withResolvers<void>()
    let hashed = 0
    const { db } = service.test
    const workers = sent.map(() => {
      let transactions = 0
      const held: Database = {
        ...db,
        async tenant(...args) {
          transactions += 1
          if (transactions === 4) {
            hashed += 1
            if (hashed === sent.length) barrier.resolve()
            await barrier.promise
          }
          return db.tenant(...args)
        },
      }
      return makeCompare({ db: held })
    })
    const taken = await Promise.all(byId.map(takeOf))
    await Promise.all(taken.map((one, index) => jobs.run(one, workers[index] ?? expect.fail())))
    await jobs.hurry()
    await jobs.drain(makeCompare(), caller)
    for (const [index, one] of byId.entries()) {
      const earlier = byId.slice(0, index).map(({ attestation_id: id }) => id)
      expect(await othersOf(one), `the ${index}th`).toEqual(earlier)
      expect(await rowOf(one)).toMatchObject({ state: 'compared', similar_count: index })
    }
    expect(await jobs.of(byId[0]?.attestation_id ?? '')).toEqual([])
  })
})

describe('a dead comparison', () => {
  it('still finds the same bytes, in both directions, and says why there is no more', async () => {
    const photo = await draw()
    const [first, dead, last] = [await submit(photo), await submit(photo), await submit(photo)]
    await jobs.kill(await takeOf(dead), makeCompare())
    expect(await rowOf(dead)).toMatchObject({ state: 'compared', hash: null, not_comparable: 'failed', exact_count: 1 })
    expect(await othersOf(dead)).toEqual([first.attestation_id])
    const { json } = await service.call(caller, `/v1/attestations/${dead.attestation_id}`)
    expect(json.observations).toMatchObject([
      { code: 'duplicate_media' },
      { code: 'not_comparable', evidence: { why: 'failed' } },
    ])
    // Another attestation of the same bytes does not take over that reason.
    await jobs.drain(makeCompare(), caller)
    expect(await rowOf(last)).toMatchObject({ not_comparable: null, hash: expect.any(String) })
    expect(await othersOf(last)).toEqual([first.attestation_id, dead.attestation_id])
  })

  it('has a later attestation of the same bytes compared again', async () => {
    const photo = await draw()
    const [dead, later] = [await submit(photo), await submit(photo)]
    // The later one was compared before the earlier one was stored.
    await jobs.run(await takeOf(later), makeCompare())
    await service.test.owner('DELETE FROM duplicate_findings WHERE attestation_id = $1', [later.attestation_id])
    await jobs.kill(await takeOf(dead), makeCompare())
    expect(await rowOf(later)).toMatchObject({ state: 'recheck' })
    await jobs.hurry()
    await jobs.drain(makeCompare({ hasher: refusing }), caller)
    expect(await othersOf(later)).toEqual([dead.attestation_id])
  })

  it('keeps its hash and its findings of similar pictures when only the comparison failed', async () => {
    const photo = await draw()
    const [first, later] = [await submit(photo), await submit(await recompress(photo))]
    await jobs.drain(makeCompare(), caller)
    await service.test.owner(`UPDATE fingerprints SET state = 'recheck' WHERE attestation_id = $1`, [
      later.attestation_id,
    ])
    const [id = ''] = await enqueueOf(later)
    await jobs.kill(await jobs.take(id), makeCompare())
    expect(await rowOf(later)).toMatchObject({ state: 'compared', hash: expect.any(String), not_comparable: 'failed' })
    expect(await othersOf(later)).toEqual([first.attestation_id])
  })

  it('can be redriven, and then finds similar pictures', async () => {
    const photo = await draw()
    const [first, dead] = [await submit(photo), await submit(await recompress(photo))]
    const taken = await takeOf(dead)
    await jobs.kill(taken, makeCompare())
    await jobs.drain(makeCompare(), caller)
    expect(await othersOf(dead)).toEqual([])
    await jobs.redrive(taken, makeCompare())
    expect(await rowOf(dead)).toMatchObject({ state: 'due', not_comparable: null })
    await jobs.drain(makeCompare(), caller)
    expect(await rowOf(dead)).toMatchObject({ state: 'compared', not_comparable: null })
    expect(await othersOf(dead)).toEqual([first.attestation_id])
  })
})

async function enqueueOf({ attestation_id: attestationId }: Submitted): Promise<string[]> {
  return service.test.db.tenant(caller, (tx) => enqueue(tx, 'compare', caller, [{ payload: { attestationId } }]))
}
