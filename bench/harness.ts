// Floor and ours in turns (A B A B ...), so that a machine whose speed drifts slows both: the ratio counts, absolute
// figures are a note.

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createDatabase, type Database } from '#src/platform/db/database.ts'
import { startEmbeddedPostgres } from '#src/platform/db/embedded.ts'
import { migrate } from '#src/platform/db/migrate.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'

/** One measured run: a rate (higher is better) or a time (lower is better), in the unit that the benchmark names. */
export type Measure = () => Promise<number>

interface Comparison {
  name: string
  unit: string
  floor: { label: string; run: Measure }
  ours: { label: string; run: Measure }
  /** What the ratio ours/floor should reach; for times, what it should stay under. */
  bar: number
  isTime?: boolean
  rounds?: number
}

export interface Verdict {
  name: string
  line: string
  isReached: boolean
}

/** Warms both up once, then runs them in turns and prints medians, ranges and the ratio. */
export async function compare({
  name,
  unit,
  floor,
  ours,
  bar,
  isTime = false,
  rounds = 3,
}: Comparison): Promise<Verdict> {
  const floors: number[] = []
  const own: number[] = []
  await floor.run()
  await ours.run()
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await floor.run())
    own.push(await ours.run())
  }
  const ratio = median(own.map((value, round) => value / (floors[round] ?? Number.NaN)))
  const isReached = isTime ? ratio <= bar : ratio >= bar
  const line =
    `${ours.label} ${describe(own, unit)}; floor ${floor.label} ${describe(floors, unit)}; ` +
    `ratio ${ratio.toFixed(2)} (bar ${isTime ? '<=' : '>='} ${bar}${isReached ? '' : ', missed'})`
  print(`${name}: ${line}`)
  return { name, line, isReached }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The p-th percentile (0 to 100), nearest rank. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? Number.NaN
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Adds a dated section with the machine and the command to bench/README.md. */
export function record(name: string, lines: readonly string[]): void {
  const [cpu] = cpus()
  const machine = `${cpus().length} cores${cpu === undefined ? '' : ` (${cpu.model.trim()})`}, ${Math.round(totalmem() / 2 ** 30)} GiB, kernel ${release()}`
  const head = `### ${name}: ${new Date().toISOString().slice(0, 10)}`
  const body = lines.map((line) => `- ${line}`).join('\n')
  const text = `\n${head}\n\n\`npm run bench -- ${name}\` on ${machine}, Node ${process.versions.node}\n\n${body}\n`
  appendFileSync(new URL('./README.md', import.meta.url), text)
}

export interface Stage {
  directory: string
  db: Database
  url: string
  ownerUrl: string
  scope: Scope
  close(): Promise<void>
}

/** A migrated database of its own on embedded Postgres, as durable as in production. */
export async function openStage({ poolSize = 4 }: { poolSize?: number } = {}): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  const postgres = await startEmbeddedPostgres({ directory, database: 'countersign' })
  const login = new URL(postgres.ownerUrl)
  login.username = 'countersign'
  await migrate({ ownerUrl: postgres.ownerUrl, loginUrl: login.href, migrateEngine })
  const db = createDatabase({ url: login.href, poolSize })
  const account = await createAccounts({ db }).create({ id: newAccountId('acc'), name: 'Bench', plan: 'enterprise' })
  return {
    directory,
    db,
    url: login.href,
    ownerUrl: postgres.ownerUrl,
    scope: { accountId: account.id, environment: 'sandbox' },
    async close() {
      await db.close()
      await postgres.release()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function describe(values: readonly number[], unit: string): string {
  const round = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2))
  return `${round(median(values))} ${unit} (${round(Math.min(...values))} to ${round(Math.max(...values))})`
}
