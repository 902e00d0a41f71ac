import { z } from 'zod'
import { checkSessionName } from '#src/agents/registry/session-rows.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { replyVersion, requireIfMatch, toDocumentView } from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParams, several, timestamp } from '#src/platform/http/params.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId } from '#src/platform/ids.ts'
import type { CheckRequest, Checks } from './check.ts'
import { inferenceInput } from './input.ts'
import { type KillSwitches, killSwitchDocument, type StoredKillSwitch } from './kill-switch.ts'
import type { Preview } from './preview.ts'
import { canaryName, readingsBody } from './readings.ts'
import type { Traces } from './traces.ts'
import {
  checkView,
  finishReasonView,
  killSwitchView,
  previewView,
  toCheckView,
  toPreviewView,
  toTraceView,
  traceSourceView,
  traceView,
} from './views.ts'

const SUBJECTS = ['trace_id', 'readings', 'inference_input'] as const

const checkRequest = z
  .strictObject({
    trace_id: z.string().max(64).optional().describe('Of readings that are stored.'),
    readings: readingsBody.optional().describe('Of a model of your own, with `reading_at` and `canary_set`.'),
    reading_at: timestamp.optional(),
    canary_set: canaryName.optional().describe('The set of probes that the readings are of.'),
    inference_input: inferenceInput
      .optional()
      .describe('A model of the service reads it, within 5 seconds. Otherwise the answer is `canary_unavailable`.'),
    agent_id: z.string().max(64).optional(),
    agent_session_id: z.string().min(1).max(200).optional().describe('An id of ours, or a name of your own.'),
  })
  .superRefine((body, context) => {
    const refuse = (path: string, code: FieldErrorCode, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message, params: { code } })
    const [first, second] = SUBJECTS.filter((name) => body[name] !== undefined)
    if (first === undefined)
      refuse('trace_id', 'required', `is required, or ${SUBJECTS.slice(1).join(', or ')} in its place`)
    if (second !== undefined) refuse(second, 'conflict', `must not be sent together with ${first}`)
    for (const name of ['reading_at', 'canary_set'] as const) {
      if (body.readings !== undefined && body[name] === undefined) refuse(name, 'required', 'is required with readings')
      if (body.readings === undefined && body[name] !== undefined) refuse(name, 'conflict', 'belongs to readings')
    }
  })
  .meta({ id: 'CheckCanariesRequest' })

const common = { scope: 'intent' } as const
const killSwitchBody = z.strictObject({ document: killSwitchDocument })
const killSwitch = { scope: 'admin', path: '/v1/trace/kill-switch', needsAccountKey: true } as const

interface CanaryParts {
  checks: Checks
  killSwitches: KillSwitches
  preview: Preview['preview']
  traces: Traces
}

export function canaryRoutes({ checks, traces, ...switching }: CanaryParts): Route[] {
  return [...killSwitchRoutes(switching), checkRoute(checks), ...traceRoutes(traces)]
}

