// Data of the pages of Authorize: an action that waits for a person, its mandate with a child, a refused verification that is
// proved in the ledger, a schedule, an agent with a session, a lock and a revocation.

import { Registry } from 'prom-client'
import { newId } from '#src/platform/ids.ts'
import { LEDGER_SEQUENCE } from '#src/platform/ledger/append.ts'
import { createCheckpointer } from '#src/platform/ledger/checkpoints.ts'
import { createSequenceMetrics, createSequencer } from '#src/platform/sequence.ts'
import type { TestCaller } from '../support/callers.ts'
import type { TestService } from '../support/service.ts'

export interface AuthorizeIds {
  approval: string
  decision: string
  mandate: string
  schedule: string
  agent: string
  lock: string
  revocation: string
}

export const RULE = 'large-payments'
const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

export async function makeAuthorizeData(service: TestService, caller: TestCaller): Promise<AuthorizeIds> {
  const { accountId, environment } = caller
  const send = async (path: string, json: object, sent: object = {}) => {
    const answer = await service.call(caller, path, { json, ...sent })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    return answer.json as Record<string, string>
  }
  const { agent_id: agent = '' } = await send('/v1/agents', { name: 'Repair desk', owner: 'repairs@example.com' })
  const { agent_session_id: session } = await send(`/v1/agents/${agent}/sessions`, {})
  const budget = { limit: '50000.00', currency: 'EUR', period: 'month' }
  const granted = { principal: 'Example GmbH', expires_at: inDays(30), budget }
  const { mandate_id: mandate = '' } = await send('/v1/mandates', { ...granted, description: 'Repairs of the fleet' })
  await send('/v1/mandates', { ...granted, description: 'Repairs of trucks', parent_id: mandate })
  const { schedule_id: schedule = '' } = await send('/v1/schedules', {
    counterparty: 'Example Leasing',
    amount: { type: 'fixed', value: '310.00', currency: 'EUR' },
    frequency: 'weekly',
    anchor_at: inDays(1),
    timezone: 'Europe/Berlin',
    occurrences: 12,
  })
  await askAbove150(service, caller)
  const action = { action_description: 'Pay 18.00 EUR', action_payload: { amount: '18.00', currency: 'EUR' } }
  const bound = { agent_id: agent, agent_session_id: session, device_id: 'laptop-1', mandate_id: mandate }
  const { intent_token } = await send('/v1/intent/authorize', { ...action, ...bound })
  await send('/v1/intent/verify', { ...action, action_description: 'Pay 81.00 EUR', intent_token })
  const { json: decisions } = await service.call(caller, '/v1/decisions?kind=verify')
  await send('/v1/intent/verify', { ...action, intent_token })
  const { json: approved } = await service.call(caller, '/v1/intent/authorize', { json: { ...LARGE, ...bound } })
  const { revocation_id: revocation = '' } = await send('/v1/intent/revocations', {
    scope: 'device',
    device_id: 'laptop-9',
    reason: 'lost',
  })
  const lock = newId('lck', environment)
  await service.test.owner(
    `INSERT INTO session_locks (account_id, environment, id, agent_session_id, tripped_families, source, created_at)
     VALUES ($1, $2, $3, 'browsing', '{override}', 'check', now())`,
    [accountId, environment, lock],
  )
  await signLedger(service)
  return {
    approval: String(approved.approval_id),
    decision: (decisions.data as { decision_id: string }[])[0]?.decision_id ?? '',
    ...{ mandate, schedule, agent, lock, revocation },
  }
}

export const LARGE = {
  action_description: 'Pay 180.00 EUR to Example Garage',
  action_payload: { amount: '180.00', currency: 'EUR', counterparty: 'Example Garage' },
  context: { transaction_amount: 180 },
}

/** Payments above 150 take a person, with what more the rule demands. */
export async function askAbove150(service: TestService, caller: TestCaller, demands: object = {}): Promise<void> {
  const rule = {
    id: RULE,
    description: 'A person looks at each payment above 150',
    when: { field: 'context.transaction_amount', op: 'gt', value: 150 },
    require: { approval: { min_approvals: 1, ...demands } },
  }
  const sent = { method: 'PUT', json: { document: { rules: [rule] } }, headers: { 'If-Match': '*' } }
  const { status, text } = await service.call(caller, '/v1/policy', sent)
  if (status !== 200) throw new Error(text)
}

/** Appends and signs what was decided, as the processes sequence and clock do. */
async function signLedger({ services }: TestService): Promise<void> {
  const { db, log, now, signingKeys } = services.platform
  const { round } = createSequencer(LEDGER_SEQUENCE, { db, log, metrics: createSequenceMetrics(new Registry()) })
  while ((await round()).count > 0);
  await createCheckpointer({ db, signingKeys, now, log, minSeconds: 0 })()
}
