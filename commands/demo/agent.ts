// The second act: an agent buys what a person allows, is denied what they do not, and someone who trusts nobody here checks the
// ledger. All of it happens over HTTP; the check reads a file and the public keys, and asks the service nothing.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseJson } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { createLedgerCheck } from '../ledger/check.ts'

interface AgentOptions {
  baseUrl: string
  key: string
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

const LEDGER_PATIENCE_MS = 120_000
const LINE = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 }
const LIMIT = 200

/** @throws {Error} when the service can't be used; answers that differ from the plan are in the outcome. */
export async function letAgentBuy({ baseUrl, key, directory, say, signal }: AgentOptions): Promise<AgentOutcome> {
  const call = createCall({ baseUrl, key, signal })
  const rule = {
    id: 'no-large-purchases',
    when: { field: 'context.transaction_amount', op: 'gt', value: LIMIT },
    require: { deny: true },
  }
  await call('PUT', '/v1/policy', { name: 'demo', rules: [rule] }, { 'If-Match': '*' })
  const agent = await call('POST', '/v1/agents', { name: 'Buyer', owner: 'purchasing' })
  const session = await call('POST', `/v1/agents/${agent.agent_id}/sessions`, {})
  say(`\nAn agent may buy for up to ${LIMIT} EUR: the policy denies more.`)

  const faults: string[] = []
  const buy = async (amount: string) => {
    const action = {
      action_description: `Buy office chairs for ${amount} EUR`,
      action_payload: { amount, currency: 'EUR', counterparty: 'Example Chairs' },
    }
    const bound = { agent_session_id: session.agent_session_id, device_id: 'buyer-1' }
    const { intent_token } = await call('POST', '/v1/intent/authorize', { ...action, ...bound })
    return call('POST', '/v1/intent/verify', { ...action, intent_token })
  }
  const allowed = await buy('120.00')
  say(`  120.00 EUR: ${allowed.valid === true ? 'may run' : `refused (${allowed.reason})`}`)
  if (allowed.valid === true) {
    await call('POST', `/v1/intent/executions/${allowed.jti}/outcome`, { status: 'succeeded' })
  } else faults.push(`the purchase of 120.00 EUR was refused: ${allowed.reason}`)
  const denied = await buy('400.00')
  say(
    `  400.00 EUR: ${denied.valid === true ? 'may run' : `refused (${denied.reason} by the rule ${denied.matched_rule_id})`}`,
  )
  if (denied.matched_rule_id !== rule.id) faults.push(`the purchase of 400.00 EUR was not refused by ${rule.id}`)

  await untilProven(call, String(denied.decision_id), signal)
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
  const deadline = performance.now() + LEDGER_PATIENCE_MS
  for (;;) {
    const { status, checkpoint } = await call('GET', `/v1/decisions/${decisionId}/proof`, undefined, {}, true)
    if (status === undefined && checkpoint !== undefined && checkpoint !== null) return
    if (performance.now() > deadline)
      throw new Error(`The decision ${decisionId} has no signed proof yet: is sequence running?`)
    await delay(250, undefined, { signal })
  }
}

type Call = ReturnType<typeof createCall>

function createCall({ baseUrl, key, signal }: Pick<AgentOptions, 'baseUrl' | 'key' | 'signal'>) {
  return async (
    method: string,
    path: string,
    json?: Members,
    headers: Record<string, string> = {},
    mayFail = false,
  ): Promise<Members> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      signal,
      ...(json !== undefined && { body: JSON.stringify(json) }),
    })
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
