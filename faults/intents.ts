// Authorize and verify in a fault run: tokens are issued and verified over HTTP while processes and stores die. Each answered
// verification must have its decision in the ledger, and no token may be executed twice.

import { setTimeout as delay } from 'node:timers/promises'
import type { Tenant } from './tenant.ts'

interface Verified {
  valid?: boolean
  decision_id?: string
  already_executed?: boolean
}

const PAUSE_MS = 100
const PATIENCE_MS = 10_000

/** Issues and verifies tokens for each tenant in turn until stopped. @param url Of the API. */
export function startVerifications(url: string, tenants: readonly Tenant[]) {
  /** Decisions of verifications that were answered. */
  const decided: string[] = []
  /** Tokens that two answers gave to their callers to execute. */
  const executedTwice: string[] = []
  let isStopping = false

  async function post<Answer>(key: string, path: string, json: object, idempotencyKey: string): Promise<Answer> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': idempotencyKey,
      },
      body: JSON.stringify(json),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    return (await response.json()) as Answer
  }

  async function buy({ key }: Tenant, n: number): Promise<void> {
    const action = { action_description: `Purchase ${n}`, action_payload: { amount: '1.00', number: n } }
    const bound = { agent_session_id: `session-${n % 10}`, device_id: 'device-1', ttl_seconds: 600 }
    const issued = { ...action, ...bound }
    const { intent_token: token, jti } = await post<{ intent_token: string; jti: string }>(
      key,
      '/v1/intent/authorize',
      issued,
      `authorize-${n}`,
    )
    // Two callers at once, each of which repeats its request as a client does that got no answer.
    const answers = await Promise.all(
      ['a', 'b'].map(async (caller) => {
        const verify = () =>
          post<Verified>(key, '/v1/intent/verify', { ...action, intent_token: token }, `verify-${n}-${caller}`)
        return verify()
          .catch(verify)
          .catch((): Verified => ({}))
      }),
    )
    for (const { decision_id: id } of answers) if (id !== undefined) decided.push(id)
    const executing = answers.filter((one) => one.valid === true && one.already_executed !== true)
    if (executing.length > 1) executedTwice.push(jti)
  }

  const buying = (async () => {
    for (let n = 0; !isStopping; n += 1) {
      const tenant = tenants[n % tenants.length]
      if (tenant === undefined) return
      // Without a token there is nothing to verify.
      await buy(tenant, n).catch(() => {})
      await delay(PAUSE_MS)
    }
  })()

  return {
    decided,
    executedTwice,
    async stop() {
      isStopping = true
      await buying
    },
  }
}