function killSwitchRoutes({ killSwitches, preview }: Pick<CanaryParts, 'killSwitches' | 'preview'>): Route[] {
  const answer = (stored: StoredKillSwitch) => replyVersion(toDocumentView(stored))
  const tryOut = async ({ caller, body }: { caller: Acting; body: z.output<typeof killSwitchBody> }) =>
    toPreviewView(await preview(caller, body.document))
  return [
    endpoint(
      {
        ...killSwitch,
        method: 'GET',
        operationId: 'getKillSwitch',
        sdk: 'trace.killSwitch.retrieve',
        effect: 'read',
        kind: 'call',
        permission: 'policy.read',
        summary: 'The kill switch: what a canary trip does, with its version as ETag',
        view: killSwitchView,
        status: [200],
      },
      async ({ caller }) => answer(await killSwitches.get(caller)),
    ),
    endpoint(
      {
        ...killSwitch,
        method: 'PUT',
        operationId: 'replaceKillSwitch',
        sdk: 'trace.killSwitch.update',
        effect: 'write',
        kind: 'call',
        permission: 'policy.write',
        summary: 'Replace the kill switch, from the next check on',
        isEmergency: true,
        audits: 'kill_switch.changed',
        body: killSwitchBody,
        view: killSwitchView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, header }) => {
        const expected = requireIfMatch(header('If-Match'))
        return answer(await killSwitches.put(caller, { document: body.document, expected }, idempotencyKey))
      },
      async ({ caller }) => answer(await killSwitches.get(caller)),
    ),
    // It creates nothing that a repeated request could show: it is answered anew.
    endpoint(
      {
        ...killSwitch,
        method: 'POST',
        path: '/v1/trace/kill-switch/preview',
        operationId: 'previewKillSwitch',
        sdk: 'trace.killSwitch.preview',
        effect: 'read',
        kind: 'call',
        permission: 'policy.read',
        summary: 'What a kill switch would have done in the last 7 days',
        body: killSwitchBody,
        view: previewView,
        status: [200],
      },
      tryOut,
      tryOut,
    ),
  ]
}

function checkRoute(checks: Checks): Route {
  return endpoint(
    {
      ...common,
      method: 'POST',
      path: '/v1/trace/check',
      operationId: 'checkCanaries',
      sdk: 'trace.check',
      effect: 'write',
      kind: 'call',
      permission: 'traces.write',
      summary: 'Check whether an agent may continue, by its canary readings',
      // Only where an input is read; the check itself is never refused for that.
      meters: 'inference',
      knowsRepeats: true,
      body: checkRequest,
      view: checkView,
      status: [200],
    },
    async (request) => {
      const { caller, body, idempotencyKey: key, overCap } = request
      return toCheckView(await checks.check(caller, requestOf(body), { key, overCap, signal: () => request.signal }))
    },
    async ({ caller, body }, made) => toCheckView(await checks.repeat(caller, requestOf(body), made)),
  )
}

function traceRoutes(traces: Traces): Route[] {
  return [
    listEndpoint(
      {
        ...common,
        path: '/v1/trace/traces',
        operationId: 'listTraces',
        sdk: 'trace.traces.list',
        permission: 'traces.read',
        summary: 'Traces, newest first',
        query: {
          ...listQuery,
          source: traceSourceView.optional(),
          agent_id: z.string().max(64).optional(),
          agent_session_id: z.string().max(200).optional(),
          model: z.string().max(64).optional().describe('Inferences of this model.'),
          finish_reason: several(finishReasonView).optional(),
        },
        item: traceView,
      },
      ({ caller, query }) => {
        const {
          source,
          agent_id: agentId,
          agent_session_id: agentSessionId,
          model,
          finish_reason: finishReasons,
        } = query
        if (agentId !== undefined) checkId(agentId, 'agt', caller.environment)
        if (agentSessionId !== undefined) checkSessionName(agentSessionId, caller.environment)
        const filter = { source, agentId, agentSessionId, model, finishReasons, ...createdBetween(query) }
        return traces.list(caller, filter, query)
      },
      (trace, { caller }) => toTraceView(trace, caller),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/traces/:id',
        operationId: 'getTrace',
        sdk: 'trace.traces.retrieve',
        effect: 'read',
        kind: 'call',
        permission: 'traces.read',
        summary: 'One trace with its canary readings',
        params: idParams('trc'),
        view: traceView,
        status: [200],
      },
      async ({ caller, params }) => toTraceView(await traces.get(caller, params.id), caller),
    ),
  ]
}

function requestOf(body: z.output<typeof checkRequest>): CheckRequest {
  const { readings, reading_at: readingAt, canary_set: canarySet } = body
  const isWhole = readings !== undefined && readingAt !== undefined && canarySet !== undefined
  return {
    traceId: body.trace_id,
    client: isWhole ? { readings, readingAt: new Date(readingAt), canarySet } : undefined,
    inferenceInput: body.inference_input,
    agentId: body.agent_id,
    agentSessionId: body.agent_session_id,
  }
}
