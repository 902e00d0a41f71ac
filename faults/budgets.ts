// Budgets and schedules in a fault run: actions are executed under mandates and schedules over HTTP, and some are given back,
// while processes and stores die. The checker adds up what clients were answered, what the ledger says and what is spent.

import { setTimeout as delay } from 'node:timers/promises'
import type { ScopeName } from './evidence.ts'
import type { PostgresServer } from './stores.ts'
import type { Tenant } from './tenant.ts'

/** An execution that was answered to its client, or an entry of the ledger about one. Amounts are decimal text. */
export interface SpentFact {
  jti: string
  amount: string
  /** The mandate or the schedule that the token is bound to. */
  bound: string
}

export interface BudgetFacts {
  /** Executions that clients were answered. */
  executed: SpentFact[]
  /** Outcomes that clients were answered. */
  released: string[]
  /** Executions in the ledger. */
  executions: SpentFact[]
  /** Outcomes in the ledger that gave back what was used up. */
  releases: string[]
  /** Each mandate that has a budget, with its descendants, its limits, and what its rows say is spent and was executed. */
  mandates: {
    id: string
    scope: ScopeName
    members: string[]
    limit: string
    spent: string
    maxCount: number | null
    count: number
  }[]
  cycles: { scheduleId: string; cycle: number; jti: string }[]
}

type Clients = Pick<BudgetFacts, 'executed' | 'released'>

const PAUSE_MS = 100
const PATIENCE_MS = 10_000
const RETRIES = 5
const DAY_MS = 86_400_000
const SUPPLIER = 'supplier'
/** The limit of a root, and of each of its two children: together they may spend more than the root has. */
const ROOT_LIMIT = '250'
const CHILD_LIMIT = '200'
/** Executions of the second child: so few cost less than its limit. */
const MAX_COUNT = 15
// One action in so many is of the schedule, and one in so many that ran is reported as failed.
const SCHEDULED_EVERY = 7
const FAILED_EVERY = 4

interface Purse {
  tenant: Tenant
  mandates: string[]
  schedule: string
}

/** Grants mandates and schedules, while nothing is broken yet. @param url Of the API. */
export async function startSpending(url: string, tenants: readonly Tenant[]) {
  const executed: SpentFact[] = []
  const released: string[] = []
  let isStopping = false

  async function post<Answer>(key: string, path: string, json: object, idempotencyKey: string): Promise<Answer> {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    }
    const send = async () => {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(json), signal })
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
      return (await response.json()) as Answer
    }
    for (let tries = 1; ; tries += 1) {
      try {
        return await send()
      } catch (error) {
        if (tries === RETRIES) throw error
        await delay(PAUSE_MS * tries)
      }
    }
  }

  async function settle(tenant: Tenant): Promise<Purse> {
    const { key } = tenant
    // A child expires no later than its parent.
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString()
    const grant = async (name: string, limit: string, parentId?: string) => {
      const mandate = {
        principal: 'purchasing',
        description: `Budget of ${name}`,
        budget: { limit, currency: 'EUR', period: 'total', ...(name === 'b' && { max_count: MAX_COUNT }) },
        expires_at: expiresAt,
        ...(parentId !== undefined && { parent_id: parentId }),
      }
      const { mandate_id: id } = await post<{ mandate_id: string }>(key, '/v1/mandates', mandate, `mandate-${name}`)
      return id
    }
    const root = await grant('root', ROOT_LIMIT)
    const children = [await grant('a', CHILD_LIMIT, root), await grant('b', CHILD_LIMIT, root)]
    const schedule = {
      counterparty: SUPPLIER,
      amount: { type: 'max', value: '10', currency: 'EUR' },
      frequency: 'daily',
      anchor_at: new Date(Date.now() - PATIENCE_MS).toISOString(),
      timezone: 'UTC',
      occurrences: 30,
    }
    const { schedule_id: scheduleId } = await post<{ schedule_id: string }>(key, '/v1/schedules', schedule, 'schedule')
    return { tenant, mandates: children, schedule: scheduleId }
  }

  async function buy({ tenant: { key }, mandates, schedule }: Purse, n: number): Promise<void> {
    const isScheduled = n % SCHEDULED_EVERY === 0
    const bound = isScheduled ? schedule : (mandates[n % mandates.length] ?? schedule)
    const amount = `${1 + (n % 9)}.${String(n % 100).padStart(2, '0')}`
    const action = {
      action_description: `Order ${n}`,
      action_payload: { amount, currency: 'EUR', counterparty: SUPPLIER, number: n },
    }
    const { intent_token: token, jti } = await post<{ intent_token: string; jti: string }>(
      key,
      '/v1/intent/authorize',
      {
        ...action,
        agent_session_id: `spender-${n % 10}`,
        device_id: 'device-1',
        ttl_seconds: 600,
        ...(isScheduled ? { schedule_id: bound } : { mandate_id: bound }),
      },
      `order-${n}`,
    )
    const { valid } = await post<{ valid: boolean }>(
      key,
      '/v1/intent/verify',
      { ...action, intent_token: token },
      `execute-${n}`,
    )
    if (!valid) return
    executed.push({ jti, amount, bound })
    if (n % FAILED_EVERY !== 0) return
    await post(key, `/v1/intent/executions/${jti}/outcome`, { status: 'failed' }, `outcome-${n}`)
    released.push(jti)
  }

  const purses = await Promise.all(tenants.map(settle))
  // One at a time for each tenant's mandates would meet no other: several spend at once.
  const spending = Promise.all(
    [0, 1, 2].map(async (spender) => {
      for (let n = spender; !isStopping; n += 3) {
        const purse = purses[Math.floor(n / 3) % purses.length]
        if (purse === undefined) return
        // What was not answered is found in the ledger.
        await buy(purse, n).catch(() => {})
        await delay(PAUSE_MS)
      }
    }),
  )

  return {
    executed,
    released,
    async stop() {
      isStopping = true
      await spending
    },
  }
}

export async function readBudgets(
  { owner }: Pick<PostgresServer, 'owner'>,
  { executed, released }: Clients,
): Promise<BudgetFacts> {
  return {
    executed: [...executed],
    released: [...released],
    executions: await owner<SpentFact>(
      `SELECT jti, entry::jsonb -> 'inputs' ->> 'amount' AS amount,
         coalesce(entry::jsonb -> 'inputs' ->> 'mandate_id', entry::jsonb -> 'inputs' ->> 'schedule_id') AS bound
       FROM decisions WHERE kind = 'execute' AND entry::jsonb -> 'inputs' ? 'amount'`,
    ),
    releases: (
      await owner<{ jti: string }>(
        `SELECT jti FROM decisions WHERE kind = 'outcome' AND reason IN ('failed', 'not_run')`,
      )
    ).map(({ jti }) => jti),
    mandates: await owner(
      `SELECT id, account_id || ' ' || environment AS scope, budget_limit::text AS limit,
         (SELECT array_agg(member.id) FROM mandates member WHERE m.id = ANY(member.path)) AS members,
         (SELECT coalesce(sum(spent), 0)::text FROM mandate_spend spend WHERE spend.mandate_id = m.id) AS spent,
         budget_max_count::int AS "maxCount",
         (SELECT coalesce(sum(executions), 0)::int FROM mandate_spend spend WHERE spend.mandate_id = m.id) AS count
       FROM mandates m WHERE budget_limit IS NOT NULL`,
    ),
    cycles: await owner(`SELECT schedule_id AS "scheduleId", cycle, jti FROM schedule_cycles`),
  }
}
