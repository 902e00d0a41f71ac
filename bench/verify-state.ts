// Verifications that execute: each uses up a token of its own, which is under a mandate, under a schedule, or approved.
//
// A third each. The tokens are spread over many mandates, so that few wait for the row of another. A schedule executes once in
// a cycle, so each of its tokens has a schedule of its own. People approve slowly: the approvals that authorize asked for are
// decided by one statement, as the votes of people would have left them.

import { compare, describe, note, type Options, percentile, type Verdict } from './harness.ts'
import { sendEach } from './load.ts'
import type { Process } from './processes.ts'
import type { Stage } from './stage.ts'
import { type Action, issue, type Members, postAll, setRules, verifyRequestOf } from './tokens.ts'

const CONNECTIONS = 32
/** All of them under one mandate. */
const HOT_CONNECTIONS = 200
const RULES = 20
const DAY_MS = 86_400_000
/** A mandate never ends after its parent. */
const EXPIRES_AT = new Date(Date.now() + 30 * DAY_MS).toISOString()
const APPROVED = 'Approved Garage'

interface Sizes {
  mandates: number
  /** Tokens of each kind, for each run. */
  each: number
  /** Tokens of the one mandate. */
  hot: number
}

const pay = (amount: string, counterparty = 'Example Garage'): Action => ({
  action_description: `Pay ${amount} EUR to ${counterparty}`,
  action_payload: { action_type: 'payment', amount, currency: 'EUR', counterparty },
})

export async function measureState(
  stage: Stage,
  { web, floor }: { web: Process; floor: Process },
  options: Options,
): Promise<Verdict[]> {
  const { isQuick, rounds } = options
  const sizes: Sizes = isQuick ? { mandates: 8, each: 16, hot: 48 } : { mandates: 200, each: 400, hot: 1_000 }
  const { key } = stage
  await setRules(web.port, key, RULES, [
    {
      id: 'people',
      priority: RULES,
      when: { field: 'action_payload.counterparty', op: 'eq', value: APPROVED },
      require: { approval: { min_approvals: 1 } },
    },
  ])
  const mandates = await makeMandates(web.port, key, sizes.mandates)
  const runs: Buffer[][] = []
  for (let run = 0; run <= rounds; run += 1) runs.push(await prepare(web.port, key, mandates, sizes))
  const [hot = ''] = await makeMandates(web.port, key, 1)
  const payment = pay('1.00')
  const hotWanted = Array.from({ length: sizes.hot }, () => ({ ...payment, bound: { mandate_id: hot } }))
  const hotTokens = await issue(web.port, key, hotWanted)
  await stage.owner(
    `UPDATE approvals SET outcome = 'approved', decided_at = clock_timestamp(), is_told = true WHERE outcome IS NULL`,
  )
  await stage.owner('ANALYZE')

  const turn = (port: number) => {
    const left = runs.values()
    return async () => {
      const requests = left.next().value ?? []
      const { rate } = await sendEach({ port, connections: CONNECTIONS, requests, isGood: isExecuted })
      return rate
    }
  }
  const verdict = await compare({
    name: 'verify, executing',
    unit: 'verifications/s',
    // The floor goes first, and leaves the tokens as they are.
    floor: { label: 'Koa + ES256 + the same reads, locks and writes', run: turn(floor.port) },
    ours: { label: 'with a mandate, a schedule or an approval', run: turn(web.port) },
    bar: 0.7,
    rounds,
  })
  const requests = hotTokens.map((token) => verifyRequestOf(key, payment, token))
  const isAnswered = (status: number, body: Buffer) => status === 503 || isExecuted(status, body)
  const { rate, latenciesMs, statuses } = await sendEach({
    port: web.port,
    connections: HOT_CONNECTIONS,
    requests,
    isGood: isAnswered,
  })
  const p99 = percentile(latenciesMs, 99)
  const busy = statuses.get(503) ?? 0
  const line = `${describe([rate], 'answers/s')}; p99 ${describe([p99], 'ms')}; ${busy} of ${requests.length} answered 503`
  return [verdict, note('verify, one mandate for all', line)]
}

export function isExecuted(status: number, body: Buffer): boolean {
  return status === 200 && body.includes('"valid":true') && !body.includes('"already_executed":true')
}

/** Each below another one, and both with a budget. */
export async function makeMandates(port: number, key: string, count: number): Promise<string[]> {
  const grant = async (more: readonly Members[]) => {
    const bodies = more.map((members) => ({
      principal: 'buying@example.com',
      description: 'Spare parts',
      budget: { limit: '1000000', currency: 'EUR', period: 'day' },
      expires_at: EXPIRES_AT,
      ...members,
    }))
    return (await postAll(port, key, '/v1/mandates', bodies)).map(({ mandate_id }) => String(mandate_id))
  }
  const roots = await grant(Array.from({ length: count }, () => ({})))
  return grant(roots.map((parent_id) => ({ parent_id })))
}

/** The requests of one run, the kinds in turns. */
async function prepare(
  port: number,
  key: string,
  mandates: readonly string[],
  { each }: Pick<Sizes, 'each'>,
): Promise<Buffer[]> {
  const schedule = {
    counterparty: 'Example Garage',
    amount: { type: 'fixed', value: '100', currency: 'EUR' },
    frequency: 'daily',
    // Its third cycle is open.
    anchor_at: new Date(Date.now() - 2 * DAY_MS - 3_600_000).toISOString(),
    timezone: 'UTC',
    occurrences: 100,
  }
  const schedules = await postAll(
    port,
    key,
    '/v1/schedules',
    Array.from({ length: each }, () => schedule),
  )
  const wanted = schedules.flatMap(({ schedule_id }, index) => [
    { ...pay('1.00'), bound: { mandate_id: mandates[index % mandates.length] } },
    { ...pay('100'), bound: { schedule_id } },
    pay('100', APPROVED),
  ])
  const tokens = await issue(port, key, wanted)
  return tokens.map((token, index) => verifyRequestOf(key, wanted[index] ?? pay('0'), token))
}
