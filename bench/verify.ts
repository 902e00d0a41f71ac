// Verifications with a policy of 20 rules, against their floor, against a policy of 1,000 rules and beside a long ledger; and
// verifications that execute, under mandates, schedules and approvals (verify-state.ts) and of orders (verify-orders.ts).

import { compare, judgeLimit, note, type Options, percentile, type Verdict } from './harness.ts'
import { closedLoop, createMeter, openLoop } from './load.ts'
import { type Process, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'
import { issue, PAYMENT, setRules, verifyRequestOf } from './tokens.ts'
import { measureOrders } from './verify-orders.ts'
import { measureState } from './verify-state.ts'

const CONNECTIONS = 32
const MAX_P99_MS = 50
const [FEW, MANY] = [20, 1_000]
const LEDGER_ROWS = 1_000_000

export async function runVerify(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const jwks = await (await fetch(`http://127.0.0.1:${web.port}/.well-known/jwks.json`)).text()
  const floorSettings = { ...stage.environment, ACCOUNT_ID: stage.scope.accountId, JWKS: jwks }
  const floor = await startProcess('bench/floors/verify.ts', floorSettings, options)
  try {
    // First: what repeats ends with a million rows.
    const has = (part: string) => options.part === undefined || options.part === part
    const executing = has('executing') ? await measureState(stage, { web, floor }, options) : []
    const orders = has('orders') ? [await measureOrders(stage, web, options)] : []
    const repeating = has('repeating') ? await measureRepeats(stage, { web, floor }, options) : []
    return [...repeating, ...executing, ...orders]
  } finally {
    await Promise.all([web.stop(), floor.stop()])
    await stage.close()
  }
}

async function measureRepeats(
  stage: Stage,
  { web, floor }: { web: Process; floor: Process },
  options: Options,
): Promise<Verdict[]> {
  const [few, many] = [stage, await stage.addAccount()]
  await setRules(web.port, few.key, FEW)
  await setRules(web.port, many.key, MANY)
  const wanted = Array.from({ length: options.isQuick ? 64 : 1_024 }, () => PAYMENT)
  const request = requestsOf(few.key, await issue(web.port, few.key, wanted))
  const requestMany = requestsOf(many.key, await issue(web.port, many.key, wanted))
  const seconds = options.isQuick ? 1 : 4
  const load = { connections: CONNECTIONS, seconds, request, status: 200 }
  const meter = createMeter(load)
  // Every token is executed once: from then on all verifications are alike.
  await closedLoop({ ...load, port: web.port })
  await closedLoop({ ...load, request: requestMany, port: web.port })
  await stage.owner('VACUUM ANALYZE')
  // Else the long ledger would be measured while Postgres writes a gigabyte of pages to the disk.
  await stage.owner('CHECKPOINT')
  const rates: number[] = []
  const verdict = await compare({
    name: 'verify',
    unit: 'verifications/s',
    floor: { label: 'Koa + ES256 + the same reads and writes', run: () => meter.rateOf(floor) },
    ours: {
      label: `POST /v1/intent/verify, ${FEW} rules`,
      run: async () => {
        const rate = await meter.rateOf(web)
        rates.push(rate)
        return rate
      },
    },
    bar: 0.7,
    rounds: options.rounds,
  })
  const own = () => closedLoop({ ...load, port: web.port }).then(({ rate }) => rate)
  const long = await compare({
    name: `verify, ${MANY} rules`,
    unit: 'verifications/s',
    floor: { label: `${FEW} rules`, run: own },
    ours: {
      label: `${MANY} rules`,
      run: () => closedLoop({ ...load, request: requestMany, port: web.port }).then(({ rate }) => rate),
    },
    bar: 0.5,
    rounds: options.rounds,
  })
  const half = Math.max(...rates.slice(1)) / 2
  const p99s: number[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    const loaded = await openLoop({ ...load, port: web.port, seconds: seconds * 2, ratePerSecond: half })
    p99s.push(percentile(loaded.latenciesMs, 99))
  }
  return [
    verdict,
    long,
    judgeLimit({
      name: `verify at ${Math.round(half)}/s, half of the most`,
      label: 'p99',
      unit: 'ms',
      values: p99s,
      max: MAX_P99_MS,
    }),
    await besideLedger(stage, own, options),
    note('verify', meter.costs(web, floor)),
  ]
}

/** The same rate with a short ledger and with a long one of the account: rows can not be taken away again for another turn. */
async function besideLedger(stage: Stage, rate: () => Promise<number>, options: Options): Promise<Verdict> {
  const before: number[] = []
  for (let round = 0; round < options.rounds; round += 1) before.push(await rate())
  const rows = options.isQuick ? 1_000 : LEDGER_ROWS
  await stage.owner(
    `INSERT INTO decisions (account_id, environment, id, kind, at, reason, jti, entry, entry_sha256)
     SELECT account_id, environment, left(id, 20) || lpad(n::text, 14, '0'), kind, at - interval '1 day', reason, jti, entry, entry_sha256
     FROM (SELECT * FROM decisions WHERE account_id = $1 AND kind = 'verify' LIMIT 1) one, generate_series(1, $2::int) n`,
    [stage.scope.accountId, rows],
  )
  await stage.owner('ANALYZE')
  const runs = [...before]
  return compare({
    name: `verify, ${rows.toLocaleString('en')} ledger rows`,
    unit: 'verifications/s',
    floor: { label: 'a short ledger, measured before', run: async () => runs.shift() ?? before.at(-1) ?? Number.NaN },
    ours: { label: 'a long ledger', run: rate },
    bar: 0.95,
    rounds: options.rounds,
  })
}

function requestsOf(key: string, tokens: readonly string[]): () => Buffer[] {
  const prepared = tokens.map((token) => verifyRequestOf(key, PAYMENT, token))
  let next = 0
  return () => {
    next = (next + 1) % prepared.length
    return [prepared[next] ?? Buffer.alloc(0)]
  }
}
