// What one tenant's worst requests cost another: the p99 of all requests and of webhooks, at a low and steady rate,
// during the other tenant's attack, against the same without it.

import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { createVendor } from '../capture-kit/vendor.ts'
import type { Tally } from '../test/support/attack-loop.ts'
import { createCaptures } from './captures.ts'
import { multiply } from './fairness.ts'
import { note, type Options, print, type Verdict } from './harness.ts'
import type { AttackTask } from './neighbours/attacker.ts'
import { makeHonestData } from './neighbours/data.ts'
import { DELIVERIES, failuresOf, judgeScenario, merge } from './neighbours/judge.ts'
import { honestRoutines } from './neighbours/requests.ts'
import { SCENARIO_NAMES, SCENARIOS, type Scenario, type ScenarioName } from './neighbours/scenarios.ts'
import { createSteady, type Observed, type Receiver, type Steady, seenOf, startReceiver } from './neighbours/steady.ts'
import { type Process, processorMs, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

/**
 * Length of a phase. Calm and attacked ones are equally long, so that both have the same mix of requests. With three rounds of fourteen
 * scenarios a run takes some 20 minutes, and a scenario has 1,300 samples under attack.
 */
const PHASE_SECONDS = 12
const QUICK_PHASE_SECONDS = 1.5
/** How long the attack runs before anything counts. */
const LEAD_MS = 1_000
/** The remains of an attack must not count against the calm phase that follows. */
const SETTLE_MS = 20_000
const QUIET_MS = 1_000
/** Longer than an honest request's transaction. One of the attacker's, of 10,000 lines, takes two seconds. */
const LONG_TRANSACTION_MS = 300
/** Of 16 MB each: half of what the embedded Postgres keeps, and more than a scenario writes between two checkpoints. */
const LOG_FILES = 24
/**
 * Of this process, which keeps the honest tenant's bodies and reads answers: V8's five threads collected its heap every few
 * seconds, and what measured waited for them for 10 to 25 ms.
 */
const HEAP_GROWTH = '--heap-growing-percent=400'
const WORKERS = ['dispatch', 'attest', 'screen', 'compare', 'reevaluate', 'deliver', 'clock']
const SERVING = ['web', ...WORKERS] as const

// Typed wider than the constants, so that every scenario can be read for every property.
const scenarioOf = (name: ScenarioName): Scenario => SCENARIOS[name]

interface Play {
  stage: Stage
  steady: Steady
  receiver: Receiver
  attacker: Process
  serving: ReadonlyMap<string, Process>
  /** The accounts of the attacker. */
  enemies: readonly string[]
  phaseSeconds: number
}

interface Played {
  name: ScenarioName
  calm: Observed
  attacked: Observed
  rate: string
}

export async function runNeighbours(options: Options): Promise<Verdict[]> {
  setFlagsFromString(HEAP_GROWTH)
  const names = SCENARIO_NAMES.filter((name) => options.part === undefined || options.part === name)
  const stack = new AsyncDisposableStack()
  try {
    const stage = await openStage({ redis: true })
    stack.defer(() => stage.close())
    await makeLogFiles(stage)
    const vendor = await createVendor({ now: () => new Date() })
    const detector = await startProcess('bench/neighbours/detector.ts', {})
    stack.defer(() => detector.stop())
    const receiver = await startReceiver()
    stack.defer(receiver.close)
    const environment = {
      ...stage.environment,
      ATTESTATION_TEST_ROOTS: vendor.roots,
      ATTESTATION_APPS: vendor.apps,
      SCREENING_DETECTOR: 'http',
      SCREENING_URL: `http://127.0.0.1:${detector.port}/`,
    }
    const serving = new Map<string, Process>()
    for (const name of SERVING) {
      const one = await startProcess(`workers/${name}.ts`, environment, options)
      stack.defer(() => one.stop())
      serving.set(name, one)
    }
    const port = serving.get('web')?.port ?? 0
    // Each of the two phases of a round uses up at most two of the things that can be used only once.
    const each = 60 + (options.isQuick ? 0 : 4 * names.length * options.rounds)
    const data = await makeHonestData(stage, { port, vendor, receiverUrl: receiver.url, each })
    const enemy = await addEnemies(stage)
    const rows = Math.max(0, ...names.map((name) => scenarioOf(name).rows ?? 0))
    const waitingIds =
      rows === 0 ? [] : await addRows(stage, { ...enemy, port, count: options.isQuick ? rows / 10 : rows })
    const attacker = await startProcess('bench/neighbours/attacker.ts', {
      WEB_PORT: String(port),
      ATTACKER_KEY: enemy.key,
      PUBLISHABLE_KEY: enemy.publishableKey,
      WAITING_IDS: JSON.stringify(waitingIds),
    })
    stack.defer(() => attacker.stop())
    const steady = createSteady({ port, key: stage.key, routines: honestRoutines(data) })
    stack.defer(() => steady.close())

    const phaseSeconds = options.isQuick ? QUICK_PHASE_SECONDS : PHASE_SECONDS
    const play: Play = { stage, steady, receiver, attacker, serving, enemies: enemy.accounts, phaseSeconds }
    await observe(play)
    const played: Played[] = []
    for (const name of names) played.push(await playScenario(play, name, options.rounds))

    // The calm phases of all scenarios are the same, and count for each.
    const calm = merge(played.map((one) => one.calm))
    const verdicts = played.map(({ name, attacked, rate }) => {
      print(`\n${name}: ${SCENARIOS[name].says}`)
      return judgeScenario(name, { calm, attacked, rate })
    })
    return [...verdicts.sort((left, right) => Number(left.isReached) - Number(right.isReached)), judgeCalm(calm)]
  } finally {
    await stack.disposeAsync()
  }
}

/** The floor: the same requests without an attack, in turns with the attack. */
async function playScenario(play: Play, name: ScenarioName, rounds: number): Promise<Played> {
  const { attacker } = play
  await order(attacker, { act: 'prepare', scenario: name })
  await settle(play)
  const calm: Observed[] = []
  const attacked: Observed[] = []
  const tallies: Tally[] = []
  const busy = { calm: 0, attacked: 0 }
  const elapsed = { calm: 0, attacked: 0 }
  const phase = async (kind: 'calm' | 'attacked', into: Observed[]) => {
    const [since, sinceMs] = [busyMs(play), performance.now()]
    into.push(await observe(play))
    busy[kind] += busyMs(play) - since
    elapsed[kind] += performance.now() - sinceMs
  }
  for (let round = 0; round < rounds; round += 1) {
    await phase('calm', calm)
    await order(attacker, { act: 'start', scenario: name })
    await delay(LEAD_MS)
    await phase('attacked', attacked)
    tallies.push(await attacker.ask<Tally>({ act: 'stop' } satisfies AttackTask))
    await settle(play)
  }
  const shares = { calm: busy.calm / elapsed.calm, attacked: busy.attacked / elapsed.attacked }
  const rate = describeRate(tallies, shares)
  print(`${name}: ${rate}`)
  return { name, calm: merge(calm), attacked: merge(attacked), rate }
}

/** One phase: the honest tenant's requests, and the deliveries of the events in it. */
async function observe({ stage, steady, receiver, phaseSeconds }: Play): Promise<Observed> {
  const from = performance.timeOrigin + performance.now()
  const observed = await steady.run(phaseSeconds)
  const to = performance.timeOrigin + performance.now()
  await until(
    async () => (await openJobs(stage, [stage.scope.accountId], 'deliver')) === 0,
    'the honest events were delivered',
  )
  const seen = seenOf(observed, DELIVERIES)
  for (const { createdAt, latencyMs } of receiver.receipts.splice(0)) {
    if (createdAt >= from && createdAt < to) seen.latenciesMs.push(latencyMs)
  }
  const late = await openJobs(stage, [stage.scope.accountId], 'deliver')
  if (late > 0) seen.failures['not delivered in time'] = late
  return observed
}

/**
 * Waits until the attacker has no running or retrying work, no transaction of the service still stores some, no more of it is
 * accepted, and web answers as it should.
 */
async function settle({ stage, enemies, serving }: Play): Promise<void> {
  const port = serving.get('web')?.port ?? 0
  let quietSince = performance.now()
  await until(async () => {
    // Web stores the lines of a batch whose client is gone to the last one.
    const cancelled = await stage.owner(
      `UPDATE jobs SET state = 'cancelled', settled_at = now()
       WHERE account_id = ANY($1) AND state = 'queued' AND run_at < now() + interval '1 hour' RETURNING 1`,
      [enemies],
    )
    const isWorking = cancelled.length > 0 || (await hasLongTransactions(stage)) || (await openJobs(stage, enemies)) > 0
    if (isWorking || !(await isPrompt(port))) quietSince = performance.now()
    return performance.now() - quietSince > QUIET_MS
  }, "the attacker's work had ended and web answered at once")
}

async function hasLongTransactions(stage: Stage): Promise<boolean> {
  const rows = await stage.owner(
    `SELECT 1 FROM pg_stat_activity
     WHERE application_name = 'countersign' AND clock_timestamp() - xact_start > $1 * interval '1 ms'`,
    [LONG_TRANSACTION_MS],
  )
  return rows.length > 0
}

/** A database that has been in use has its WAL files. In a new one, each is created while commits wait for it. */
async function makeLogFiles(stage: Stage): Promise<void> {
  for (let made = 0; made < LOG_FILES; made += 1) {
    await stage.owner(`SELECT pg_switch_wal(), pg_logical_emit_message(false, 'bench', '')`)
  }
  await stage.owner('CHECKPOINT')
}

async function openJobs(stage: Stage, accountIds: readonly string[], queue?: string): Promise<number> {
  const [row] = await stage.owner<{ count: number }>(
    `SELECT count(*)::int AS count FROM jobs WHERE account_id = ANY($1) AND ($2::text IS NULL OR queue = $2)
       AND (state = 'dispatched' OR ($2 IS NOT NULL AND state = 'queued' AND run_at <= now()))`,
    [accountIds, queue ?? null],
  )
  return row?.count ?? 0
}

async function isPrompt(port: number): Promise<boolean> {
  const startedAt = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(SETTLE_MS) }).catch(
    () => undefined,
  )
  await answer?.arrayBuffer()
  return answer?.status === 200 && performance.now() - startedAt < 50
}

