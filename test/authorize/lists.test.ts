// What all lists have in common, of those that Authorize and its neighbours show.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestCaller } from '../support/callers.ts'
import { type Intents, startIntents } from './intents/service.ts'

let service: Intents
let caller: TestCaller
let agentId: string

beforeAll(async () => {
  service = await startIntents({ scopes: ['all'] })
  caller = await service.makeCaller()
  agentId = (await service.makeAgent(caller)).agentId
  for (const n of [1, 2]) {
    await service.done(caller, `/v1/agents/${agentId}/sessions`)
    await service.done(caller, '/v1/intent/revocations', { scope: 'device', device_id: `gone-${n}`, reason: 'lost' })
    await service.done(caller, '/v1/trace/check', {
      readings: [{ family: 'exfiltration', score: 0.1, threshold: 0.8 }],
      reading_at: new Date().toISOString(),
      canary_set: 'default',
      agent_session_id: `session-${n}`,
    })
  }
})
afterAll(() => service.close())

it.each([
  ['/v1/intent/revocations', () => '', 2],
  ['/v1/trace/traces', () => '', 2],
  ['/v1/agents/:id/sessions', () => agentId, 2],
  ['/v1/decisions', () => '', 4],
])('%s counts all rows of its filters on request, whatever the page', async (path, id, count) => {
  const read = async (query: string) => (await service.call(caller, `${path.replace(':id', id())}?${query}`)).json
  const total = Number((await read('limit=1&include=total_count')).total_count)
  expect(total).toBeGreaterThanOrEqual(count)
  const { data, has_more } = (await read('limit=100')) as {
    data: { created_at?: string; at?: string }[]
    has_more: boolean
  }
  expect([data.length, has_more]).toEqual([total, false])
  expect(await read('limit=1')).not.toHaveProperty('total_count')

  const newest = data[0]?.created_at ?? data[0]?.at ?? ''
  const older = data.filter(({ created_at = '', at = '' }) => (created_at || at) < newest)
  const before = await read(`include=total_count&created_lt=${newest}`)
  expect([before.total_count, before.data]).toEqual([older.length, older])
  const since = await read(`include=total_count&created_gte=${newest}`)
  expect(since.total_count).toBe(total - older.length)
})
