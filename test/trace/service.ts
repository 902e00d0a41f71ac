// Agents, checks and locks over the real routes, and what they leave behind: ledger entries and events.

import { expect } from 'vitest'
import type { TestCaller } from '../support/callers.ts'
import type { TestAnswer } from '../support/http.ts'
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts'

export const FAMILY = 'exfiltration'
export const TRIPPING = [
  { family: FAMILY, score: 0.9 },
  { family: 'sandbag', score: 0.1 },
]
export const QUIET = [{ family: FAMILY, score: 0.2 }]

export type Checking = Awaited<ReturnType<typeof startChecking>>

export async function startChecking(options: TestServiceOptions = {}) {
  const service = await startTestService({ scopes: ['all'], ...options })
  const on = {
    service,
    makeCaller: service.makeCaller,
    close: () => service.close(),
    get: async (caller: TestCaller, path: string) => (await service.call(caller, path)).json,
    post: (caller: TestCaller, path: string, json?: unknown, headers: Record<string, string> = {}) =>
      service.call(caller, path, { method: 'POST', headers, ...(json !== undefined && { json }) }),

    async makeAgent(caller: TestCaller, more: Record<string, unknown> = {}): Promise<string> {
      return String(
        (await good(on.post(caller, '/v1/agents', { name: 'A', owner: 'o@example.com', ...more }))).agent_id,
      )
    },
    async openSession(caller: TestCaller, agentId: string): Promise<string> {
      return String((await good(on.post(caller, `/v1/agents/${agentId}/sessions`, {}))).agent_session_id)
    },
    setKillSwitch: (caller: TestCaller, document: Record<string, unknown>) =>
      good(
        service.call(caller, '/v1/trace/kill-switch', {
          method: 'PUT',
          json: { document },
          headers: { 'If-Match': '*' },
        }),
      ),
    send: (caller: TestCaller, body: Record<string, unknown> = {}, headers = {}) =>
      on.post(caller, '/v1/trace/check', bodyOf(service, body), headers),
    check: (caller: TestCaller, body: Record<string, unknown> = {}) => good(on.send(caller, body)),
    clear: (caller: TestCaller, lockId: unknown, body?: unknown) =>
      on.post(caller, `/v1/trace/session-locks/${lockId}/clear`, body),
    statusOf: async (caller: TestCaller, agentId: string) => {
      const { status, suspensions } = await on.get(caller, `/v1/agents/${agentId}`)
      return { status, causes: (suspensions as { cause: string }[]).map(({ cause }) => cause) }
    },
    locks: async (caller: TestCaller, query = '') =>
      (await on.get(caller, `/v1/trace/session-locks?limit=100${query}`)).data as Record<string, unknown>[],

    ledger: service.entries,
    async trips(caller: TestCaller) {
      return (await service.events(caller))
        .filter(({ type }) => type === 'trace.canary_tripped')
        .map(({ data }) => data)
    },
  }
  return on
}

/** Of a check: quiet client readings of now, unless it names others. */
function bodyOf({ clock }: TestService, body: Record<string, unknown>): Record<string, unknown> {
  if (body.trace_id !== undefined || body.inference_input !== undefined) return body
  return { readings: QUIET, reading_at: clock.now.toISOString(), canary_set: 'default-v1', ...body }
}

async function good(answer: Promise<TestAnswer>): Promise<Record<string, unknown>> {
  const { status, json } = await answer
  expect(json).not.toHaveProperty('code')
  expect(status).toBe(200)
  return json
}
