// The work of the queue export: writes everything of an account into one archive in the store. It begins anew after a
// crash; what a broken attempt had written is gone with it. The parts are read one after the other while the service
// works on, so the archive is no snapshot: a row that changes meanwhile is in it before or after the change.

import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { TenantTable } from '#src/platform/feature.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import type { BlobStore, StoredBlob } from '#src/platform/store/blobs.ts'
import { type Archive, type ArchivedFile, createArchive } from './archive.ts'
import {
  type ExportRow,
  failExport,
  findExport,
  finishExport,
  requeueExport,
  startExport,
  updateProgress,
} from './rows.ts'
import { type ExportedRow, readRows } from './tables.ts'

const KEPT_DAYS = 7
/** A ZIP ends with the list of its files, which is kept in memory until then: some hundred bytes for each. */
const MAX_MEDIA = 100_000
const MAX_BYTES = 1024 ** 4
const PROGRESS_MS = 2_000
const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'live']

export interface ExportDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'put' | 'openRead' | 'delete'>
  tables: () => readonly TenantTable[]
  now: () => Date
  maxMedia?: number
}

interface Written {
  files: (ArchivedFile & { rows?: number })[]
  rows: number
  /** Named by a row and not in the store: erased meanwhile. */
  missing: string[]
}

export function createExportWork({ db, store, tables, now, maxMedia = MAX_MEDIA }: ExportDeps): Work<'export'> {
  async function run({ exportId }: { exportId: string }, job: RunningJob): Promise<JobOutcome> {
    const row = await db.tenant(job.scope, (tx) => startExport(tx, exportId))
    if (row === undefined) return { kind: 'done' }
    const written: Written = { files: [], rows: 0, missing: [] }
    try {
      await finish(exportId, job, written, await writeArchive(row, job, written))
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'payload_too_large') throw error
      await db.tenant(job.scope, async (tx) => {
        await failExport(tx, exportId, error.message)
        await job.settle(tx)
      })
    }
    return { kind: 'settled' }
  }

  /** Leaves no archive that no row names: of an erased account, nothing would delete it later. */
  async function finish(exportId: string, job: RunningJob, written: Written, { sha256, size }: StoredBlob) {
    const at = now()
    const made = { files: written.files.length, rows: written.rows, size, sha256, at }
    const expiresAt = new Date(at.getTime() + KEPT_DAYS * DAY_MS)
    try {
      const isFinished = await db.tenant(job.scope, async (tx) => {
        const isFinished = await finishExport(tx, exportId, { ...made, expiresAt })
        await job.settle(tx)
        return isFinished
      })
      if (!isFinished) await store.delete(placeOf(job), sha256)
    } catch (error) {
      // A commit whose answer was lost has named the archive. While Postgres is away, the retention of blobs is left to
      // delete it: the erasure of the account waits for this job.
      const isNamed = async () =>
        (await db.tenant(job.scope, (tx) => findExport(tx, exportId)))?.sha256?.toString('hex')
      if ((await isNamed().catch(() => sha256)) !== sha256) await store.delete(placeOf(job), sha256)
      throw error
    }
  }

  async function writeArchive(row: ExportRow, job: RunningJob, written: Written) {
    const archive = createArchive({ at: row.createdAt })
    const onAbort = () => archive.fail(job.signal.reason)
    job.signal.addEventListener('abort', onAbort, { once: true })
    const storing = store.put(placeOf(job), archive.output, { maxBytes: MAX_BYTES, ownsChunks: true })
    storing.catch(archive.fail)
    try {
      await fill(archive, row, job, written)
      archive.end()
    } catch (error) {
      archive.fail(error)
      await storing.catch(() => {})
      throw error
    } finally {
      job.signal.removeEventListener('abort', onAbort)
    }
    return storing
  }

  async function fill(archive: Archive, row: ExportRow, { scope, signal }: RunningJob, written: Written) {
    const { accountId } = scope
    const exported = tables().filter(({ unexported }) => unexported === undefined)
    let reportedAt = performance.now()
    const report = async () => {
      if (performance.now() - reportedAt < PROGRESS_MS) return
      reportedAt = performance.now()
      const progress = { files: written.files.length, rows: written.rows }
      await db.tenant(scope, (tx) => updateProgress(tx, row.id, progress))
    }

    for (const table of exported) {
      for (const environment of table.isOfAccount ? ENVIRONMENTS.slice(0, 1) : ENVIRONMENTS) {
        const before = written.rows
        const lines = linesOf(readRows(db, { accountId, environment }, table, signal), async (count) => {
          written.rows += count
          await report()
        })
        const file = await archive.add(`${table.isOfAccount ? 'account' : environment}/${table.table}.ndjson`, lines)
        written.files.push({ ...file, rows: written.rows - before })
      }
    }
    if (row.includesMedia) {
      for (const table of exported.filter(({ blobs }) => blobs !== undefined)) {
        for (const environment of ENVIRONMENTS) {
          for await (const rows of readRows(db, { accountId, environment }, table, signal)) {
            await addMedia(archive, { accountId, environment }, rows, written)
            await report()
          }
        }
      }
    }
    await archive.add('manifest.json', [JSON.stringify(manifestOf(row, accountId, written), null, 1)])
  }

  async function addMedia(
    archive: Archive,
    scope: { accountId: string; environment: Environment },
    rows: readonly ExportedRow[],
    written: Written,
  ): Promise<void> {
    for (const { blob } of rows) {
      if (blob === null) continue
      if (written.files.length >= maxMedia) {
        throw new Failure(
          'payload_too_large',
          `An export contains at most ${maxMedia} files: export without media, and download these one by one.`,
        )
      }
      const name = `media/${scope.environment}/${blob.sha256}.${blob.contentType.split('/').at(-1)}`
      const opened = await store.openRead(scope, blob.sha256)
      if (opened === undefined) written.missing.push(name)
      // Photos and videos are compressed already.
      else written.files.push(await archive.add(name, opened.stream, { isCompressed: false }))
    }
  }

  function manifestOf(row: ExportRow, accountId: string, { files, missing }: Written) {
    const left = tables().filter(({ unexported }) => unexported !== undefined)
    return {
      object: 'account_export',
      export_id: row.id,
      account_id: accountId,
      requested_at: row.createdAt.toISOString(),
      finished_at: now().toISOString(),
      includes_media: row.includesMedia,
      files,
      missing_media: missing,
      left_out: left.map(({ table, unexported }) => ({ table, reason: unexported })),
    }
  }

  return {
    run,
    onDead: (tx, _scope, { exportId }) => failExport(tx, exportId, 'The export failed repeatedly. Request another.'),
    onRedrive: (tx, _scope, { exportId }) => requeueExport(tx, exportId),
  }
}

/** An export runs in the live environment; its archive has both. */
function placeOf({ scope: { accountId } }: RunningJob): Scope {
  return { accountId, environment: 'live' }
}

async function* linesOf(
  pages: AsyncIterable<ExportedRow[]>,
  onPage: (count: number) => Promise<void>,
): AsyncGenerator<string> {
  for await (const page of pages) {
    yield page.map(({ line }) => `${line}\n`).join('')
    await onPage(page.length)
  }
}
