import { Readable } from 'node:stream'
import { z } from 'zod'
import { AUDIT_ACTIONS, type AuditAction } from '#src/catalogue/audit.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { accountIdParams, several } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import type { AuditLog, ShownEntry } from './audit.ts'

const action = z.enum(Object.keys(AUDIT_ACTIONS) as [AuditAction, ...AuditAction[]]).meta({ id: 'AuditAction' })
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const filters = {
  action: several(action).optional(),
  actor_id: z.string().max(64).optional().describe('A key or a user.'),
  subject_id: z.string().max(64).optional().describe('What was changed or read.'),
  environment: environment.optional(),
  created_gte: listQuery.created_gte,
  created_lt: listQuery.created_lt,
}

export const auditEntryView = z
  .object({
    audit_entry_id: z.string(),
    at: timestampView,
    action,
    environment: environment.nullable().describe('null: the whole account.'),
    actor: actorView,
    from: z
      .object({ ip: z.string().nullable(), user_agent: z.string().nullable() })
      .meta({ id: 'AuditOrigin' })
      .describe('Members that are not known are null: all of an act of the service itself, or of an operator.'),
    request_id: z.string().nullable(),
    subject_id: z.string().nullable(),
    before: z.unknown().nullable(),
    after: z.unknown().nullable().describe('Of a read: what was read.'),
  })
  .meta({ id: 'AuditEntry' })

const common = {
  method: 'GET',
  scope: 'admin',
  permission: 'audit.read',
  needsAccountKey: true,
  isAccountLevel: true,
} as const

export function auditRoutes(log: AuditLog): Route[] {
  return [
    listEndpoint(
      {
        ...common,
        path: '/v1/account/audit',
        operationId: 'listAuditEntries',
        sdk: 'account.audit.list',
        summary: 'Administrative acts, and reads of photos, videos and evidence packets, newest first',
        query: { ...listQuery, ...filters },
        item: auditEntryView,
      },
      ({ caller, query }) => log.list(caller, query),
      toView,
    ),
    endpoint(
      {
        ...common,
        path: '/v1/account/audit/:id',
        operationId: 'getAuditEntry',
        sdk: 'account.audit.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One entry of the audit log',
        params: accountIdParams('aud'),
        view: auditEntryView,
        status: [200],
      },
      async ({ caller, params }) => toView(await log.get(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        path: '/v1/account/audit/export',
        operationId: 'exportAuditEntries',
        sdk: 'account.audit.export',
        effect: 'read',
        kind: 'lines',
        summary: 'The audit log as NDJSON, oldest first',
        audits: 'audit.exported',
        query: z.object(filters),
        view: z.never(),
        status: [200],
        streams: { contentType: NDJSON_TYPE },
      },
      async ({ caller, query }) => {
        const stream = Readable.from(linesOf(await log.export(caller, query)), { objectMode: false })
        return { status: 200, stream, headers: { 'Content-Disposition': 'attachment; filename="audit.ndjson"' } }
      },
    ),
  ]
}

async function* linesOf(pages: AsyncIterable<ShownEntry[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((entry) => `${JSON.stringify(toView(entry))}\n`).join('')
}

function toView(entry: ShownEntry): z.input<typeof auditEntryView> {
  return {
    audit_entry_id: entry.id,
    at: entry.at.toISOString(),
    action: entry.action,
    environment: entry.environment,
    actor: entry.actor,
    from: { ip: entry.ip, user_agent: entry.userAgent },
    request_id: entry.requestId,
    subject_id: entry.subjectId,
    before: entry.before ?? null,
    after: entry.after ?? null,
  }
}
