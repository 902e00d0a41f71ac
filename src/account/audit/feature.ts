import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { Accounts } from '../keys/accounts.ts'
import { createAuditLog } from './audit.ts'
import { NOTES } from './notes.ts'
import { createRefusalAudit } from './refusals.ts'
import { auditRetention } from './retention.ts'
import { auditRoutes } from './routes.ts'

export type AuditFeature = ReturnType<typeof auditFeature>

/** The audit log of an account. Entries are written by what they record: see record.ts and reads.ts. */
export function auditFeature(p: Platform, accounts: Pick<Accounts, 'find'>) {
  const auditLog = createAuditLog(p)
  const refusals = createRefusalAudit(p)
  p.onClose(refusals.close, 'refusals')
  const findPlan = async (id: string) => (await accounts.find(id))?.plan
  return defineFeature(
    {
      name: 'audit',
      data: [{ table: 'audit_entries', key: ['id'], isOfAccount: true }],
      routes: auditRoutes(auditLog),
      notes: NOTES,
      retention: [auditRetention({ ...p, findPlan })],
    },
    { auditLog, refusals },
  )
}
