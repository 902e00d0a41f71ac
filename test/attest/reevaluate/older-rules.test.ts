// Results of older rules are made again from the media. What was verified of the capture stays: what it used up, and
// what the account has deleted since, must not count against it.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { joinChunks, makeVideoManifest, recordVideo } from '../../../capture-kit/video.ts'
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

/** The result after a new policy, as if an earlier release had made it. */
async function again({ attestation_id: id }: Record<string, unknown>): Promise<Record<string, unknown>> {
  await on.service.test.owner("UPDATE attestations SET rules_version = 'attest-rules/0' WHERE id = $1", [id])
  expect((await on.put(caller, { ...POLICY, geofence_m: 2_000 })).status).toBe(200)
  await on.drain(caller)
  expect(await on.isOpen(caller)).toBe(false)
  return (await on.call(caller, `/v1/attestations/${id}`)).json
}

async function forgetSessions(): Promise<void> {
  await on.service.test.owner('DELETE FROM capture_chunks WHERE account_id = $1', [caller.accountId])
  await on.service.test.owner('DELETE FROM capture_sessions WHERE account_id = $1', [caller.accountId])
}

async function issue() {
  const [session] = (await on.service.captures.issue(caller, { count: 1 })).sessions
  if (session === undefined) throw new Error('no session')
  return session
}

const standing = ({ risk_score, risk_status, provenance_status }: Record<string, unknown>) => ({
  risk_score,
  risk_status,
  provenance_status,
})

it('a nonce counts as used by its capture when its session has been deleted', async () => {
  const { session_nonce: sessionNonce } = await issue()
  const before = await on.service.judge(caller, shoot(phone, { sessionNonce }))
  expect(codesOf(before)).toEqual(['hardware_backing_absent'])
  await forgetSessions()
  const after = await again(before)
  expect(codesOf(after)).toEqual(codesOf(before))
  expect(standing(after)).toEqual(standing(before))
  expect((await on.call(caller, '/v1/cases')).json.data).toEqual([])
})

it('a chain stays trusted when its root CA has been deleted', async () => {
  const before = await on.service.judge(caller, shoot(phone))
  const [root] = (await on.call(caller, '/v1/admin/root-cas')).json.data as { root_ca_id: string }[]
  const removed = await on.call(caller, `/v1/admin/root-cas/${root?.root_ca_id}`, { method: 'DELETE' })
  expect(removed.status).toBe(200)
  const after = await again(before)
  expect(codesOf(after)).toEqual(codesOf(before))
  expect(standing(after)).toEqual(standing(before))
})

it('a streamed video keeps the facts of its chunks when its session has been deleted', async () => {
  const recording = recordVideo({ seed: 2, chunks: 3 })
  on.service.clock.now = new Date(Date.now() - 60_000)
  const session = await issue()
  on.service.clock.now = undefined
  for (const [index, { data }] of recording.entries()) {
    const path = `/v1/claims/attest/sessions/${session.capture_session_id}/chunks/${index}`
    const sent = await on.call(caller, path, { method: 'PUT', body: data, headers: { 'Content-Type': 'video/mp4' } })
    expect(sent.status, sent.text).toBe(200)
  }
  const before = await on.service.judge(
    caller,
    shoot(phone, {
      photo: joinChunks(recording),
      media: { capture_session_id: session.capture_session_id } as never,
      sessionNonce: session.session_nonce,
      videoManifest: makeVideoManifest(session.session_nonce, recording),
    }),
  )
  expect(codesOf(before)).toEqual(['hardware_backing_absent'])
  await forgetSessions()
  const after = await again(before)
  expect(codesOf(after)).toEqual(codesOf(before))
  expect(standing(after)).toEqual(standing(before))
  const [latest] = (await on.call(caller, '/v1/account/reevaluations')).json.data as Record<string, unknown>[]
  expect(latest).toMatchObject({ touched: 1, unchanged: 1, failed: 0 })
})
