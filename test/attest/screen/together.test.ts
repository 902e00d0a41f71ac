// Screenings of one account whose jobs run at the same time: they are loaded and end in shared transactions.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { rejudgeAttested } from '#src/attest/screen/evaluation.ts'
import { STALE_JOB } from '#src/platform/jobs/backlog.ts'
import { type Caller, type ScreenService, startScreening } from './service.ts'

const COUNT = 20
let service: ScreenService

beforeAll(async () => {
  service = await startScreening()
})
afterAll(() => service?.close())

async function submit(who: Caller, mediaId: string): Promise<string> {
  const { json, text } = await service.screen(who, { media: { media_id: mediaId } })
  expect(json.screening_id, text).toBeDefined()
  return String(json.screening_id)
}

/** Screenings of one picture that has a score already, none of which has run. */
async function makeKnown(who: Caller): Promise<{ ids: string[]; mediaId: string }> {
  const { id: mediaId } = await service.makeImage(who)
  await service.run(await submit(who, mediaId))
  const ids: string[] = []
  for (let made = 0; made < COUNT; made += 1) ids.push(await submit(who, mediaId))
  return { ids, mediaId }
}

it('takes two transactions for many, each with its own result, event and end of its job', async () => {
  const who = await service.makeCaller()
  const { ids } = await makeKnown(who)
  let transactions = 0
  const { db } = service.services.platform
  const counting: typeof db = {
    ...db,
    tenant(scope, work) {
      transactions += 1
      return db.tenant(scope, work)
    },
  }
  const work = service.makeWork({ db: counting, onScored: rejudgeAttested })
  const jobs = await Promise.all(ids.map((id) => service.take(id)))
  const outcomes = await Promise.all(ids.map((screeningId, index) => work.run({ screeningId }, jobAt(jobs, index))))
  expect(outcomes).toEqual(ids.map(() => ({ kind: 'settled' })))
  expect(transactions).toBe(2)
  for (const id of ids) expect(await service.find(who, id)).toMatchObject({ status: 'succeeded', is_cached: true })
  const told = (await service.events(who)).map(({ screening_id }) => screening_id)
  expect(told).toHaveLength(COUNT + 1)
  expect(new Set(told)).toEqual(new Set([...ids, told[0]]))
  const states = await service.test.owner<{ state: string }>(
    'SELECT DISTINCT state FROM jobs WHERE id IN (SELECT job_id FROM screenings WHERE account_id = $1)',
    [who.accountId],
  )
  expect(states).toEqual([{ state: 'succeeded' }])
})

it('writes nothing of one whose job has moved on, and all of the others', async () => {
  const who = await service.makeCaller()
  const { ids } = await makeKnown(who)
  const jobs = await Promise.all(ids.map((id) => service.take(id)))
  const [lost = '', ...others] = ids
  const newer = await service.take(lost)
  const work = service.makeWork()
  const outcomes = await Promise.allSettled(
    ids.map((screeningId, index) => work.run({ screeningId }, jobAt(jobs, index))),
  )
  expect(outcomes[0]).toEqual({ status: 'rejected', reason: STALE_JOB })
  expect(outcomes.slice(1)).toEqual(others.map(() => ({ status: 'fulfilled', value: { kind: 'settled' } })))
  expect(await service.find(who, lost)).toMatchObject({ status: 'queued' })
  expect(await service.events(who)).toHaveLength(COUNT)
  expect(await work.run({ screeningId: lost }, newer)).toEqual({ kind: 'settled' })
  expect(await service.events(who)).toHaveLength(COUNT + 1)
})

it('keeps each screening’s own result where they differ', async () => {
  const who = await service.makeCaller()
  const { ids, mediaId } = await makeKnown(who)
  const [gone = '', done = '', ...others] = ids
  await service.run(done)
  const { id: tiff } = await service.makeImage(who, 'tiff')
  const unsupported = await submit(who, tiff)
  const all = [gone, done, unsupported, ...others]
  const jobs = await Promise.all(all.map((id) => service.take(id)))
  await service.test.owner('UPDATE screenings SET media_id = $2 WHERE id = $1', [gone, mediaId.replace(/.$/, '_')])
  const work = service.makeWork({ detector: { ...service.detector, contentTypes: new Set(['image/png']) } })
  const outcomes = await Promise.all(all.map((screeningId, index) => work.run({ screeningId }, jobAt(jobs, index))))
  expect(outcomes.map(({ kind }) => kind)).toEqual(['settled', 'done', ...all.slice(2).map(() => 'settled')])
  expect(await service.find(who, gone)).toMatchObject({ status: 'failed', failure: { code: 'media_erased' } })
  expect(await service.find(who, unsupported)).toMatchObject({ status: 'failed', failure: { code: 'content_type' } })
  for (const id of others) expect(await service.find(who, id)).toMatchObject({ status: 'succeeded' })
})

function jobAt<Job>(jobs: readonly Job[], index: number): Job {
  const job = jobs[index]
  if (job === undefined) throw new Error(`no job ${index}`)
  return job
}
