// No decision commits after a revocation that it has not read: a verify holds the locks of its session and device shared from
// before its reads to its commit, and a revocation takes them exclusively.

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { readRevocation, readStop } from '#src/authorize/revocations/rows.ts'
import { insertIntent, lockIntent } from '#src/authorize/tokens/rows.ts'
import { lockShared, subjectLock } from '#src/platform/db/advisory.ts'
import type { TestCaller } from '../../support/callers.ts'
import { issueIntent, makeIntent } from '../../support/intents.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let service: TestService
let caller: TestCaller

beforeAll(async () => {
  service = await startTestService({ poolSize: 12 })
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const db = () => service.test.db
const revocations = () => service.services.authorize.revocations.revocations
const SUBJECTS = { agentSessionId: 'session-1', deviceId: 'device-1' }
const locks = () => [
  subjectLock(caller, 'session', SUBJECTS.agentSessionId),
  subjectLock(caller, 'device', SUBJECTS.deviceId),
  subjectLock(caller, 'stop', ''),
]

const ROUNDS = 12
const WAYS: Record<string, (jti: string) => Promise<unknown>> = {
  token: (jti) => revocations().revoke(caller, { scope: 'token', subjectId: jti, reason: 'r', expiresAt: null }),
  session: () =>
    revocations().revoke(caller, {
      scope: 'session',
      subjectId: SUBJECTS.agentSessionId,
      reason: 'r',
      expiresAt: null,
    }),
  device: () =>
    revocations().revoke(caller, { scope: 'device', subjectId: SUBJECTS.deviceId, reason: 'r', expiresAt: null }),
  stop: () => service.services.authorize.revocations.stops.stop(caller, 'r'),
}

for (const [name, end] of Object.entries(WAYS)) {
  it(`a verify that has read no ${name} revocation or stop commits before it does`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      caller = await service.makeCaller()
      const { jti } = await issueIntent(service.services, caller, SUBJECTS)
      let hasEnded = false
      const overlooked: string[] = []
      const verify = async (index: number) => {
        // They begin before, during and after the revocation.
        await delay((index * (round + 1)) % 7)
        return db().tenant(caller, async (tx) => {
          await lockShared(tx, locks())
          // A check that executes nothing may leave the row alone: the locks of the subjects have to be enough.
          if (index % 2 === 0) await lockIntent(tx, jti)
          const seen = (await readRevocation(tx, { ...SUBJECTS, jti })) ?? (await readStop(tx))
          await delay(index % 3)
          if (seen === undefined && hasEnded) overlooked.push(`verify ${index} of round ${round}`)
          if (seen === undefined) await tx.query('SELECT 1')
          return seen
        })
      }
      const before = [verify(0), verify(1)]
      const ended = end(jti).then(() => {
        hasEnded = true
      })
      const all = await Promise.all([...before, ...[2, 3, 4, 5].map(verify), ended.then(() => verify(6))])
      expect(overlooked).toEqual([])
      expect(all.at(-1)).toBeDefined()
    }
  })
}

it('no token of a revoked session is left, however many were being issued meanwhile', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    caller = await service.makeCaller()
    const acting = caller
    const authorize = async (index: number) => {
      const { row } = await makeIntent(service.services, acting, SUBJECTS)
      await delay(index % 5)
      await db().tenant(acting, async (tx) => {
        await lockShared(tx, locks())
        if ((await readRevocation(tx, SUBJECTS)) !== undefined) return
        await delay(index % 3)
        await insertIntent(tx, acting, row)
      })
    }
    await Promise.all([
      ...Array.from({ length: 8 }, (_, index) => authorize(index)),
      delay(round % 4).then(() => WAYS.session?.('')),
    ])
    const left = await service.test.owner('SELECT jti FROM intents WHERE account_id = $1 AND revocation_id IS NULL', [
      acting.accountId,
    ])
    expect(left).toEqual([])
  }
})

it('ten revocations of one session at the same time are one, with one event and one ledger entry', async () => {
  await issueIntent(service.services, caller, SUBJECTS)
  const made = await Promise.all(Array.from({ length: 10 }, () => WAYS.session?.('')))
  expect(new Set(made.map((row) => (row as { id: string }).id)).size).toBe(1)
  expect(await service.events(caller)).toHaveLength(1)
  const entries = await service.test.owner('SELECT id FROM decisions WHERE account_id = $1', [caller.accountId])
  expect(entries).toHaveLength(1)
})

it('a session and a device that share tokens are revoked at the same time without a deadlock', async () => {
  const { jti } = await issueIntent(service.services, caller, SUBJECTS)
  await service.test.owner(
    `INSERT INTO intents SELECT (jsonb_populate_record(i, jsonb_build_object('jti', jti || '_' || n, 'status_list', 78,
       'status_index', n))).* FROM intents i, generate_series(1, 2000) n WHERE jti = $1`,
    [jti],
  )
  await Promise.all([WAYS.session?.(''), WAYS.device?.('')])
  const rows = await service.test.owner<{ ended: number; count: number }>(
    `SELECT sum(ended_count)::int AS ended, count(*)::int AS count FROM revocations WHERE account_id = $1`,
    [caller.accountId],
  )
  expect(rows).toEqual([{ ended: 2_001, count: 2 }])
})

const WAITING = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

it('a device is revoked in its registry only after the decisions about it have ended', async () => {
  const deviceId = 'dev_test_01m7x7en8bf9nbq2rz3w0k6v4d'
  await service.test.owner(
    `INSERT INTO devices (account_id, environment, id, spki, spki_digest, certificate_chain, certificate_subject,
       not_before, not_after, enrolled_at)
     VALUES ($1, 'sandbox', $2, '\\x01', sha256('\\x01'), ARRAY['\\x01'::bytea], 'CN=phone', '2026-01-01', '2036-01-01', now())`,
    [caller.accountId, deviceId],
  )
  let isHeld = true
  let revoked: Promise<unknown> = Promise.resolve()
  await db().tenant(caller, async (tx) => {
    await lockShared(tx, [subjectLock(caller, 'device', deviceId)])
    revoked = service.services.attest.devices.devices
      .revoke(caller, deviceId, { reason: 'stolen' })
      .then(() => expect(isHeld).toBe(false))
    revoked.catch(() => {})
    await until(async () => (await service.test.owner(WAITING)).length > 0)
    expect(await readRevocation(tx, { agentSessionId: 's', deviceId })).toBeUndefined()
    isHeld = false
  })
  await revoked
})
