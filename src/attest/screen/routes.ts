import { z } from 'zod'
import { replyVersion, requireIfMatch, toDocumentView } from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { createdBetween, listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { parsePrefer, replyWaited, waitQuery } from '#src/platform/http/prefer.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { checkIdFilter } from '#src/platform/http/validate.ts'
import { workStatusView } from '#src/platform/http/views.ts'
import { MAX_BATCH_BYTES, type ScreeningBatches, type SubmittedScreeningBatch } from './batches.ts'
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
  submittedView,
  toScreeningBatchView,
  toScreeningView,
  toSubmittedView,
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
    listEndpoint(
      {
        ...reading,
        path: '/v1/media/screenings',
        operationId: 'listScreenings',
        sdk: 'screenings.list',
        summary: 'Screenings, newest first',
        query: {
          ...listQuery,
          claim_id: z.string().max(64).optional(),
          media_id: z.string().max(64).optional(),
          screening_batch_id: z.string().max(64).optional(),
          status: several(workStatusView).optional(),
          factor: z.enum(SCREENING_CODES).meta({ id: 'ScreeningCode' }).optional(),
        },
        item: screeningView,
      },
      ({ caller, query }) => {
        checkIdFilter('claim_id', query.claim_id, 'clm', caller)
        checkIdFilter('media_id', query.media_id, 'med', caller)
        checkIdFilter('screening_batch_id', query.screening_batch_id, 'bat', caller)
        const filter = {
          claimId: query.claim_id,
          mediaId: query.media_id,
          batchId: query.screening_batch_id,
          statuses: query.status === undefined ? undefined : statusesOf(query.status),
          factor: query.factor,
          ...createdBetween(query),
        }
        return screenings.list(caller, filter, query)
      },
      toScreeningView,
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
        waits: true,
        view: screeningView,
        status: [200],
      },
      async ({ caller, params, query, signal }) =>
        toScreeningView(await screenings.awaitScreening(caller, params.id, query.wait, signal)),
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
        view: submittedView,
        status: [202],
      },
      async ({ caller, stream, header, idempotencyKey }) => {
        const isArray = (header('content-type') ?? '').trimStart().toLowerCase().startsWith(JSON_ARRAY)
        return accepted(await batches.submit(caller, { stream, isArray, idempotencyKey }))
      },
      async ({ caller }, id) => accepted(await batches.getSubmitted(caller, id)),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/media/screenings/batches',
        operationId: 'listScreeningBatches',
        sdk: 'screenings.batches.list',
        summary: 'Batches of screenings with their progress, newest first',
        query: listQuery,
        item: screeningBatchView,
      },
      ({ caller, query }) => batches.list(caller, createdBetween(query), query),
      toScreeningBatchView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/media/screenings/batches/:id',
        operationId: 'getScreeningBatch',
        sdk: 'screenings.batches.retrieve',
        effect: 'read',
        kind: 'wait',
        params: idParams('bat'),
        summary: 'The progress of a batch of screenings',
        query: z.object({ wait: waitQuery.default(0) }),
        waits: true,
        view: screeningBatchView,
        status: [200],
      },
      async ({ caller, params, query, signal }) =>
        toScreeningBatchView(await batches.awaitBatch(caller, params.id, query.wait, signal)),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/media/screenings/batches/:id/rejected',
        operationId: 'listRejectedScreeningLines',
        sdk: 'screenings.batches.listRejected',
        params: idParams('bat'),
        summary: 'The refused lines of a batch of screenings, in the order of the input',
        query: pageQuery,
        item: rejectedLineView,
      },
      ({ caller, params, query }) => batches.listRejected(caller, params.id, query),
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

function accepted(batch: SubmittedScreeningBatch) {
  return reply(202, toSubmittedView(batch), { Location: `/v1/media/screenings/batches/${batch.id}` })
}
