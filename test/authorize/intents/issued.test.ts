// The list of issued tokens: what it shows, what it keeps to itself, and that its status is that of each token.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from './service.ts'

let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({ scopes: ['all'] })
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

interface Listed {
  jti: string
  status: string
  created_at: string
}

async function list(query = '', by: { key: string } = caller) {
  const { status, json } = await service.call(by, `/v1/intents${query}`)
  expect([query, status]).toEqual([query, 200])
  return json as unknown as { data: Listed[]; has_more: boolean; next_cursor: string | null; total_count?: number }
}
const idsOf = async (query = '') => (await list(query)).data.map(({ jti }) => jti)

it('shows what was issued and what became of it, newest first, and never the token', async () => {
  const { agentId } = await service.makeAgent(caller)
  const first = await service.issue(caller)
  const second = await service.issue(caller, { agent_id: agentId, audience: 'tool:payments' })
  expect(await service.verify(caller, second.token)).toMatchObject({ valid: true })
  const { data } = await list()
  expect(data.map(({ jti }) => jti)).toEqual([second.jti, first.jti])
  const keyId = caller.principal.kind === 'key' ? caller.principal.keyId : ''
  expect(data[0]).toMatchObject({
    status: 'active',
    authorized_by: { type: 'key', id: keyId },
    agent_id: agentId,
    audience: 'tool:payments',
    biometric: false,
    executed_at: expect.stringMatching(/Z$/),
    outcome: null,
    revoked_at: null,
  })
  expect(data[1]).toMatchObject({ agent_id: null, executed_at: null })
  expect(JSON.stringify(data)).not.toContain(first.token.split('.')[2])
  expect(await idsOf(`?agent_id=${agentId}`)).toEqual([second.jti])
  expect((await list('', await service.makeCaller())).data).toEqual([])
  expect((await service.call(caller, `/v1/intents?agent_id=${agentId.replace('test', 'live')}`)).json.code).toBe(
    'environment_mismatch',
  )
})

it('has the status of each token, and finds tokens by it and by time, a page at a time', async () => {
  const [lapsed, revoked, active] = [
    await service.issue(caller),
    await service.issue(caller),
    await service.issue(caller),
  ]
  await service.test.owner(`UPDATE intents SET expires_at = now() - interval '1 s' WHERE jti = $1`, [lapsed.jti])
  await service.done(caller, '/v1/intent/revocations', { scope: 'token', jti: revoked.jti, reason: 'lost' })
  const statuses = { [lapsed.jti]: 'expired', [revoked.jti]: 'revoked', [active.jti]: 'active' }
  for (const { jti, status } of (await list()).data) {
    const shown = await service.call(caller, `/v1/intent/status/${jti}`)
    expect([statuses[jti], shown.json.status]).toEqual([status, status])
    expect(await idsOf(`?status=${status}`)).toEqual([jti])
  }
  expect(await idsOf('?status=active&status=revoked')).toEqual([active.jti, revoked.jti])
  const [newest] = (await list()).data
  expect(await idsOf(`?created_gte=${newest?.created_at}`)).toEqual([active.jti])
  const page = await list('?limit=2&include=total_count')
  expect(page).toMatchObject({ has_more: true, total_count: 3 })
  expect(await idsOf(`?limit=2&cursor=${page.next_cursor}`)).toEqual([lapsed.jti])
  expect((await service.call(caller, `/v1/intents?status=active&cursor=${page.next_cursor}`)).status).toBe(400)
  expect((await service.call(caller, '/v1/intents?status=used')).status).toBe(400)
})
