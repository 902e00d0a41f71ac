import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCompare } from '#src/attest/duplicates/compare.ts'
import { DETAIL_SIDE } from '#src/attest/duplicates/detail.ts'
import { startConsuming } from '../../support/jobs.ts'
import { until } from '../../support/until.ts'
import { makePhone, shoot } from '../claims/phone.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'
import { drawPicture } from './pictures.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service?.close())

async function submit(caller: Caller, numbers: readonly number[]): Promise<void> {
  const phone = await makePhone(service, caller)
  const submitOne = async (number: number) => service.judge(caller, shoot(phone, { photo: await drawPicture(number) }))
  await Promise.all(numbers.map(submitOne))
}

async function statesOf({ accountId }: Caller): Promise<string[]> {
  const rows = await service.test.owner<{ state: string }>(
    'SELECT state FROM fingerprints WHERE account_id = $1 ORDER BY state',
    [accountId],
  )
  return rows.map(({ state }) => state)
}

it('an account with slow pictures has one in the decoder, and does not delay other accounts', async () => {
  const [slow, other] = [await service.makeCaller(), await service.makeCaller()]
  // More than one account may have in flight.
  await Promise.all([submit(slow, [1, 2, 3, 4, 5, 6, 7, 8]), submit(other, [11, 12, 13])])
  const { db } = service.test
  let asked = 0
  let answer = () => {}
  const stuck = new Promise<void>((resolve) => {
    answer = resolve
  })
  const work = createCompare({
    db,
    store: { withLocalFile: (scope, _sha256, read) => read(scope.accountId), exists: async () => true },
    hasher: {
      async hash(path) {
        if (path === slow.accountId) {
          asked += 1
          await stuck
        }
        return { ok: true, value: { hash: '0123456789abcdef', contrast: 50, detail: new Uint8Array(DETAIL_SIDE ** 2) } }
      },
    },
  })
  // No more than twice what one account may have in flight.
  const consuming = await startConsuming(service.test, 'compare', work, 8)
  try {
    await until(async () => asked > 0)
    await until(async () => (await statesOf(other)).every((state) => state === 'compared'))
    expect(asked).toBe(1)
    expect(new Set(await statesOf(slow))).toEqual(new Set(['due']))
    // What arrives now overtakes the backlog of the slow one too.
    await submit(other, [14])
    await until(async () => (await statesOf(other)).every((state) => state === 'compared'))
    answer()
    await until(async () => (await statesOf(slow)).every((state) => state === 'compared'))
  } finally {
    answer()
    await consuming.close()
  }
})
