// Both exclusion lists in full size: how long their imports take, what memory the worker needs, what 10,000 prescribers' comparison
// takes and finds, and how it moves another account's answers.

import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { matchKeysOf } from '#src/authorize/exclusions/match-keys.ts'
import { createMatchSecret } from '#src/authorize/exclusions/match-secret.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { newAccountId, newId } from '#src/platform/ids.ts'
import { generateLeie, generateSam, leieFile, type Row } from '../test/support/exclusion-lists.ts'
import { judged, judgeLimit, judgeRatio, type Options, percentile, type Verdict } from './harness.ts'
import { type Process, peakMemory, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const LISTS = { leie: 83_464, sam: 150_000 }
const PRESCRIBERS = 10_000
/** Prescribers planted for each rung of the ladder. */
const PLANTED = 5
const MAX_IMPORT_SECONDS = 60
const MAX_SCREENING_SECONDS = 60
const MAX_MORE_MEGABYTES = 100
/** The rate at which another account asks. */
const ASKED_A_SECOND = 20
const MAX_P99_RATIO = 2
// The default of MASTER_KEY_ID, which the processes of the stage have.
const KEY_ID = 'k1'
const BORN = '1971-03-09'

interface Planted {
  leie: Row[]
  sam: Row[]
}

export async function runExclusions(options: Options): Promise<Verdict[]> {
  const stack = new AsyncDisposableStack()
  try {
    const stage = await openStage({ redis: true })
    stack.defer(() => stage.close())
    const start = async (name: string) => {
      const started = await startProcess(`workers/${name}.ts`, stage.environment, options)
      stack.defer(() => started.stop())
      return started
    }
    const web = await start('web')
    await start('dispatch')
    const worker = await start('exclusions')
    const size = options.isQuick ? 0.02 : 1
    const planted = await addPrescribers(stage, Math.round(PRESCRIBERS * size))
    const other = await stage.addAccount()
    const ask = () => call(web, other.key, '/v1/clinical/policy')

    // What the worker loads and compiles once is no part of an import.
    await importFile(stage, web, 'leie', Readable.from([leieFile(planted.leie.map(() => ({ EXCLDATE: '20000101' })))]))
    await settled(stage)
    const calm = await steady(ask, options.isQuick ? 1_000 : 10_000)

    const files = {
      leie: await write(stage, 'UPDATED.csv', generateLeie(Math.round(LISTS.leie * size), planted.leie)),
      sam: await write(stage, 'SAM_26001.CSV', generateSam(Math.round(LISTS.sam * size), planted.sam)),
    }
    const before = (await peakMemory(worker.pid, () => delay(1_000))) ?? Number.NaN
    let importSeconds = 0
    const peak = await peakMemory(worker.pid, async () => {
      for (const list of ['leie', 'sam'] as const) {
        importSeconds += await importFile(stage, web, list, createReadStream(files[list]))
      }
    })
    const during = await Promise.race([steadyUntil(ask, settled(stage)), delay(300_000, [] as number[])])
    const screenings = await stage.owner<{ seconds: number; screened: number }>(
      `SELECT extract(epoch FROM finished_at - created_at)::float8 AS seconds, screened FROM exclusion_screenings
       WHERE status = 'succeeded' AND account_id = $1 ORDER BY id`,
      [stage.scope.accountId],
    )
    const sizes = Object.values(files).map((path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`)
    return [
      judgeLimit({
        name: 'exclusions, imports',
        label: `LEIE (${Math.round(LISTS.leie * size)} rows, ${sizes[0]}) and SAM (${Math.round(LISTS.sam * size)} rows, ${sizes[1]}), from the upload to the end`,
        unit: 's',
        values: [importSeconds],
        max: MAX_IMPORT_SECONDS,
      }),
      judgeLimit({
        name: 'exclusions, memory',
        label: "peak of the worker's memory while both lists are imported, more than before",
        unit: 'MB',
        values: [(peak ?? Number.NaN) - before],
        max: MAX_MORE_MEGABYTES,
        beside: `${Math.round(before)} MB before`,
      }),
      judgeLimit({
        name: 'exclusions, screening',
        label: `${screenings.at(-1)?.screened} prescribers compared with both lists, from the import's end`,
        unit: 's',
        values: [screenings.at(-1)?.seconds ?? Number.NaN],
        max: MAX_SCREENING_SECONDS,
      }),
      await judgeFindings(stage),
      judgeRatio({
        name: 'exclusions, another account',
        unit: 'ms',
        floor: { label: 'p99 without it' },
        ours: { label: `p99 of GET /v1/clinical/policy, ${ASKED_A_SECOND}/s, beside a screening` },
        bar: MAX_P99_RATIO,
        isTime: true,
        floors: [percentile(calm, 99)],
        own: [percentile(during, 99)],
      }),
    ]
  } finally {
    await stack.disposeAsync()
  }
}

