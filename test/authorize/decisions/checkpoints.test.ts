// Old checkpoints are thinned out, and every check of the ledger comes to the same result as before.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyConsistency } from '#src/platform/ledger/proofs.ts'
import { checkpointRetention } from '#src/platform/ledger/retention.ts'
import { DAY_MS, HOUR_MS } from '#src/platform/retention.ts'
import { decisions } from '../../support/ledger.ts'
import { type LedgerService, startLedgerService } from './fixture.ts'

let service: LedgerService

beforeAll(async () => {
  service = await startLedgerService()
})
afterAll(async () => {
  await service?.close()
})

const MINUTE_MS = 60_000
const hash = (text: string) => Buffer.from(text, 'base64url')

it('keeps all checkpoints of 7 days, one of each hour of 90 days and one of each day before', async () => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const at = (days: number, hours: number, minutes = 0) =>
    new Date(today - days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS)
  // Each makes the log one leaf larger: of size 1, 2 and so on.
  const signedAt = [
    at(200, 1),
    at(200, 13),
    at(200, 22),
    at(199, 0),
    at(100, 5, 1),
    at(100, 5, 59),
    at(30, 7, 5),
    at(30, 7, 50),
    at(30, 8),
    at(3, 9, 1),
    at(3, 9, 2),
  ]
  const caller = await service.makeCaller()
  const ids: string[] = []
  for (const time of signedAt) {
    service.clock.now = time
    ids.push(...(await service.decide(caller, decisions(1, { at: time }))))
  }
  service.clock.now = undefined
  const { json: before } = await service.ask(caller, '/checkpoints?limit=100')
  expect(before.data.map(({ size }) => size)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])

  const { purge } = checkpointRetention(service.services.platform)
  const purgeNow = () => purge(caller, new Date(Date.now() - 7 * DAY_MS), AbortSignal.timeout(60_000))
  expect(await purgeNow()).toBe(4)
  expect(await purgeNow()).toBe(0)
  const { json: after } = await service.ask(caller, '/checkpoints?limit=100')
  expect(after.data.map(({ size }) => size)).toEqual([11, 10, 9, 8, 6, 4, 3])

  // Who kept one that is deleted here compares it with the log as ever.
  const lines = await service.exported(caller.key)
  const held = before.data.map(({ jws }) => ({ name: 'kept', jws }))
  const report = await service.judge(lines, held)
  expect(report).toMatchObject({ size: 11, entries: 11, checkpoints: 7 })
  expect(report.findings.map(({ check, outcome }) => `${check} ${outcome}`)).toEqual(held.map(() => 'kept ok'))
  const checked = await service.ask(caller, '/verify-chain', { method: 'POST', json: {} })
  expect(checked.json).toMatchObject({ valid: true, problems: [] })
  const [newest] = after.data
  const kept = before.data.find(({ size }) => size === 5)
  const { json: grown } = await service.ask(caller, '/consistency?from=5')
  expect(grown).toMatchObject({ from: { root: kept?.root }, to: { size: 11, root: newest?.root } })
  const claim = {
    first: 5,
    firstRoot: hash(grown.from.root),
    second: 11,
    secondRoot: hash(grown.to.root),
    proof: grown.proof.map(hash),
  }
  expect(verifyConsistency(claim)).toBe(true)
  const { json: proof } = await service.ask(caller, `/${ids[0]}/proof?size=5`)
  expect(proof).toMatchObject({ size: 5, root: kept?.root, checkpoint: null })
})

it('keeps the newest checkpoint of a log that has not grown for years', async () => {
  const caller = await service.makeCaller()
  service.clock.now = new Date(Date.now() - 1_000 * DAY_MS)
  await service.decide(caller, decisions(1))
  await service.decide(caller, decisions(1))
  service.clock.now = undefined
  const { purge } = checkpointRetention(service.services.platform)
  expect(await purge(caller, new Date(Date.now() - 7 * DAY_MS), AbortSignal.timeout(60_000))).toBe(1)
  expect((await service.ask(caller, '/checkpoints')).json.data.map(({ size }) => size)).toEqual([2])
})

it('signs the logs behind more damaged ones than a batch has', async () => {
  const healthy = await service.makeCaller()
  await service.decide(healthy, decisions(1))
  const damaged = await Promise.all(Array.from({ length: 53 }, () => service.makeCaller()))
  for (const caller of damaged) await service.record(caller, decisions(1))
  await service.append()
  await service.test.owner(
    `UPDATE ledger_heads SET frontier_sha256 = decode(repeat('ab', 32), 'hex') WHERE account_id = ANY($1::text[])`,
    [damaged.map(({ accountId }) => accountId)],
  )
  // It was signed before, so that the others come first.
  await service.record(healthy, decisions(1, { at: new Date() }))
  await service.append()
  expect(await service.sign()).toBe(1)
  const { json } = await service.ask(healthy, '/checkpoints')
  expect(json.data.map(({ size }) => size)).toEqual([2, 1])
})
