import type { Note } from '#src/platform/http/openapi.ts'

const evaluation = {
  subject: { type: 'agent_session', id: 'checkout-81723' },
  action: {
    name: 'Pay 120.00 EUR to Example Garage for invoice 2026-118',
    properties: { action_type: 'payment', amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
  },
  resource: { type: 'tool', id: 'payments' },
  context: { intent_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImludGVudCtqd3QifQ.eyJqdGkiOiIuLi4ifQ.c2lnbmF0dXJl' },
}

const of = {
  jti: 'jti_test_01m7x7p3s2e6ts0a9n3v8wq5hc',
  decision_id: 'dec_test_01m7x7p6k2v4c8d5t1h7y2b3ka',
  evaluated_at: '2026-11-20T15:11:04.310Z',
}
const permitted = { decision: true, context: { reason: null, detail: 'The action may run now.', ...of } }
const denied = {
  decision: false,
  context: {
    reason: 'payload_hash_mismatch',
    detail: 'The action payload, or the counterparty beside it, differs from the authorized one.',
    ...of,
  },
}
const unanswered = {
  decision: false,
  context: {
    error: {
      status: 400,
      code: 'invalid_request',
      message: '/context/intent_token is required.',
      errors: [{ pointer: '/context/intent_token', code: 'required', detail: 'is required' }],
    },
  },
}

const KEY =
  'The key with which the same caller executed the action by verify. No answer is stored with it. A key that has executed ' +
  'another token or action is idempotency_key_reused.'

const single: Note = {
  description: `The verification of a token in the form of the AuthZEN Authorization API 1.0: see [AuthZEN]({base_url}/docs/authorize/authzen). It
is as \`POST /v1/intent/verify\` with \`execute: false\`, and is recorded and counted as one. \`decision\` is \`valid\`; \`context\` has the
other members of that answer. An action that was executed before is denied with \`token_already_executed\` or
\`schedule_already_executed\`, unless the caller is the one that executed it and sends the same Idempotency-Key: then it is permitted with
\`already_executed\` in \`context\`.

Unknown members are ignored. \`X-Request-ID\` is returned as it came.`,
  headers: { 'Idempotency-Key': KEY },
  examples: { payment: evaluation },
  answers: { 200: { examples: { permitted, denied, unanswered } } },
  problems: ['environment_mismatch'],
}
const several: Note = {
  description: `Up to 20 evaluations, each as \`POST /v1/access/evaluation\`, answered in their order. What an evaluation lacks
(\`subject\`, \`action\`, \`resource\`, \`context\`) is that of the request, as a whole. With \`deny_on_first_deny\` and
\`permit_on_first_permit\` the answers end with the one that decides. Without \`evaluations\` the request is one evaluation.`,
  headers: { 'Idempotency-Key': KEY },
  examples: {
    'Two actions in one session': {
      subject: evaluation.subject,
      resource: evaluation.resource,
      evaluations: [{ action: evaluation.action, context: evaluation.context }, { action: evaluation.action }],
      options: { evaluations_semantic: 'execute_all' },
    },
  },
  answers: { 200: { examples: { several: { evaluations: [permitted, denied, unanswered] }, one: permitted } } },
  problems: ['environment_mismatch'],
}

/** The same at a path of the standard. */
const atStandardPath = (note: Note, path: string): Note => ({
  ...note,
  description: `\`POST ${path}\` at the path that the standard names. Another content type than \`application/json\` is 400 here.`,
})

export const NOTES: Record<string, Note> = {
  'POST /v1/access/evaluation': single,
  'POST /v1/access/evaluations': several,
  'POST /access/v1/evaluation': atStandardPath(single, '/v1/access/evaluation'),
  'POST /access/v1/evaluations': atStandardPath(several, '/v1/access/evaluations'),
  'GET /.well-known/authzen-configuration': {
    description: 'Metadata of the policy decision point (AuthZEN Authorization API 1.0, section 9).',
    answers: {
      200: {
        example: {
          policy_decision_point: 'https://api.example.com',
          access_evaluation_endpoint: 'https://api.example.com/access/v1/evaluation',
          access_evaluations_endpoint: 'https://api.example.com/access/v1/evaluations',
        },
      },
    },
  },
}