/** Returns at the latest after `SETTLE_MS`, and prints that: work that continues then counts. */
async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + SETTLE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) return print(`  after ${SETTLE_MS / 1_000} s it was not so yet that ${what}`)
    await delay(50)
  }
}

function busyMs({ serving }: Play): number {
  return [...serving.values()].reduce((sum, { pid }) => sum + (processorMs(pid) ?? Number.NaN), 0)
}

/** @param shares Processor time of the service's processes, without its stores', in cores. */
function describeRate(tallies: readonly Tally[], shares: { calm: number; attacked: number }): string {
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0)
  const outcomes = new Map<string, number>()
  for (const [outcome, times] of tallies.flatMap((tally) => Object.entries(tally.outcomes))) {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times)
  }
  const answers = [...outcomes].map(([outcome, times]) => `${outcome}: ${times}`).join(', ')
  const slowest = Math.max(0, ...tallies.map(({ slowestMs }) => slowestMs))
  const share = (cores: number) => `${Math.round(cores * 100)} %`
  return (
    `${(
      sum(({ sent }) => sent) /
        Math.max(
          1,
          sum((tally) => tally.seconds),
        )
    ).toFixed(1)} requests/s of the attacker ` +
    `(${answers || 'none answered'}; slowest ${Math.round(slowest)} ms), the service's processes ${share(shares.attacked)} of a core, calm ${share(shares.calm)}`
  )
}

