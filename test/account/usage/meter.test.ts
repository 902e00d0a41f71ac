import { afterAll, beforeAll, expect, test } from 'vitest'
import { purgeFoldedEntries } from '#src/account/usage/fold-rows.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { makeMedia } from '../../attest/claims/phone.ts'
import { type Service, startService } from '../../attest/claims/service.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'

let service: Service
let jobs: Jobs<'attest'>
let live: TestCaller
/** Of a captured photo that is stored. */
let mediaId: string

beforeAll(async () => {
  service = await startService()
  jobs = createJobs(service.test, 'attest')
})
afterAll(() => service.close())

async function makeLive(): Promise<TestCaller> {
  live = await service.makeCaller({ environment: 'live', plan: 'growth' })
  mediaId = await storePhoto(live)
  return live
}

async function storePhoto(scope: Scope): Promise<string> {
  const id = await makeMedia(service, scope)
  return id
}

const capture = (more: object = {}) => ({ media_type: 'image', media: { media_id: mediaId }, ...more })
const used = async ({ accountId } = live) => (await service.services.account.usage.usage.month(accountId)).used
const entries = () =>
  service.test.owner<{ units: number; turn: number }>(
    'SELECT units, turn FROM usage_entries WHERE account_id = $1 ORDER BY at, turn',
    [live.accountId],
  )

async function submit(more: object = {}): Promise<string> {
  const { json, text } = await service.attest(live, capture(more))
  if (typeof json.attestation_id !== 'string') throw new Error(text)
  return json.attestation_id
}

async function submitBatch(lines: readonly object[]): Promise<{ id: string; attestations: string[] }> {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const { json, text } = await service.call(live, '/v1/claims/batches', { method: 'POST', body, headers })
  if (typeof json.batch_id !== 'string') throw new Error(text)
  const rows = await service.test.owner<{ id: string }>(
    'SELECT id FROM attestations WHERE batch_id = $1 ORDER BY batch_line',
    [json.batch_id],
  )
  return { id: json.batch_id, attestations: rows.map(({ id }) => id) }
}

const jobOf = async (attestationId: string) => jobs.take(await service.jobOf(attestationId))
const retry = (id: string) => service.call(live, `/v1/attestations/${id}/retry`, { method: 'POST' })

test('a capture counts once it is evaluated, however often it is submitted and settled', async () => {
  await makeLive()
  const id = await submit({ external_id: 'one' })
  expect(await used()).toBe(0)
  const first = await jobOf(id)
  await service.run(id)
  expect(await used()).toBe(1)
  // The delivery before it, and the job once more.
  expect(await jobs.run(first, service.verify)).toBe('stale')
  await jobs.runNew(live, { attestationId: id }, service.verify)
  expect(await submit({ external_id: 'one' })).toBe(id)
  expect(await entries()).toEqual([{ units: 1, turn: 0 }])
})

test('a capture that two workers settle at the same moment counts once', async () => {
  await makeLive()
  const id = await submit()
  const [older, newer] = [await jobOf(id), await jobOf(id)]
  await Promise.all([jobs.run(older, service.makeVerify({})), jobs.run(newer, service.makeVerify({}))])
  expect(await entries()).toEqual([{ units: 1, turn: 0 }])
})

test('a worker that dies before its commit has counted nothing, and the next one counts', async () => {
  await makeLive()
  const id = await submit()
  const db = service.services.platform.db
  let isCut = false
  const dying: Database = {
    ...db,
    tenant: (scope, work, options) =>
      db.tenant(
        scope,
        async (tx) => {
          const result = await work(tx)
          const written = await tx.adhoc('SELECT FROM usage_entries')
          if (written.length === 0) return result
          isCut = true
          throw new Error('cut before the commit')
        },
        options,
      ),
  }
  expect(await jobs.run(await jobOf(id), service.makeVerify({ db: dying }))).toBe('retry')
  expect([isCut, await used()]).toEqual([true, 0])
  await service.run(id)
  expect(await used()).toBe(1)
})

test('repeats by Idempotency-Key and the sandbox are not counted', async () => {
  await makeLive()
  const send = () =>
    service.call(live, '/v1/claims/attest', {
      method: 'POST',
      json: capture(),
      headers: { 'Idempotency-Key': 'k', Prefer: 'wait=0' },
    })
  const [first, again] = [await send(), await send()]
  expect(again.json.attestation_id).toBe(first.json.attestation_id)
  await service.run(String(first.json.attestation_id))
  expect(await used()).toBe(1)

  live = await service.makeCaller({ plan: 'growth' })
  mediaId = await storePhoto(live)
  await service.run(await submit())
  await submitBatch([capture(), capture()])
  expect(await entries()).toEqual([])
})

test('a batch counts its new lines when it is accepted, and its results count no more', async () => {
  await makeLive()
  const before = await submit({ external_id: 'known' })
  await service.run(before)
  const { id, attestations } = await submitBatch([
    capture(),
    capture({ external_id: 'known' }),
    capture({ external_id: 'twice' }),
    capture({ external_id: 'twice' }),
    { media_type: 'image' },
  ])
  expect(attestations).toHaveLength(2)
  const counted = await service.test.owner('SELECT units, turn FROM usage_entries WHERE subject_id = $1', [id])
  expect(counted).toEqual([{ units: 2, turn: 0 }])
  for (const one of attestations) await service.run(one)
  expect(await used()).toBe(3)
})

