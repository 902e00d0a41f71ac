import { z } from 'zod'
import { Failure, invalidField } from '#src/failure.ts'
import { replyVersion, requireIfMatch, toDocumentView } from '#src/platform/http/documents.ts'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { parsePrefer, replyWaited, waitQuery } from '#src/platform/http/prefer.ts'
import { workStatusView } from '#src/platform/http/views.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { ScreeningBatchRow } from './batch-rows.ts'
import { MAX_BATCH_BYTES, type ScreeningBatches } from './batches.ts'
import { MAX_BODY_BYTES, screenRequest, settingsDocument } from './requests.ts'
import type { ScreeningRow } from './rows.ts'
import type { Screenings } from './screenings.ts'
import type { ScreeningSettings, ScreeningSettingsStore } from './settings.ts'
import { SCREENING_CODES } from './thresholds.ts'
import {
  screeningBatchView,
  screeningSettingsView,
  screeningView,
  statusesOf,
  toScreeningBatchView,
  toScreeningView,
} from './views.ts'

const JSON_ARRAY = 'application/json'

const settingsBody = z.strictObject({ document: settingsDocument })

const common = { scope: 'screen', permission: 'screening.use' } as const
const reading = { ...common, permission: 'screening.read' } as const
const ofAccount = {
  scope: 'admin',
  permission: 'policy.write',
  needsAccountKey: true,
  path: '/v1/account/screening',
} as const

