// The time of one account's single claim, submit to settled, while another account's backlog is worked off.

import { createCaptures, renamed } from './captures.ts'
import { judgeLimit, judgeRatio, note, type Options, percentile, type Verdict } from './harness.ts'
import { check, openConnection, requestOf } from './load.ts'
import { type Process, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'
import { until } from './wait.ts'

const WAITING = 100_000
const SUBMISSIONS = 100
const MAX_P99_MS = 500
const MAX_FACTOR = 5

export async function runFairness(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const started: Process[] = []
  const start = async (file: string) => {
    const one = await startProcess(file, stage.environment, options)
    started.push(one)
    return one
  }
  try {
    const web = await start('workers/web.ts')
    for (const file of ['workers/dispatch.ts', 'workers/attest.ts']) await start(file)
    const busy = await stage.addAccount()
    const { client, take: takeOfBusy } = await createCaptures({ port: web.port, key: busy.key }, { isSmall: true })
    const { take } = await createCaptures({ port: web.port, key: stage.key }, { isSmall: true })
    const [template] = await takeOfBusy(1)
    const [capture] = await take(1)
    if (template === undefined || capture === undefined) throw new Error('no capture')
    await client.attest(template, 30)
    await multiply(stage, busy.accountId, options.isQuick ? 2_000 : WAITING)

    const connection = await openConnection(web.port)
    const series = async (): Promise<number[]> => {
      const times: number[] = []
      for (let done = 0; done < (options.isQuick ? 10 : SUBMISSIONS); done += 1) {
        const body = Buffer.from(JSON.stringify(renamed(capture)))
        const headers = { 'Content-Type': 'application/json', Prefer: 'wait=30' }
        const request = requestOf({ method: 'POST', path: '/v1/claims/attest', key: stage.key, headers, body })
        const startedAt = performance.now()
        check(await connection.send([request]), 200)
        times.push(performance.now() - startedAt)
      }
      return [50, 99].map((p) => percentile(times, p))
    }
    await series()
    const alone: number[][] = []
    const among: number[][] = []
    let left = 0
    for (let round = 0; round < options.rounds; round += 1) {
      alone.push(await series())
      await release(stage, busy.accountId)
      among.push(await series())
      left = await hold(stage, busy.accountId)
    }
    connection.close()
    const column = (rows: number[][], index: number) => rows.map((row) => row[index] ?? Number.NaN)
    const p50s = `p50 ${column(among, 0)
      .map((p50) => p50.toFixed(1))
      .join(', ')} ms, alone ${column(alone, 0)
      .map((p50) => p50.toFixed(1))
      .join(', ')} ms`
    return [
      judgeRatio({
        name: 'fairness',
        unit: 'ms',
        floor: { label: 'p99 alone' },
        ours: { label: 'p99 of a single claim beside the backlog' },
        floors: column(alone, 1),
        own: column(among, 1),
        bar: MAX_FACTOR,
        isTime: true,
      }),
      judgeLimit({
        name: 'fairness',
        label: 'p99',
        unit: 'ms',
        values: column(among, 1),
        max: MAX_P99_MS,
        beside: p50s,
      }),
      // If the backlog was worked off during the run, the figure is worthless.
      {
        ...note('fairness', `${left.toLocaleString('en')} of the other account still waited at the end`),
        isReached: left > 0,
      },
    ]
  } finally {
    await Promise.all(started.map((one) => one.stop()))
    await stage.close()
  }
}

/** Copies the account's one attestation with its claim, and queues each copy for another day. */
export async function multiply(stage: Stage, accountId: string, count: number): Promise<void> {
  await stage.owner(
    `INSERT INTO claims (account_id, environment, id, reference, line, loss_lat, loss_lng)
     SELECT account_id, environment, 'clm_test_0' || lpad(n::text, 25, '0'), 'busy-' || n, line, loss_lat, loss_lng
     FROM claims, generate_series(1, $2::int) n WHERE account_id = $1`,
    [accountId, count],
  )
  await stage.owner(
    `WITH copy AS (
       INSERT INTO attestations (account_id, environment, id, claim_id, content_digest, media_id, device_id, submission, job_id)
       SELECT account_id, environment, 'att_test_0' || lpad(n::text, 25, '0'), 'clm_test_0' || lpad(n::text, 25, '0'),
         content_digest, media_id, device_id, submission, gen_random_uuid()
       FROM attestations, generate_series(1, $2::int) n WHERE account_id = $1
       RETURNING account_id, environment, id, job_id
     )
     INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload, run_at)
     SELECT job_id, 'attest', account_id, 1, account_id, environment, jsonb_build_object('attestationId', id),
       now() + interval '1 day'
     FROM copy`,
    [accountId, count],
  )
  await stage.owner('VACUUM ANALYZE')
}

async function release(stage: Stage, accountId: string): Promise<void> {
  await stage.owner(`UPDATE jobs SET run_at = created_at WHERE account_id = $1 AND state = 'queued'`, [accountId])
  await stage.owner('VACUUM ANALYZE jobs')
  await until(async () => {
    const running = await stage.owner(`SELECT FROM jobs WHERE account_id = $1 AND lease_until IS NOT NULL LIMIT 1`, [
      accountId,
    ])
    return running.length > 0
  })
}

/** Returns how many still waited. */
async function hold(stage: Stage, accountId: string): Promise<number> {
  const held = await stage.owner(
    `WITH held AS (
       UPDATE jobs SET run_at = now() + interval '1 day' WHERE account_id = $1 AND state = 'queued' RETURNING 1
     ) SELECT count(*)::int AS count FROM held`,
    [accountId],
  )
  await stage.owner('VACUUM ANALYZE jobs')
  await until(async () => {
    const open = await stage.owner(`SELECT FROM jobs WHERE account_id = $1 AND state = 'dispatched' LIMIT 1`, [
      accountId,
    ])
    return open.length === 0
  })
  return held[0]?.count ?? 0
}
