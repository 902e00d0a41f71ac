// Everything that locks rows of Authorize's state, at once: no two of them wait for each other in a circle, and what is spent
// is what was charged and not given back.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

let service: Intents
let under: Under

beforeAll(async () => {
  service = await startIntents({ poolSize: 8 })
  under = createUnder(service)
  // Far below the lock timeout, so that a circle is told as what it is. Connections take it when they are made.
  await service.test.owner(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''10ms''', current_database()); END $$`,
  )
  await endConnections()
  // The pools notice one after the other.
  await until(() => service.makeCaller().then(Boolean, () => false))
  await until(() => service.makeCaller().then(Boolean, () => false))
})
afterAll(() => service?.close())

const endConnections = () =>
  service.test.owner(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'countersign%'`,
  )

const OPERATIONS = 700
const AT_ONCE = 40

it('verify, outcome, approve, revoke, narrow, delegate, check in, pause and suspend at once never deadlock', async () => {
  const caller: TestCaller = await service.makeCaller()
  const owner: SignedIn = await service.signIn(caller.accountId)
  const headers = { ...owner.headers, 'Service-Environment': 'sandbox' }
  await service.setPolicy(caller, [
    {
      id: 'asked',
      when: { field: 'context.transaction_amount', op: 'gt', value: 90 },
      require: { approval: { min_approvals: 1, ttl_seconds: 3_600 } },
    },
  ])
  const agent = await service.makeAgent(caller)
  const heartbeat = { interval_seconds: 3_600 }
  const budget = (limit: string, period = 'total') => ({ budget: { limit, currency: 'EUR', period } })
  const root = await under.mandate(caller, { ...budget('100000'), heartbeat })
  const left = await under.mandate(caller, { ...budget('50000', 'day'), parent_id: root, heartbeat })
  const right = await under.mandate(caller, { ...budget('50000', 'month'), parent_id: root })
  const leaf = await under.mandate(caller, { ...budget('20000'), parent_id: left })
  const schedules = await Promise.all([0, 1, 2].map(() => under.schedule(caller)))
  const mandates = [root, left, right, leaf]
  const statuses = new Map<string, number>()
  const seen: { token: string; jti: string; amount: string; approvalId: string | undefined }[] = []
  let limit = 90_000

  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(Math.random() * from.length)]
  const send = async (name: string, path: string, json: Record<string, unknown> = {}, sent: object = {}) => {
    const answer = await service.post(caller, path, json, sent)
    count(`${name} ${answer.status}`, answer)
    return answer
  }
  const failures: unknown[] = []
  function count(what: string, { status, json }: { status: number; json: unknown }) {
    statuses.set(what, (statuses.get(what) ?? 0) + 1)
    if (status >= 500) failures.push({ what, json })
  }
  const issue = async () => {
    const bound = Math.random() < 0.3 ? { schedule_id: pick(schedules) } : { mandate_id: pick(mandates) }
    const amount = 'schedule_id' in bound ? '100' : String(80 + Math.floor(Math.random() * 20))
    const session = Math.random() < 0.2 ? { agent_session_id: agent.sessionId } : {}
    const body = {
      agent_session_id: `s${Math.floor(Math.random() * 5)}`,
      device_id: 'd',
      ...under.payload(amount),
      ...bound,
      ...session,
    }
    const { status, json } = await send('authorize', '/v1/intent/authorize', body)
    if (status !== 200) return
    seen.push({
      token: String(json.intent_token),
      jti: String(json.jti),
      amount,
      approvalId: json.approval_id as string | undefined,
    })
  }
  const verify = (execute: boolean) => async () => {
    const one = pick(seen)
    if (one === undefined) return issue()
    const body = { ...under.payload(one.amount), intent_token: one.token, execute }
    await send('verify', '/v1/intent/verify', body, { headers: { 'Idempotency-Key': one.jti } })
  }
  const decide = async () => {
    const approvalId = pick(seen)?.approvalId
    if (approvalId === undefined) return
    const path = Math.random() < 0.8 ? 'approve' : 'deny'
    const json = path === 'deny' ? { reason: 'No.' } : {}
    count(`decide`, await service.call({}, `/v1/approvals/${approvalId}/${path}`, { method: 'POST', json, headers }))
  }
  const outcome = async () => {
    const one = pick(seen)
    if (one === undefined) return
    const status = pick(['succeeded', 'failed', 'not_run'])
    await send('outcome', `/v1/intent/executions/${one.jti}/outcome`, { status })
  }
  const narrow = async () => {
    limit -= 1
    count(
      'narrow',
      await service.call(caller, `/v1/mandates/${pick(mandates)}`, {
        method: 'PATCH',
        json: { constraints: { max_amount: limit, currency: 'EUR' } },
      }),
    )
  }
  const delegate = async () => {
    const parent_id = pick([root, left, right])
    const made = await send('delegate', '/v1/mandates', {
      principal: 'p',
      description: 'd',
      parent_id,
      ...budget('5'),
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    })
    if (made.status === 200)
      await send('revoke mandate', `/v1/mandates/${made.json.mandate_id}/revoke`, { reason: 'r' })
  }
  const end = async () => {
    const jti = pick(seen)?.jti
    const scope = pick(['token', 'session'] as const)
    const subject = scope === 'token' ? { jti } : { agent_session_id: `s${Math.floor(Math.random() * 200)}` }
    await send('revoke', '/v1/intent/revocations', { scope, reason: 'r', ...subject })
  }
  const purge = async () => {
    for (const rule of service.services.authorize.mandates.feature.retention ?? []) {
      if (rule.per === 'tenant' && rule.days !== null)
        await rule.purge(caller, new Date(Date.now() - 45 * 86_400_000), new AbortController().signal)
    }
  }
  const works: [number, () => Promise<unknown>][] = [
    [6, issue],
    [8, verify(true)],
    [4, verify(false)],
    [4, outcome],
    [4, decide],
    [2, narrow],
    [2, delegate],
    [2, () => send('heartbeat', `/v1/mandates/${pick([root, left])}/heartbeat`)],
    [1, end],
    [1, () => send('pause', `/v1/schedules/${pick(schedules)}/pause`)],
    [2, () => send('resume', `/v1/schedules/${pick(schedules)}/resume`)],
    [1, () => send('suspend', `/v1/agents/${agent.agentId}/suspend`, { reason: 'r' })],
    [1, () => send('unsuspend', `/v1/agents/${agent.agentId}/unsuspend`)],
    [1, purge],
  ]
  const bag = works.flatMap(([weight, work]) => Array.from({ length: weight }, () => work))
  let started = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (started < OPERATIONS) {
        started += 1
        await (started < AT_ONCE ? issue : (pick(bag) ?? issue))()
      }
    }),
  )

  await endConnections()
  const [stats] = await service.test.owner<{ deadlocks: number }>(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  )
  expect(stats).toEqual({ deadlocks: 0 })
  expect(failures.filter((one) => (one as { json: { code?: string } }).json.code !== 'service_unavailable')).toEqual([])
  expect(statuses.get('verify 200')).toBeGreaterThan(20)
  const wrong = await service.test.owner(
    `SELECT mandate_id, period_start, spent, charged FROM mandate_spend FULL JOIN (
       SELECT mandate_id, period_start, sum(amount) FILTER (WHERE released_at IS NULL) AS charged
       FROM mandate_charges GROUP BY 1, 2) charges USING (mandate_id, period_start)
     WHERE coalesce(spent, 0) <> coalesce(charged, 0)`,
  )
  expect(wrong).toEqual([])
  const cycles = await service.test.owner(
    `SELECT id FROM schedules s WHERE executed <> (SELECT count(*) FROM schedule_cycles WHERE schedule_id = s.id)`,
  )
  expect(cycles).toEqual([])
})
