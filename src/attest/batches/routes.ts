import { z } from 'zod'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { createdBetween, listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { type Batches, MAX_BATCH_BYTES, type SubmittedBatch } from './batches.ts'
import {
  batchSummary,
  batchView,
  cancelView,
  submittedView,
  toBatchSummary,
  toBatchView,
  toSubmittedView,
} from './views.ts'

const JSON_ARRAY = 'application/json'

export function batchRoutes(batches: Batches): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/claims/batches',
        operationId: 'submitBatch',
        sdk: 'claims.batches.create',
        effect: 'write',
        kind: 'upload',
        summary: 'Submit up to 10,000 captures, one JSON value per line or one array; their media are uploaded before',
        scope: 'attest',
        permission: 'claims.submit',
        meters: 'attest',
        // Line by line: a line may repeat an earlier one.
        knowsRepeats: true,
        rawBody: { contentTypes: [NDJSON_TYPE, JSON_ARRAY], isKept: true },
        maxBodyBytes: MAX_BATCH_BYTES,
        view: submittedView,
        status: [202],
      },
      async ({ caller, stream, header, signal, idempotencyKey }) => {
        const isArray = (header('content-type') ?? '').trimStart().toLowerCase().startsWith(JSON_ARRAY)
        return accepted(await batches.submit(caller, { stream, isArray, signal, idempotencyKey }))
      },
      async ({ caller }, id) => accepted(await batches.getSubmitted(caller, id)),
    ),
    listEndpoint(
      {
        path: '/v1/claims/batches',
        operationId: 'listBatches',
        sdk: 'claims.batches.list',
        summary: 'Batches, newest first',
        scope: 'attest',
        permission: 'claims.read',
        query: listQuery,
        item: batchSummary,
      },
      ({ caller, query }) => batches.list(caller, createdBetween(query), query),
      ({ row, counts }) => toBatchSummary(row, counts),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims/batches/:id',
        operationId: 'getBatch',
        sdk: 'claims.batches.retrieve',
        effect: 'read',
        kind: 'wait',
        params: idParams('bat'),
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait for its end.') }),
        waits: true,
        summary: 'The progress of a batch, and its findings so far',
        scope: 'attest',
        permission: 'claims.read',
        view: batchView,
        status: [200],
      },
      async ({ caller, params, query, signal }) =>
        toBatchView(await batches.awaitEnd(caller, params.id, query.wait, signal)),
    ),
    listEndpoint(
      {
        path: '/v1/claims/batches/:id/rejected',
        operationId: 'listRejectedLines',
        sdk: 'claims.batches.listRejected',
        params: idParams('bat'),
        summary: 'The lines of a batch that were refused, by line',
        scope: 'attest',
        permission: 'claims.read',
        query: pageQuery,
        item: rejectedLineView,
      },
      ({ caller, params, query }) => batches.listRejected(caller, params.id, query),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims/batches/:id/results',
        operationId: 'downloadBatchResults',
        sdk: 'claims.batches.results',
        effect: 'read',
        kind: 'lines',
        params: idParams('bat'),
        summary:
          'The results, one per accepted line in the order of the input; the last line has the cursor to continue',
        scope: 'attest',
        permission: 'claims.read',
        query: z.object({
          cursor: listQuery.cursor,
          include: z.enum(['pending']).optional().meta({ description: 'Also lines that are still queued.' }),
        }),
        view: z.never(),
        status: [200],
        streams: { contentType: NDJSON_TYPE },
      },
      async ({ caller, params, query }) => {
        const { cursor, include } = query
        const stream = await batches.results(caller, params.id, { cursor, showsPending: include === 'pending' })
        return { status: 200, stream, headers: {} }
      },
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/claims/batches/:id/cancel',
        operationId: 'cancelBatch',
        sdk: 'claims.batches.cancel',
        effect: 'destructive',
        kind: 'call',
        params: idParams('bat'),
        summary: 'Cancel the lines that have not started',
        scope: 'attest',
        permission: 'claims.submit',
        view: cancelView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => {
        const state = await batches.cancel(caller, params.id, idempotencyKey)
        return { ...toBatchView(state), cancelled: state.cancelled }
      },
      async ({ caller, params }, cancelled) => ({
        ...toBatchView(await batches.get(caller, params.id)),
        cancelled: Number(cancelled),
      }),
    ),
  ]
}

function accepted(state: SubmittedBatch) {
  return reply(202, toSubmittedView(state, state.rejected), { Location: `/v1/claims/batches/${state.row.id}` })
}