test('a line whose job dies is given back once, and counts again when it is tried again', async () => {
  await makeLive()
  const { attestations } = await submitBatch([capture(), capture()])
  const [line = '', other = ''] = attestations
  const taken = await jobOf(line)
  await jobs.kill(taken, service.verify)
  await service.test.db.tenant(live, (tx) => service.verify.onDead(tx, live, { attestationId: line }, 'again'))
  expect(await used()).toBe(1)

  await jobs.redrive(taken, service.verify)
  await service.test.db.tenant(live, (tx) => service.verify.onRedrive(tx, live, { attestationId: line }))
  expect(await used()).toBe(2)
  await jobs.kill(await jobOf(line), service.verify)
  expect(await used()).toBe(1)
  expect((await retry(line)).status).toBe(202)
  expect(await used()).toBe(2)
  await service.run(line)
  await service.run(other)
  expect(await used()).toBe(2)
  expect(await entries()).toEqual([2, -1, 1, -1, 1].map((units, turn) => ({ units, turn })))
})

test('a capture that died alone was never counted, and is when a retry succeeds', async () => {
  await makeLive()
  const id = await submit()
  await jobs.kill(await jobOf(id), service.verify)
  expect(await used()).toBe(0)
  expect((await retry(id)).status).toBe(202)
  await service.run(id)
  expect(await entries()).toEqual([{ units: 1, turn: 0 }])
})

test('cancelled and erased lines are given back, and those that were evaluated are not', async () => {
  await makeLive()
  const { id, attestations } = await submitBatch([capture(), capture(), capture()])
  const [first = '', second = ''] = attestations
  await service.run(first)
  const cancel = () => service.call(live, `/v1/claims/batches/${id}/cancel`, { method: 'POST' })
  await Promise.all([cancel(), cancel(), cancel()])
  expect(await used()).toBe(1)
  expect((await retry(second)).status).toBe(202)
  expect(await used()).toBe(2)
  await service.run(second)
  expect(await used()).toBe(2)

  const claim = { reference: 'E-1' }
  const erased = await submitBatch([capture({ claim }), capture({ claim })])
  await service.run(erased.attestations[0] ?? '')
  expect(await used()).toBe(4)
  const [{ claim_id: claimId } = { claim_id: '' }] = await service.test.owner<{ claim_id: string }>(
    'SELECT claim_id FROM attestations WHERE id = $1',
    [erased.attestations[0]],
  )
  const admin = service.addKey({ ...live, scopes: ['admin'] })
  const answer = await service.call({ key: admin }, `/v1/claims/${claimId}`, { method: 'DELETE' })
  expect(answer.status).toBe(200)
  expect(await used()).toBe(3)
})

/** As 100 days after what was counted so far, which stays in the sums of this month. */
async function purgeEntries(): Promise<void> {
  await service.services.account.usage.fold.fold()
  await service.test.owner("UPDATE usage_entries SET at = at - interval '100 days' WHERE account_id = $1", [
    live.accountId,
  ])
  await service.test.db.system('retention', (tx) => purgeFoldedEntries(tx, 92, 1_000))
  expect(await entries()).toEqual([])
}

test.each(['cancelled', 'failed'])(
  '%s lines that are tried again when their entries are gone count once',
  async (how) => {
    await makeLive()
    const claim = { reference: 'E-2' }
    const { id, attestations } = await submitBatch([capture(), capture({ claim }), capture({ claim }), capture()])
    const [early = '', late = '', never = '', evaluated = ''] = attestations
    await service.run(evaluated)
    if (how === 'cancelled') await service.call(live, `/v1/claims/batches/${id}/cancel`, { method: 'POST' })
    else for (const one of [early, late, never]) await jobs.kill(await jobOf(one), service.verify)
    expect(await used()).toBe(1)
    expect((await retry(early)).status).toBe(202)
    expect(await used()).toBe(2)
    await purgeEntries()

    const answers = await Promise.all([retry(late), retry(late), retry(late), retry(late)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409])
    expect(await used()).toBe(3)
    const dying = await jobOf(late)
    await jobs.kill(dying, service.verify)
    await service.test.db.tenant(live, (tx) => service.verify.onDead(tx, live, { attestationId: late }, 'again'))
    expect(await used()).toBe(2)
    await purgeEntries()
    await jobs.redrive(dying, service.verify)
    expect((await retry(late)).status).toBe(409)
    expect((await retry(evaluated)).status).toBe(409)
    expect(await used()).toBe(3)
    for (const one of [early, late]) await service.run(one)
    expect(await used()).toBe(3)

    // Its erasure gives back nothing that was given back before.
    const [{ claim_id: claimId } = { claim_id: '' }] = await service.test.owner<{ claim_id: string }>(
      'SELECT claim_id FROM attestations WHERE id = $1',
      [never],
    )
    const admin = service.addKey({ ...live, scopes: ['admin'] })
    expect((await service.call({ key: admin }, `/v1/claims/${claimId}`, { method: 'DELETE' })).status).toBe(200)
    expect(await used()).toBe(3)
  },
)

test('a line whose last entry alone is left is given back, and counts again, by that entry', async () => {
  await makeLive()
  const { attestations } = await submitBatch([capture()])
  const [line = ''] = attestations
  const taken = await jobOf(line)
  await jobs.kill(taken, service.verify)
  await purgeEntries()
  expect((await retry(line)).status).toBe(202)
  for (const expected of [0, 1, 0, 1]) {
    if (expected === 0) await jobs.kill(await jobOf(line), service.verify)
    else expect((await retry(line)).status).toBe(202)
    expect(await used()).toBe(expected)
    // The entries before the last one are gone.
    await service.services.account.usage.fold.fold()
    await service.test.owner(
      `DELETE FROM usage_entries e WHERE account_id = $1
       AND turn < (SELECT max(turn) FROM usage_entries WHERE account_id = $1 AND subject_id = e.subject_id)`,
      [live.accountId],
    )
  }
  await service.run(line)
  expect(await used()).toBe(1)
})
