// One account's batches of screenings beside another's.

import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createScreeningBatches } from '#src/attest/screen/batches.ts'
import { createFairBudget } from '#src/platform/fair-budget.ts'
import { return503 } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type Caller, type ScreenService, startScreening } from './service.ts'

const BATCHES = 7
const LINES = 2_000

let service: ScreenService
beforeAll(async () => {
  service = await startScreening()
})
afterAll(() => service.close())
return503()

async function bodyOf(caller: Caller, lines: number): Promise<string> {
  const { id } = await service.makeImage(caller)
  return `${JSON.stringify({ media_id: id })}\n`.repeat(lines)
}

const submit = (caller: Pick<Caller, 'key'>, body: string) =>
  service.call(caller, '/v1/media/screenings/batches', {
    body,
    headers: { 'Content-Type': 'application/x-ndjson' },
  })

it('a batch is accepted while many of another account wait', async () => {
  const [loud, other] = [await service.makeCaller(), await service.makeCaller()]
  const [large, small] = [await bodyOf(loud, LINES), await bodyOf(other, 1)]
  let waiting = BATCHES
  const sent = Array.from({ length: BATCHES }, () => submit(loud, large).finally(() => (waiting -= 1)))
  // By then the others have been read, and wait.
  await Promise.race(sent)
  expect((await submit(other, small)).status).toBe(202)
  expect(waiting).toBeGreaterThanOrEqual(BATCHES - 3)
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 202))
})

it('a batch is accepted while as many of 26 other accounts wait as may', async () => {
  const attackers = await Promise.all(Array.from({ length: 26 }, () => service.makeCaller()))
  const other = await service.makeCaller()
  const bodies = await Promise.all(attackers.map((caller) => bodyOf(caller, 1)))
  const small = await bodyOf(other, 1)
  const each = 9
  let waiting = attackers.length * each
  const sent = Array.from({ length: waiting }, (_, index) => {
    const place = index % attackers.length
    return submit(attackers[place] ?? other, bodies[place] ?? '').finally(() => (waiting -= 1))
  })
  await Promise.race(sent)
  expect((await submit(other, small)).status).toBe(202)
  // It waited for some of each account, and not for all.
  expect(waiting).toBeGreaterThan(attackers.length)
  await Promise.all(sent)
})

it('sandbox and live of an account have one turn, and the batches beyond those that may wait are refused', async () => {
  const loud = await service.makeCaller()
  const live = { ...loud, environment: 'live' as const }
  live.key = service.addKey({ accountId: loud.accountId, environment: 'live', scopes: ['screen'] })
  const bodies = [await bodyOf(loud, LINES), await bodyOf(live, LINES)]
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => submit(n % 2 === 0 ? loud : live, bodies[n % 2] ?? '')),
  )
  const refused = answers.filter(({ status }) => status !== 202)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, headers, json } of refused) {
    expect([status, json.code]).toEqual([503, 'service_unavailable'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
})

it('the lines of an account that are in memory leave room for those of another', async () => {
  const [loud, other] = [await service.makeCaller(), await service.makeCaller()]
  const { platform } = service.services
  const batches = createScreeningBatches({ ...platform, linesBudget: createFairBudget(512 * 1_000) })
  const line = Buffer.from(await bodyOf(loud, 1))
  const endless = new Readable({ read() {} })
  const reading = batches.submit(loud, { stream: endless, isArray: false })
  for (let n = 0; n < 501; n += 1) endless.push(line)
  await expect(reading).rejects.toMatchObject({ code: 'service_unavailable' })

  const held = new Readable({ read() {} })
  const holding = batches.submit(loud, { stream: held, isArray: false })
  for (let n = 0; n < 499; n += 1) held.push(line)
  const small = () => Readable.from([Buffer.from(line)])
  expect(
    await batches.submit(other, { stream: Readable.from([Buffer.from(await bodyOf(other, 1))]), isArray: false }),
  ).toMatchObject({
    accepted: 1,
  })
  held.push(null)
  expect(await holding).toMatchObject({ accepted: 499 })
  expect(await batches.submit(loud, { stream: small(), isArray: false })).toMatchObject({ accepted: 1 })
})

it.each(['still arrive', 'wait for their turn'])(
  'lines that %s give their room to an account that comes',
  async (how) => {
    const [first, second, third] = [await service.makeCaller(), await service.makeCaller(), await service.makeCaller()]
    const { platform } = service.services
    const turn = Promise.withResolvers<void>()
    let isWaiting = false
    const batches = createScreeningBatches({
      ...platform,
      linesBudget: createFairBudget(512 * 1_000),
      async bulkWork(account, lines, work) {
        isWaiting = account === first.accountId
        if (isWaiting) await turn.promise
        return platform.bulkWork(account, lines, work)
      },
    })
    const open = async (caller: Caller, lines: number) => {
      const stream = new Readable({ read() {} })
      stream.push(await bodyOf(caller, lines))
      const batch = batches.submit(caller, { stream, isArray: false })
      batch.catch(() => {})
      return { stream, batch, isRead: () => stream.readableLength === 0 }
    }
    const loud = await open(first, 500)
    await until(loud.isRead)
    if (how === 'wait for their turn') {
      loud.stream.push(null)
      await until(() => isWaiting)
    }
    const other = await open(second, 200)
    await until(other.isRead)
    const late = await open(third, 200)
    late.stream.push(null)
    expect(await late.batch).toMatchObject({ accepted: 200 })
    if (how === 'still arrive') loud.stream.push(null)
    turn.resolve()
    await expect(loud.batch).rejects.toMatchObject({ code: 'service_unavailable' })
    other.stream.push(null)
    expect(await other.batch).toMatchObject({ accepted: 200 })
  },
)