/** Prescribers who share first names, birth dates and states with rows, and some of whom are planted in the lists. */
async function addPrescribers({ owner, db, environment, scope }: Stage, count: number): Promise<Planted> {
  const key = Buffer.from(environment.MASTER_KEY ?? '', 'base64')
  const secret = await createMatchSecret({ db, sealer: createSealer({ current: { id: KEY_ID, key } }) })()
  const planted: Planted = { leie: [], sam: [] }
  const rows = Array.from({ length: count }, (_, index) => {
    const lastName = `BENCHPERSON${index}`
    const npi = String(1_000_000_000 + index)
    const person = { LASTNAME: lastName, FIRSTNAME: 'ROBIN' }
    if (index < PLANTED) planted.leie.push({ LASTNAME: 'ELSE', FIRSTNAME: 'ELSE', NPI: npi })
    else if (index < 2 * PLANTED) planted.leie.push({ ...person, DOB: BORN.replaceAll('-', '') })
    else if (index < 3 * PLANTED) planted.leie.push({ ...person, DOB: '' })
    else if (index < 4 * PLANTED) planted.sam.push({ First: 'ROBIN', Last: lastName, 'State / Province': 'NV' })
    else if (index < 5 * PLANTED) planted.sam.push({ First: 'ROBIN', Last: lastName, 'State / Province': 'CA' })
    const keys = matchKeysOf(secret, {
      ...{
        lastName,
        firstName: 'ROBIN',
        states: ['NV'],
        birthDate: index % 2 === 0 && index >= 5 * PLANTED ? null : BORN,
      },
    })
    return { npi, keys, user: newAccountId('usr'), id: newId('prs', scope.environment) }
  })
  await owner(
    `INSERT INTO users (account_id, id, email, role) SELECT $1, id, id || '@bench.example', 'approver' FROM unnest($2::text[]) AS u (id)`,
    [scope.accountId, rows.map(({ user }) => user)],
  )
  await owner(
    `INSERT INTO prescribers (account_id, environment, id, user_id, npi, sealed_person, match_full, match_name, match_states,
       created_by, created_at, updated_at)
     SELECT $1, $2, id, user_id, npi, '\\x00', match_full, match_name, ARRAY[match_state], 'bench', now(), now()
     FROM unnest($3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::bytea[])
       AS p (id, user_id, npi, match_full, match_name, match_state)`,
    [
      ...[scope.accountId, scope.environment],
      rows.map(({ id }) => id),
      rows.map(({ user }) => user),
      rows.map(({ npi }) => npi),
      rows.map(({ keys }) => keys.fullKey),
      rows.map(({ keys }) => keys.nameKey),
      rows.map(({ keys }) => keys.stateKeys[0]),
    ],
  )
  return planted
}

async function write({ directory }: Stage, name: string, lines: Generator<string>): Promise<string> {
  const path = join(directory, name)
  await pipeline(Readable.from(lines), createWriteStream(path))
  return path
}

/** Seconds from the beginning of the upload to the end of the import. */
async function importFile({ key }: Stage, web: Process, list: 'leie' | 'sam', file: Readable): Promise<number> {
  const startedAt = performance.now()
  const name = list === 'leie' ? 'UPDATED.csv' : 'SAM_Exclusions_Public_Extract_V2.CSV'
  const response = await fetch(
    `http://127.0.0.1:${web.port}/v1/clinical/exclusion-lists/${list}/import?force=true&file_name=${name}`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'text/csv' },
      body: Readable.toWeb(file) as ReadableStream,
      duplex: 'half',
    } as RequestInit,
  )
  const made = (await response.json()) as { exclusion_import_id?: string }
  if (response.status !== 202) throw new Error(`the upload was answered ${response.status}: ${JSON.stringify(made)}`)
  for (;;) {
    const path = `/v1/clinical/exclusion-imports/${made.exclusion_import_id}?wait=30`
    const { status, failure } = (await call(web, key, path)) as { status: string; failure: unknown }
    if (status === 'succeeded') return (performance.now() - startedAt) / 1_000
    if (status === 'failed') throw new Error(`the import failed: ${JSON.stringify(failure)}`)
  }
}

/** Resolves when no screening is to come. */
async function settled({ owner }: Stage): Promise<void> {
  for (;;) {
    const [row] = await owner<{ open: string }>(
      `SELECT count(*) AS open FROM jobs WHERE queue = 'exclusions' AND state IN ('queued', 'dispatched')`,
    )
    if (row?.open === '0') return
    await delay(50)
  }
}

async function judgeFindings({ owner, scope }: Stage): Promise<Verdict> {
  const rows = await owner<{ status: string; count: number }>(
    `SELECT status, count(*)::int AS count FROM (
       SELECT DISTINCT ON (prescriber_id) status FROM exclusion_changes WHERE account_id = $1
       ORDER BY prescriber_id, screening_id DESC) c WHERE status <> 'clear' GROUP BY status ORDER BY status`,
    [scope.accountId],
  )
  const found = Object.fromEntries(rows.map(({ status, count }) => [status, count]))
  const isRight = found.excluded === 2 * PLANTED && found.review === 2 * PLANTED
  return judged(
    'exclusions, findings',
    `${found.excluded} excluded and ${found.review} under review (bar ${2 * PLANTED} each: those planted and no other)`,
    isRight,
  )
}

async function call(web: Process, key: string, path: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${web.port}${path}`, { headers: { Authorization: `Bearer ${key}` } })
  if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`)
  return response.json()
}

function steady(ask: () => Promise<unknown>, ms: number): Promise<number[]> {
  return steadyUntil(ask, delay(ms))
}

/** Milliseconds of each request, at a steady rate until `end`. */
async function steadyUntil(ask: () => Promise<unknown>, end: Promise<unknown>): Promise<number[]> {
  let hasEnded = false
  void end.then(() => {
    hasEnded = true
  })
  const asked: Promise<number>[] = []
  do {
    const startedAt = performance.now()
    asked.push(ask().then(() => performance.now() - startedAt))
    await delay(1_000 / ASKED_A_SECOND)
  } while (!hasEnded)
  return Promise.all(asked)
}
