import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import { idParams, visibleText } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { evalPrompt, MAX_MESSAGES, MAX_PROMPTS, MAX_SET_BYTES } from './eval-prompts.ts'
import type { EvalSets, ShownEvalSet } from './eval-sets.ts'

// JSON escapes a line break as two bytes.
const MAX_BODY_BYTES = MAX_SET_BYTES + 1_000_000
// The name, and two values of each message.
const MAX_BODY_VALUES = 1 + MAX_PROMPTS * MAX_MESSAGES * 2

const evalSetView = z
  .object({
    eval_set_id: z.string(),
    name: z.string(),
    prompts: z.number().int(),
    sha256: z.string().describe('Of the prompts’ canonical JSON (RFC 8785), in hexadecimal.'),
    created_by: actorView,
    created_at: timestampView,
  })
  .meta({ id: 'EvalSet' })

const evalSetRequest = z
  .strictObject({
    name: visibleText(100),
    prompts: z.array(evalPrompt).min(1).max(MAX_PROMPTS),
  })
  .meta({ id: 'CreateEvalSetRequest' })

const common = { scope: 'intent', needsAccountKey: true } as const
const reading = { ...common, permission: 'traces.read' } as const
const writing = { ...common, permission: 'traces.write' } as const

export function evalSetRoutes(evalSets: EvalSets): Route[] {
  const created = (row: ShownEvalSet) => reply(200, toEvalSetView(row), { Location: `/v1/trace/eval-sets/${row.id}` })
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/trace/eval-sets',
        operationId: 'createEvalSet',
        sdk: 'trace.evalSets.create',
        effect: 'write',
        kind: 'call',
        summary: 'Store prompts to compare models with',
        body: evalSetRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: evalSetView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => created(await evalSets.create(caller, body, idempotencyKey)),
      async ({ caller }, id) => created(await evalSets.get(caller, id)),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/trace/eval-sets',
        operationId: 'listEvalSets',
        sdk: 'trace.evalSets.list',
        summary: 'Evaluation sets of the account, newest first',
        query: pageQuery,
        item: evalSetView,
      },
      ({ caller, query }) => evalSets.list(caller, query),
      toEvalSetView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/eval-sets/:id',
        operationId: 'getEvalSet',
        sdk: 'trace.evalSets.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('evs'),
        summary: 'One evaluation set, without its prompts',
        view: evalSetView,
        status: [200],
      },
      async ({ caller, params }) => toEvalSetView(await evalSets.get(caller, params.id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'DELETE',
        path: '/v1/trace/eval-sets/:id',
        operationId: 'deleteEvalSet',
        sdk: 'trace.evalSets.delete',
        effect: 'destructive',
        kind: 'call',
        params: idParams('evs'),
        summary: 'Delete an evaluation set. Diffs of it that have not ended fail.',
        view: z.object({ eval_set_id: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedEvalSet' }),
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => {
        await evalSets.remove(caller, params.id, idempotencyKey)
        return { eval_set_id: params.id, deleted: true as const }
      },
      async (_, id) => ({ eval_set_id: id, deleted: true as const }),
    ),
  ]
}

function toEvalSetView(row: ShownEvalSet): z.input<typeof evalSetView> {
  return {
    eval_set_id: row.id,
    name: row.name,
    prompts: row.prompts,
    sha256: row.sha256.toString('hex'),
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
  }
}
