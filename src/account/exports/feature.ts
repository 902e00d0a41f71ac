import { defineFeature, type Platform, type TenantTable } from '#src/platform/feature.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { HOUR_MS } from '#src/platform/retention.ts'
import { createReadAudit } from '../audit/reads.ts'
import { createExportWork } from './export.ts'
import { createExports } from './exports.ts'
import { NOTES } from './notes.ts'
import { exportRoutes } from './routes.ts'
import { findEndedExports } from './rows.ts'

export type ExportsFeature = ReturnType<typeof exportsFeature>

/** Archives of everything that an account has. @param tables Of all features. */
export function exportsFeature(p: Platform, tables: () => readonly TenantTable[]) {
  const waits = createPolledWaits({ db: p.db, reason: 'awaited exports', find: findEndedExports })
  p.onClose(waits.close, 'waits for exports')
  const accountExports = createExports({ ...p, waits, recordRead: createReadAudit(p) })
  return defineFeature(
    {
      name: 'exports',
      routes: exportRoutes(accountExports),
      notes: NOTES,
      work: { export: () => createExportWork({ ...p, tables }) },
      retention: [
        {
          per: 'tenant',
          what: 'account_exports',
          everyMs: HOUR_MS,
          days: 0,
          purge: (scope, _before, signal) => accountExports.expire(scope, signal),
        },
      ],
      data: [{ table: 'account_exports', key: ['id'], isOfAccount: true }],
    },
    { accountExports },
  )
}
