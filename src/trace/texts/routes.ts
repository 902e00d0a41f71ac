import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { chatRole } from '../canaries/input.ts'
import { endWithTrace, type TraceOwner } from '../canaries/traces.ts'
import { finishReasonView, toolCallsView, toTraceView, traceView } from '../canaries/views.ts'
import type { KeptTexts, TraceTexts } from './texts.ts'

const messageView = z.object({ role: chatRole, content: z.string() }).meta({ id: 'TracedMessage' })

const textsView = z
  .object({
    trace_id: z.string(),
    input: z
      .object({ messages: z.array(messageView).optional(), text: z.string().optional() })
      .meta({ id: 'TracedPrompt' })
      .describe('As the model got it, and as `prompt_hash` covers it: a conversation or a text.'),
    completion: z.string().nullable().describe('null where it was withheld: then it was never kept.'),
    tool_calls: toolCallsView.optional(),
    finish_reason: finishReasonView,
    text_until: timestampView.nullable().describe('Until when the texts are kept.'),
  })
  .meta({ id: 'TraceTexts' })

const common = {
  path: '/v1/trace/traces/:id/texts',
  params: idParams('trc'),
} as const

export function traceTextRoutes(texts: TraceTexts): Route[] {
  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        operationId: 'getTraceTexts',
        sdk: 'trace.texts.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'What a model was given and what it said, where the texts are kept',
        scope: 'escalate',
        permission: 'texts.read',
        audits: 'trace_texts.read',
        view: textsView,
        status: [200],
      },
      async ({ caller, params }) => toTextsView(await texts.read(caller, params.id), caller),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        operationId: 'eraseTraceTexts',
        sdk: 'trace.texts.delete',
        effect: 'destructive',
        kind: 'call',
        summary: 'Erase the texts of a trace permanently; hashes and readings stay',
        scope: 'admin',
        permission: 'texts.erase',
        audits: 'trace_texts.erased',
        view: traceView,
        status: [200],
      },
      async ({ caller, params, requestId, idempotencyKey: key }) =>
        toTraceView(await texts.erase(caller, params.id, { requestId, key }), caller),
      async ({ caller, params }) => toTraceView(await texts.find(caller, params.id), caller),
    ),
  ]
}

function toTextsView({ trace, content }: KeptTexts, owner: TraceOwner): z.input<typeof textsView> {
  const { inference, createdAt } = trace
  const { input, completion, toolCalls = [] } = content
  const isWithheld = inference.completionHash === null
  return {
    trace_id: trace.id,
    input: {
      ...('messages' in input && { messages: input.messages.map((message) => ({ ...message })) }),
      ...('text' in input && { text: input.text }),
    },
    completion: isWithheld ? null : (completion ?? null),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => ({ ...call })) }),
    finish_reason: inference.finishReason,
    text_until: inference.textUntil && endWithTrace(inference.textUntil, createdAt, owner).toISOString(),
  }
}
