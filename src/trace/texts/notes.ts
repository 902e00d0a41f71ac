import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { TRACED_INFERENCE } from '../inferences/notes.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/trace/traces/:id/texts': {
    description:
      'Use this to review a lock. Only inferences with `retain: "text"` keep their texts; for other traces the answer ' +
      'is `text_not_kept`. A withheld completion is never stored. Each read is in the audit log (`trace_texts.read`).',
    answers: {
      200: {
        example: {
          trace_id: IDS.trace,
          input: { messages: [{ role: 'user', content: 'What do lamps cost at Cobalt Tools?' }] },
          completion: '',
          tool_calls: [{ name: 'search', arguments: '{"goods": "lamps"}' }],
          finish_reason: 'tool_calls',
          text_until: '2026-11-27T15:11:04.310Z',
        },
      },
    },
    problems: ['environment_mismatch', 'not_found', 'text_not_kept'],
  },
  'DELETE /v1/trace/traces/:id/texts': {
    description:
      'The erasure is immediate and permanent. It deletes the texts that `retain` kept, and the manifests of all ' +
      'attribution jobs of the trace, which contain the prompt. Jobs that have not ended are cancelled, and shares ' +
      'show the readings only. Hashes, readings and the entries of the decision ledger stay. The answer is the trace, ' +
      'with `text_until` null. The audit log records it (`trace_texts.erased`). A repeat changes nothing.',
    answers: { 200: { example: TRACED_INFERENCE } },
    problems: ['environment_mismatch', 'not_found'],
  },
}