export function screenRoutes(
  screenings: Screenings,
  batches: ScreeningBatches,
  settings: ScreeningSettingsStore,
): Route[] {
  /** @param applied What was applied of the header Prefer. @param status Of a replay: that of the first answer. */
  function answer(row: ScreeningRow, applied?: string, status?: number) {
    const isQueued = row.status === 'queued'
    const location = `/v1/media/screenings/${row.id}`
    const retryAfterSeconds = screenings.retryAfterSeconds()
    return replyWaited(toScreeningView(row), { isQueued, location, applied, retryAfterSeconds, status })
  }

  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/media/screen',
        operationId: 'screenMedia',
        sdk: 'screenings.create',
        effect: 'write',
        kind: 'wait',
        summary: 'Ask the detector of synthetic media about one image and wait for its scores',
        meters: 'screen',
        waits: true,
        body: screenRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        inlineBytes: '/media/data',
        view: screeningView,
        status: [202, 200],
      },
      async ({ caller, body, bytesOf, header, signal, idempotencyKey: key }) => {
        const { waitSeconds, applied } = parsePrefer(header('prefer'))
        return answer(await screenings.screen(caller, body, { bytesOf, waitSeconds, signal, key }), applied)
      },
      async ({ caller, header, signal }, id, status) => {
        const { waitSeconds, applied } = parsePrefer(header('prefer'))
        return answer(await screenings.awaitScreening(caller, id, waitSeconds, signal), applied, status)
      },
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/media/screenings',
        operationId: 'listScreenings',
        sdk: 'screenings.list',
        effect: 'read',
        kind: 'list',
        summary: 'Screenings, newest first',
        query: z.object({
          ...listQuery,
          claim_id: z.string().max(64).optional(),
          media_id: z.string().max(64).optional(),
          screening_batch_id: z.string().max(64).optional(),
          status: several(workStatusView).optional(),
          factor: z.enum(SCREENING_CODES).meta({ id: 'ScreeningCode' }).optional(),
        }),
        view: listOf(screeningView),
        status: [200],
      },
      async ({ caller, query }) => {
        checkFilter('claim_id', query.claim_id, 'clm', caller)
        checkFilter('media_id', query.media_id, 'med', caller)
        checkFilter('screening_batch_id', query.screening_batch_id, 'bat', caller)
        const filter = {
          claimId: query.claim_id,
          mediaId: query.media_id,
          batchId: query.screening_batch_id,
          statuses: query.status === undefined ? undefined : statusesOf(query.status),
          factor: query.factor,
          createdFrom: query.created_gte === undefined ? undefined : new Date(query.created_gte),
          createdBefore: query.created_lt === undefined ? undefined : new Date(query.created_lt),
        }
        const { data, totalCount, ...page } = await screenings.list(caller, filter, query)
        return {
          ...page,
          data: data.map(toScreeningView),
          ...(totalCount === undefined ? {} : { total_count: totalCount }),
        }
      },
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/media/screenings/:id',
        operationId: 'getScreening',
        sdk: 'screenings.retrieve',
        effect: 'read',
        kind: 'wait',
        params: idParams('scr'),
        summary: 'One screening',
        query: z.object({ wait: waitQuery.default(0) }),
        view: screeningView,
        status: [200, 202],
      },
      async ({ caller, params, query, signal }) =>
        answer(await screenings.awaitScreening(caller, params.id, query.wait, signal)),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/media/screenings/batches',
        operationId: 'submitScreeningBatch',
        sdk: 'screenings.batches.create',
        effect: 'write',
        kind: 'upload',
        summary: 'Screen up to 10,000 uploaded images, one JSON value per line or one array',
        meters: 'screen',
        // The body is read, so that a repeat is found by its Idempotency-Key.
        knowsRepeats: true,
        rawBody: { contentTypes: [NDJSON_TYPE, JSON_ARRAY], isKept: true },
        maxBodyBytes: MAX_BATCH_BYTES,
        view: screeningBatchView,
        status: [202],
      },
      async ({ caller, stream, header, idempotencyKey }) => {
        const isArray = (header('content-type') ?? '').trimStart().toLowerCase().startsWith(JSON_ARRAY)
        return accepted(await batches.submit(caller, { stream, isArray, idempotencyKey }))
      },
      async ({ caller }, id) => accepted(await batches.get(caller, id)),
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/media/screenings/batches/:id',
        operationId: 'getScreeningBatch',
        sdk: 'screenings.batches.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('bat'),
        summary: 'The progress of a batch of screenings, and the refused lines',
        view: screeningBatchView,
        status: [200],
      },
      async ({ caller, params }) => toScreeningBatchView(await batches.get(caller, params.id)),
    ),
    endpoint(
      {
        ...ofAccount,
        permission: 'policy.read',
        method: 'GET',
        operationId: 'getScreeningSettings',
        sdk: 'screenings.settings.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'The scores from which on a review is recommended, or a factor is raised, with their version as ETag',
        view: screeningSettingsView,
        status: [200],
      },
      async ({ caller }) => answerSettings(await settings.find(caller)),
    ),
    endpoint(
      {
        ...ofAccount,
        audits: 'screening_settings.changed',
        method: 'PUT',
        operationId: 'replaceScreeningSettings',
        sdk: 'screenings.settings.update',
        effect: 'write',
        kind: 'call',
        summary: 'Set the scores from which on a review is recommended, or a factor is raised',
        body: settingsBody,
        view: screeningSettingsView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, header }) => {
        const expected = requireIfMatch(header('If-Match'))
        return answerSettings(await settings.put(caller, { document: body.document, expected }, idempotencyKey))
      },
      async ({ caller }) => answerSettings(await settings.find(caller)),
    ),
  ]
}

function answerSettings(stored: ScreeningSettings) {
  return replyVersion(toDocumentView(stored))
}

function accepted(row: ScreeningBatchRow) {
  return reply(202, toScreeningBatchView(row), { Location: `/v1/media/screenings/batches/${row.id}` })
}

// A malformed id would match no row, and the caller would not see the typing error.
function checkFilter(name: string, id: string | undefined, type: 'clm' | 'med' | 'bat', { environment }: Scope): void {
  try {
    if (id !== undefined) checkId(id, type, environment)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_found') throw error
    throw invalidField(`?${name}`, 'invalid_id', error.message)
  }
}
