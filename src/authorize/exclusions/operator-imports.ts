// The operator's command: imports a local file for all accounts without a list of their own, in the process of the command.

import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { Database } from '#src/platform/db/database.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { type Exclusions, type ListUpload, MAX_UPLOAD_BYTES } from './exclusions.ts'
import type { ListImporter } from './import.ts'
import { OPERATOR_SCOPE } from './mirror.ts'
import { findImport, type ImportRow } from './rows.ts'

export interface OperatorImportDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'put'>
  exclusions: Pick<Exclusions, 'insertOperators'>
  importList: ListImporter
}

export type OperatorImports = ReturnType<typeof createOperatorImports>

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
