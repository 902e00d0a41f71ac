// The operator's lists, for accounts without a list of their own: fetched from a mirror by the clock, or imported by a command. What a
// mirror serves again is fetched without its bytes where it knows ETags, and is imported once.

import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { OPERATOR, type Outbound } from '#src/platform/net/outbound.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { ExclusionSettings } from './config.ts'
import { type Exclusions, type ListUpload, MAX_UPLOAD_BYTES } from './exclusions.ts'
import type { ListName } from './formats.ts'
import type { ListImporter } from './import.ts'
import { findImport, type ImportRow } from './rows.ts'

/** The operator's imports and pointers belong to the service's own account. */
export const OPERATOR_SCOPE: Scope = { accountId: SERVICE_ACCOUNT_ID, environment: 'live' }

/** SAM packed has some 10 MB, LEIE 16 MB. The answer is in memory. */
const MAX_BYTES = 64 * 1024 * 1024
const TIMEOUT_MS = 120_000

export interface MirrorDeps {
  outbound: Pick<Outbound, 'send'>
  store: Pick<BlobStore, 'put'>
  exclusions: Pick<Exclusions, 'insertOperators'>
  log: Log
}

/** Returns how many imports it queued. */
export function createMirror({ outbound, store, exclusions, log }: MirrorDeps, settings: ExclusionSettings) {
  const addresses: Record<ListName, string | undefined> = {
    leie: settings.EXCLUSION_LEIE_URL,
    sam: settings.EXCLUSION_SAM_URL,
  }
  const tags = new Map<string, string>()

  return async function fetchLists(signal: AbortSignal): Promise<number> {
    let queued = 0
    for (const [list, url] of Object.entries(addresses) as [ListName, string | undefined][]) {
      if (url !== undefined && !signal.aborted && (await fetchList(list, url, signal))) queued += 1
    }
    return queued
  }

  async function fetchList(list: ListName, url: string, signal: AbortSignal): Promise<boolean> {
    const tag = tags.get(url)
    const answer = await outbound.send({
      account: OPERATOR,
      url,
      environment: url.startsWith('http:') ? 'sandbox' : 'live',
      method: 'GET',
      headers: tag === undefined ? {} : { 'if-none-match': tag },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      signal,
    })
    const problem = !answer.ok
      ? answer.code
      : answer.isTruncated
        ? 'too_large'
        : answer.status === 200 || answer.status === 304
          ? undefined
          : `status ${answer.status}`
    if (!answer.ok || problem !== undefined) {
      log.warn({ reason: `${list}: ${problem}` }, 'the mirror of an exclusion list did not answer with the list')
      return false
    }
    if (answer.status === 304) return false
    const { sha256, size } = await store.put(OPERATOR_SCOPE, pieces(answer.body), { maxBytes: MAX_BYTES })
    const fileName = new URL(url).pathname.split('/').at(-1) || undefined
    const upload = { list, fileName, kind: 'full' as const, isForced: false, sha256, size }
    const row = await exclusions.insertOperators(OPERATOR_SCOPE, upload, { isQueued: true })
    // Only now: an import that could not be queued is fetched again.
    const next = answer.headers.get('etag')
    if (next !== undefined) tags.set(url, next)
    return row !== undefined
  }
}

async function* pieces(body: Buffer): AsyncGenerator<Buffer> {
  yield body
}

export interface OperatorImportDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'put'>
  exclusions: Pick<Exclusions, 'insertOperators'>
  importList: ListImporter
}

export type OperatorImports = ReturnType<typeof createOperatorImports>

/** For the operator's command: the file is imported in the process of the command. */
export function createOperatorImports({ db, store, exclusions, importList }: OperatorImportDeps) {
  return {
    /**
     * Returns the import as it ended: a refused file is no error here.
     * @throws {Error} when the file can't be read; {Failure} `payload_too_large`.
     */
    async importFile(path: string, wanted: Omit<ListUpload, 'fileName'>): Promise<ImportRow> {
      const stored = await store.put(OPERATOR_SCOPE, createReadStream(path), { maxBytes: MAX_UPLOAD_BYTES })
      const upload = { ...wanted, fileName: basename(path), ...stored }
      const row = await exclusions.insertOperators(OPERATOR_SCOPE, upload, { isQueued: false })
      if (row === undefined) throw new Error('the import was not stored')
      await importList(OPERATOR_SCOPE, row.id, { settle: async () => {}, signal: new AbortController().signal })
      const ended = await db.tenant(OPERATOR_SCOPE, (tx) => findImport(tx, OPERATOR_SCOPE, row.id))
      if (ended === undefined) throw new Error('the import is gone')
      return ended
    },
  }
}
