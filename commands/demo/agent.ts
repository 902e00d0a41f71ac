// The second act: an agent buys within a budget, asks a person where the policy says so, is denied what nobody allows, and pays
// what is due once; another agent, whose model is misled, is stopped; then someone who trusts nobody here checks the ledger. All
// of it happens over HTTP; the check reads a file and the public keys, and asks the service nothing.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLedgerCheck } from '#client/verify/ledger.ts'
import { parseJson } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { letModelBeStopped } from './canary.ts'

interface AgentOptions {
  baseUrl: string
  key: string
  /** Signs the owner of the account in, once. */
  link: string
  /** Where the export is written. */
  directory: string
  say(line: string): void
  signal: AbortSignal
}

export interface AgentOutcome {
  /** What differs from the plan, a sentence each. */
  faults: string[]
  decisions: number
}

type Members = Record<string, unknown>

// Something hangs then, rather than being slow.
const PATIENCE_MS = 15 * 60_000
const RETRY_MS = 500
const LINE = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 }
/** EUR: a person approves amounts above the first limit, and no action may exceed the second one. */
const APPROVED_ABOVE = 150
const DENIED_ABOVE = 300
const BUDGET = '400.00'
const DAY_MS = 86_400_000

/** @throws {Error} when the service can't be used; answers that differ from the plan are in the outcome. */
export async function letAgentBuy({ baseUrl, key, link, directory, say, signal }: AgentOptions): Promise<AgentOutcome> {
  const call = createCall({ baseUrl, signal, headers: { Authorization: `Bearer ${key}` } })
  const person = createCall({ baseUrl, signal, headers: await signIn(link, baseUrl, signal) })
  const above = (limit: number) => ({ field: 'context.transaction_amount', op: 'gt', value: limit })
  const rules = [
    { id: 'no-large-purchases', when: above(DENIED_ABOVE), require: { deny: true } },
    { id: 'ask-a-person', when: above(APPROVED_ABOVE), require: { approval: { min_approvals: 1 } } },
  ]
  await call('PUT', '/v1/policy', { document: { name: 'demo', rules } }, { headers: { 'If-Match': '*' } })
  const agent = await call('POST', '/v1/agents', { name: 'Buyer', owner: 'purchasing' })
  const session = await call('POST', `/v1/agents/${agent.agent_id}/sessions`, {})
  const { mandate_id } = await call('POST', '/v1/mandates', {
    principal: 'purchasing',
    description: 'Office furniture of this quarter',
    agent_id: agent.agent_id,
    constraints: { currency: 'EUR' },
    budget: { limit: BUDGET, currency: 'EUR', period: 'total' },
    expires_at: new Date(Date.now() + DAY_MS).toISOString(),
  })
  const { schedule_id } = await call('POST', '/v1/schedules', {
    counterparty: 'Example Cleaning',
    amount: { type: 'fixed', value: '80.00', currency: 'EUR' },
    frequency: 'monthly',
    anchor_at: new Date().toISOString(),
    timezone: 'Europe/Berlin',
    occurrences: 12,
  })
  say(
    `\nAn agent may spend ${BUDGET} EUR. Above ${APPROVED_ABOVE} EUR a person approves; above ${DENIED_ABOVE} EUR nobody may.`,
  )

  const faults: string[] = []
  const authorize = async (what: string, amount: string, bound: Members) => {
    const action = {
      action_description: `${what} for ${amount} EUR`,
      action_payload: { amount, currency: 'EUR', counterparty: what.replace(/^.* (?:of|to) /, '') },
    }
    const holder = { agent_session_id: session.agent_session_id, device_id: 'buyer-1' }
    const authorized = await call('POST', '/v1/intent/authorize', { ...action, ...holder, ...bound })
    return {
      ...authorized,
      // One attempt to run the action: sent again with the same key, it is not a second purchase.
      verify: () =>
        call(
          'POST',
          '/v1/intent/verify',
          { ...action, intent_token: authorized.intent_token },
          { headers: { 'Idempotency-Key': `buy-${authorized.jti}` } },
        ),
    }
  }
  const expectReason = (what: string, answer: Members, reason: string | null): Members => {
    const outcome = answer.valid === true ? 'may run' : `refused (${answer.reason})`
    const left = typeof answer.mandate_remaining === 'string' ? `, ${answer.mandate_remaining} EUR are left` : ''
    say(`  ${what}: ${outcome}${left}`)
    if (answer.reason !== reason) faults.push(`${what}: ${answer.reason ?? 'valid'} instead of ${reason ?? 'valid'}`)
    return answer
  }
  const buy = async (what: string, amount: string, bound: Members, reason: string | null) => {
    const { verify } = await authorize(what, amount, bound)
    return expectReason(`${what}, ${amount} EUR`, await verify(), reason)
  }

  const chairs = 'Chairs of Example Chairs'
  const bought = await buy(chairs, '120.00', { mandate_id }, null)
  await call('POST', `/v1/intent/executions/${bought.jti}/outcome`, { status: 'succeeded' })
  const table = await authorize('A table of Example Chairs', '180.00', { mandate_id })
  const asked = expectReason('A table of Example Chairs, 180.00 EUR', await table.verify(), 'approval_pending')
  await person('POST', `/v1/approvals/${asked.approval_id}/approve`, { comment: 'We need it' })
  expectReason('The same, approved by a person', await table.verify(), null)
  await buy(chairs, '140.00', { mandate_id }, 'mandate_budget_exceeded')
  await buy('A sofa of Example Chairs', '450.00', {}, 'policy_denied')
  await buy('Payment to Example Cleaning', '80.00', { schedule_id }, null)
  await buy('Payment to Example Cleaning', '80.00', { schedule_id }, 'schedule_already_executed')
  const last = await letModelBeStopped({ call, person, say, fault: (what) => faults.push(what) })

  await untilProven(call, String(last.decision_id), signal)
  const { keys } = await call('GET', '/.well-known/jwks.json')
  const exported = await read(`${baseUrl}/v1/decisions/export`, { key, signal })
  const file = join(directory, 'ledger.ndjson')
  writeFileSync(file, exported)
  const lines = exported.split('\n').filter((line) => line !== '')
  const check = createLedgerCheck({ keys } as KeySet, [])
  await check.begin()
  for (const [index, line] of lines.entries())
    await check.take(parseJson(Buffer.from(line), LINE), `ledger.ndjson:${index + 1}`)
  const wrong = check.finish().findings.filter(({ outcome }) => outcome !== 'ok')
  for (const finding of wrong) faults.push(`the ledger does not hold: ${JSON.stringify(finding)}`)
  say(
    wrong.length === 0
      ? `A stranger checked the ledger of ${lines.length} lines offline: nothing was changed, and nothing was left out.`
      : 'The check of the ledger failed.',
  )
  return { faults, decisions: lines.length }
}

