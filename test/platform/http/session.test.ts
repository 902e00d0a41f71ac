import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { AT, makeChain } from '../crypto/pki.ts'

const USER = 'usr_01m7x7ennfe7dsmvdzwjp06y9w'
let service: TestService

beforeAll(async () => {
  service = await startTestService({ now: AT })
})
afterAll(() => service.close())

it('records name the user of a session, who can’t act as somebody else', async () => {
  const key = await service.makeCaller()
  const session = (role: 'analyst' | 'approver'): Caller => ({
    ...key,
    principal: { kind: 'session', sessionId: 'ses_1', userId: USER, role, isSandboxOnly: false },
  })
  const { cases, devices, policy, trust } = service.services.attest
  const said = { actor: 'a@example.com', assignee: null, priority: 'normal', note: null } as const

  const claimId = await service.makeClaim(key)
  const { id } = await cases.cases.open(session('approver'), { ...said, claimId })
  const move = (caller: Caller, to: 'withdrawn' | 'in_review', reasonCode: 'policyholder_withdrew' | 'other') =>
    cases.cases.transition(caller, id, { actor: said.actor, to, reasonCode, note: 'ten characters' })
  await move(session('approver'), 'withdrawn', 'policyholder_withdrew')
  // Only an owner or an admin reopens a case; a key has owner authority.
  await expect(move(session('analyst'), 'in_review', 'other')).rejects.toMatchObject({ code: 'insufficient_role' })
  const { json } = await service.call(key, `/v1/cases/${id}/entries`)
  const { data } = json as { data: object[] }
  expect(data).toHaveLength(2)
  for (const entry of data) expect(entry).toMatchObject({ by: { type: 'user', id: USER } })
  expect((await service.events(key)).map((event) => event.data.actor)).toEqual([
    { type: 'user', id: USER, label: null },
  ])

  const { root, intermediate, leaf } = await makeChain()
  const certificate = root.der.toString('base64')
  await trust.rootCas.register(key, { name: 'Root', certificate })
  const chain = [leaf, intermediate, root].map(({ der }) => der.toString('base64'))
  const device = await devices.devices.enroll(session('approver'), { certificate_chain: chain })
  await devices.devices.revoke(session('approver'), device.id, { reason: 'lost', actor: said.actor })
  const history = (await service.call(key, `/v1/admin/devices/${device.id}/history`)).json.data as object[]
  expect(history).toMatchObject([
    { kind: 'revoked', by: { type: 'user', id: USER } },
    { kind: 'enrolled', by: { type: 'user', id: USER } },
  ])

  const current = await policy.riskPolicy.get(key)
  const change = { document: current.document, expected: undefined, requestId: 'req_1' }
  expect(await policy.riskPolicy.put(session('approver'), change)).toMatchObject({
    version: 1,
    changedBy: { type: 'user', id: USER },
  })
})
