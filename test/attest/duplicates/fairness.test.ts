import pino from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDuplicates } from '#src/attest/duplicates/duplicates.ts'
import { until } from '../../support/until.ts'
import { makePhone, shoot } from '../claims/phone.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'
import { drawPicture } from './pictures.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service?.close())

async function submit(caller: Caller, ...numbers: number[]): Promise<string[]> {
  const phone = await makePhone(service, caller)
  return Promise.all(
    numbers.map(async (number) => {
      const json = await service.judge(caller, shoot(phone, { photo: await drawPicture(number) }))
      return String(json.attestation_id)
    }),
  )
}

async function stateOf(attestationId = ''): Promise<string | undefined> {
  const [row] = await service.test.owner<{ state: string }>(
    'SELECT state FROM fingerprints WHERE attestation_id = $1 AND leased_until IS NULL OR attestation_id = $1 AND state = $2',
    [attestationId, 'compared'],
  )
  return row?.state
}

it('an account with slow pictures does not delay other accounts, and its turn ends', async () => {
  const [slow, other] = [await service.makeCaller(), await service.makeCaller()]
  const mine = await submit(slow, 1, 2)
  const theirs = await submit(other, 3, 4)
  let asked = 0
  let answer = () => {}
  const stuck = new Promise<void>((resolve) => {
    answer = resolve
  })
  const duplicates = createDuplicates({
    db: service.test.db,
    log: pino({ level: 'silent' }),
    turnMs: 0,
    store: { withLocalFile: (scope, _sha256, work) => work(scope.accountId) },
    hasher: {
      async hash(path) {
        if (path === slow.accountId) {
          asked += 1
          await stuck
        }
        return { ok: true, value: { hash: '0123456789abcdef', contrast: 50 } }
      },
    },
  })
  const round = duplicates.round(new AbortController().signal)
  const states = (ids: string[]) => Promise.all(ids.map(stateOf)).then((all) => all.map(String).toSorted())
  await until(async () => (await states(theirs)).includes('compared'))
  expect(await states(mine)).not.toContain('compared')
  answer()
  await round
  expect(asked).toBe(1)
  // Photos that were leased but not begun are free for the next round.
  expect(await states(mine)).toEqual(['compared', 'due'])
  expect(await states(theirs)).toEqual(['compared', 'due'])
})
