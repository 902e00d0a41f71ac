import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { TRACED_INFERENCE } from '../inferences/notes.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/trace/traces/:id/texts': {
    description:
      'For the person who reviews a lock. Texts are kept of inferences with `retain: "text"` alone; of any other trace the answer is ' +
      '`text_not_kept`. A completion that was withheld is kept nowhere. Each read is in the audit log (`trace_texts.read`).',
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
      'Immediate and permanent. Erased are the texts that `retain` kept, and the manifests of all attribution jobs of the trace, which have ' +
      'the prompt in them; jobs that have not ended are cancelled, and shares show the readings alone. Hashes, readings and the entries of the ' +
      'decision ledger stay. The answer is the trace, with `text_until` null. The audit log has it (`trace_texts.erased`). Sent ' +
      'again, it changes nothing.',
    answers: { 200: { example: TRACED_INFERENCE } },
    problems: ['environment_mismatch', 'not_found'],
  },
}