/** If the honest tenant is refused anything in a calm phase, every figure is worthless. */
function judgeCalm(calm: Observed): Verdict {
  const wrong = failuresOf(calm)
  const line =
    wrong.length === 0
      ? 'without an attack every request was answered as it should'
      : `without an attack: ${wrong.join('; ')}`
  return { ...note('neighbours', line), isReached: wrong.length === 0 }
}

async function addEnemies(stage: Stage) {
  const own = await stage.addAccount()
  const shared = await createAccounts({ db: stage.db }).create({
    id: newAccountId('acc'),
    name: 'Published',
    plan: 'enterprise',
  })
  const scope = { accountId: shared.id, environment: 'sandbox' } as const
  const { key } = await createKeys({ db: stage.db }).create(scope, {
    name: 'published',
    scopes: ['all'],
    isAccountBearing: false,
  })
  return { accountId: own.accountId, key: own.key, publishableKey: key, accounts: [own.accountId, shared.id] }
}

/** Claims of the attacker, and attestations that wait for jobs of another day. Returns the ids of some. */
async function addRows(
  stage: Stage,
  { accountId, key, port, count }: { accountId: string; key: string; port: number; count: number },
): Promise<string[]> {
  const { client, take } = await createCaptures({ port, key }, { isSmall: true })
  const [template] = await take(1)
  if (template === undefined) throw new Error('no capture')
  await client.attest(template, 30)
  await multiply(stage, accountId, count)
  const rows = await stage.owner<{ id: string }>(
    `SELECT id FROM attestations WHERE account_id = $1 AND status = 'queued' LIMIT 1500`,
    [accountId],
  )
  return rows.map(({ id }) => id)
}

async function order(attacker: Process, task: AttackTask): Promise<void> {
  await attacker.ask(task)
}
