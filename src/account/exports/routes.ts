import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { parseByteRange } from '#src/platform/http/request-headers.ts'
import { timestampView, type WorkStatus, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import type { AccountExports, ShownExport } from './exports.ts'

const ZIP_TYPE = 'application/zip'

const exportView = z
  .object({
    export_id: z.string(),
    status: workStatusView,
    failure: workFailureView('ExportFailure', ['export_failed']).nullable(),
    includes_media: z.boolean(),
    requested_by: actorView,
    progress: z.object({ files: z.number().int(), rows: z.number().int() }).meta({ id: 'ExportProgress' }),
    size: z.number().int().nullable().describe('Bytes of the archive.'),
    sha256: z.string().nullable().describe('SHA-256 of the archive, in hexadecimal.'),
    created_at: timestampView,
    finished_at: timestampView.nullable(),
    expires_at: timestampView.nullable().describe('The archive can be downloaded until then.'),
  })
  .meta({ id: 'AccountExport' })

const params = z.object({
  id: z.string().meta({ description: '`exp_` and 26 characters.', pattern: '^exp_[0-7][0-9a-hjkmnp-tv-z]{25}$' }),
})
const common = { permission: 'account.export', isAccountLevel: true } as const

export function exportRoutes(exports: AccountExports): Route[] {
  const accepted = (row: ShownExport) => reply(202, toView(row), { Location: `/v1/account/exports/${row.id}` })
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/account/export',
        operationId: 'exportAccount',
        sdk: 'account.exports.create',
        effect: 'write',
        kind: 'call',
        summary: 'Make an archive of everything that the account has',
        audits: 'account.exported',
        isOpenWhenClosed: true,
        body: z
          .strictObject({ include_media: z.boolean().default(false).describe('Photos and videos too.') })
          .default({ include_media: false })
          .meta({ id: 'ExportAccountRequest' }),
        view: exportView,
        status: [202],
      },
      async ({ caller, body, idempotencyKey }) =>
        accepted(await exports.create(caller, { includesMedia: body.include_media }, idempotencyKey)),
      async ({ caller }, id) => accepted(await exports.get(caller, id)),
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/account/exports',
        operationId: 'listAccountExports',
        sdk: 'account.exports.list',
        summary: 'Exports of the account, newest first',
        query: listQuery,
        item: exportView,
      },
      ({ caller, query }) => exports.list(caller, query),
      toView,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/account/exports/:id',
        operationId: 'getAccountExport',
        sdk: 'account.exports.retrieve',
        effect: 'read',
        kind: 'wait',
        params,
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait for its end.') }),
        waits: true,
        summary: 'The status and progress of one export',
        view: exportView,
        status: [200],
      },
      async ({ caller, params: { id }, query, signal }) =>
        toView(await exports.getEnded(caller, id, query.wait, signal)),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/account/exports/:id/download',
        operationId: 'downloadAccountExport',
        sdk: 'account.exports.download',
        effect: 'read',
        kind: 'download',
        params,
        summary: 'Download the archive (ZIP), or one range of it',
        audits: 'account.export_read',
        view: z.never(),
        status: [200, 206],
        streams: { contentType: ZIP_TYPE },
      },
      async ({ caller, params: { id }, header }) => {
        const found = await exports.getReady(caller, id)
        const { size } = found
        const headers = {
          'Content-Type': ZIP_TYPE,
          'Content-Disposition': `attachment; filename="${id}.zip"`,
          ETag: `"${found.sha256.toString('hex')}"`,
          'Accept-Ranges': 'bytes',
        }
        // RFC 9110 13.1.5: a client that has another representation gets the whole one.
        const condition = header('if-range')
        const wanted = condition === undefined || condition === headers.ETag ? header('range') : undefined
        const range = parseByteRange(wanted, size)
        if (range.kind === 'unsatisfiable') {
          throw new Failure('range_not_satisfiable', {
            detail: `The archive has ${size} bytes.`,
            headers: { 'Content-Range': `bytes */${size}` },
          })
        }
        if (range.kind === 'whole') {
          const stream = await exports.open(caller, found)
          return { status: 200, stream, headers: { ...headers, 'Content-Length': String(size) } }
        }
        const { first, last } = range
        const stream = await exports.open(caller, found, { first, last })
        const part = {
          'Content-Range': `bytes ${first}-${last}/${size}`,
          'Content-Length': String(last - first + 1),
        }
        return { status: 206, stream, headers: { ...headers, ...part } }
      },
    ),
  ]
}

function toView(row: ShownExport): z.input<typeof exportView> {
  return {
    export_id: row.id,
    status: statusOf(row.state),
    failure: row.failure === null ? null : { code: 'export_failed' as const, detail: row.failure },
    includes_media: row.includesMedia,
    requested_by: row.requester,
    progress: { files: row.filesDone, rows: row.rowsDone },
    size: row.size,
    sha256: row.sha256?.toString('hex') ?? null,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
  }
}

// An archive that is gone was made.
function statusOf(state: ShownExport['state']): WorkStatus {
  return state === 'ready' || state === 'expired' ? 'succeeded' : state
}