// The sequencer appends after the commit, and the clock signs checkpoints.
async function untilProven(call: Call, decisionId: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const { status, checkpoint } = await call('GET', `/v1/decisions/${decisionId}/proof`, undefined, { mayFail: true })
    if (status === undefined && checkpoint !== undefined && checkpoint !== null) return
    if (performance.now() > deadline)
      throw new Error(`The decision ${decisionId} has no signed proof yet: is sequence running?`)
    await delay(250, undefined, { signal })
  }
}

/** The headers of a session. */
export async function signIn(link: string, baseUrl: string, signal: AbortSignal): Promise<Record<string, string>> {
  const token = new URL(link).hash.slice(1)
  const response = await fetch(`${baseUrl}/v1/auth/magic-link/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
    signal,
  })
  const { csrf_token: csrf, detail } = (await response.json()) as Members
  if (!response.ok) throw new Error(`The owner could not sign in: ${detail}`)
  const cookie = response.headers.getSetCookie().map((line) => line.split(';')[0])
  return { Cookie: cookie.join('; '), 'X-CSRF-Token': String(csrf), 'Service-Environment': 'sandbox' }
}

export type Call = ReturnType<typeof createCall>

interface CallOptions {
  headers?: Record<string, string>
  /** An answer that is an error is returned too. */
  mayFail?: boolean
}

export function createCall({
  baseUrl,
  headers: own,
  signal,
}: Pick<AgentOptions, 'baseUrl' | 'signal'> & { headers: Record<string, string> }) {
  return async (
    method: string,
    path: string,
    json?: Members | readonly Members[],
    { headers = {}, mayFail = false }: CallOptions = {},
  ): Promise<Members> => {
    const send = () =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          ...own,
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        signal,
        ...(json !== undefined && { body: JSON.stringify(json) }),
      })
    let response = await send()
    // Postgres took too long: on a busy machine it does so now and then.
    for (const deadline = performance.now() + PATIENCE_MS; response.status === 503; response = await send()) {
      if (performance.now() > deadline) break
      await response.arrayBuffer()
      await delay(RETRY_MS, undefined, { signal })
    }
    const body = (await response.json()) as Members
    if (response.ok || mayFail) return body
    throw new Error(`${method} ${path} answered ${response.status}: ${String(body.detail)}`)
  }
}

async function read(url: string, { key, signal }: { key: string; signal: AbortSignal }): Promise<string> {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` }, signal })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.text()
}
