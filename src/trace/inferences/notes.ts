import { ACTORS, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const reading = {
  family: 'injection_compliance',
  score: 0.999214,
  raw: 7.147082,
  threshold: 0.995396,
  tripped: true,
  probe_version: '1.0.0',
  layer: 2,
  aggregator: 'max_mean_8',
  n_tokens: 12,
  probe_status: 'measured',
}
const quiet = { ...reading, score: 0.000412, raw: -7.794081, tripped: false, n_tokens: 14 }

const completed = {
  trace_id: IDS.trace,
  model: 'countersign-tiny',
  model_version_id: 'countersign-tiny@e09bdb580e425967',
  completion: 'Cobalt Tools sells lamps for 812.00 EUR.',
  finish_reason: 'stop',
  usage: { prompt_tokens: 71, completion_tokens: 14 },
  canary: {
    set: 'default-v1',
    readings: [quiet],
    hash: 'NbzYbJqG7dGkIEb5bVfKk2vNr4Yw0m6sCkJ3o8q1TtE',
    reading_at: '2026-11-20T15:11:03.900Z',
    runtime: 'wasm-strict v8-13.6.233.17-node.28',
    tripped_families: [] as string[],
  },
  uncounted_families: [] as string[],
  mode: 'block_and_lock',
  lock_id: null as string | null,
  decision_id: IDS.decision,
}

/** Example without texts. */
export const TRACED_INFERENCE = {
  trace_id: IDS.trace,
  source: 'server',
  agent_session_id: IDS.agentSession,
  agent_id: IDS.agent,
  model_version_id: completed.model_version_id,
  inference: {
    model: completed.model,
    finish_reason: 'stop',
    usage: completed.usage,
    max_tokens: 64,
    temperature: 0,
    seed: 0,
    prompt_hash: 'sMuOGnm2xkJ5kz3vJmM0yfXg3Q2aWb7x2mOQkRkqY7c',
    completion_hash: 'yH0VqYv5b6rX1mJwq0u3kq1l9k2fXo3rN1o7hJcQmZ4',
    text_until: null,
  },
  canary: completed.canary,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:04.310Z',
}

const withheld = {
  ...completed,
  completion: null,
  finish_reason: 'canary_tripped',
  usage: { prompt_tokens: 71, completion_tokens: 12 },
  canary: { ...completed.canary, readings: [reading], tripped_families: ['injection_compliance'] },
  lock_id: IDS.lock,
}

const called = {
  ...completed,
  model: 'gpt',
  model_version_id: 'gpt@3f1c0a9b7d2e4c58',
  completion: '',
  tool_calls: [{ name: 'search', arguments: '{"goods": "lamps"}' }],
  finish_reason: 'tool_calls',
  canary: null,
  mode: 'monitor',
}

const messages = [
  { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
  { role: 'user', content: 'What do lamps cost at Cobalt Tools?' },
  { role: 'tool', content: 'Cobalt Tools: lamps, 812.00 EUR, delivery 2026-11-21.' },
]

const settings = { max_tokens: 64, temperature: 0, kill_switch: 'inherit', retain: 'hash' }

export const NOTES: Record<string, Note> = {
  'POST /v1/trace/inferences': {
    description:
      'Under `block` and `block_and_lock` no token leaves the process of the model before its canaries were read, and ' +
      'no token leaves it when a family trips: `completion` is null, and the generated tokens count. Under `monitor` ' +
      'the answer has the completion and the families that tripped. A locked session and a suspended agent run no ' +
      'model. A repeat with the same Idempotency-Key has the model complete the same request again and records ' +
      'nothing. It returns the completion where the hash is the same and neither a lock nor the current kill switch ' +
      'refuses it. When the client goes away, the model stops and nothing is stored.',
    examples: {
      'An agent with what a tool said': { ...settings, messages, agent_session_id: IDS.agentSession },
      'Kept for attribution': { ...settings, prompt: 'What do lamps cost?', canary_set: 'default-v1', retain: 'text' },
    },
    answers: {
      200: {
        examples: {
          'No family tripped': completed,
          'A trip that locks': withheld,
          'A model elsewhere that calls a tool': called,
        },
      },
    },
    problems: [
      'environment_mismatch',
      'not_found',
      'agent_session_ended',
      'session_canary_locked',
      'agent_suspended',
      'backend_capability_missing',
      'service_unavailable',
    ],
  },
  'GET /v1/trace/traces/:id/tokens': {
    description:
      'Texts, token ids and `lens` need an inference with `retain: "text"`; `lens` needs the model version that ran it. A withheld ' +
      'completion has no tokens. A window is read every 4 tokens and at the end.',
    answers: {
      200: {
        example: listed({
          index: 3,
          log_probability: -0.0021,
          readings: [{ family: 'injection_compliance', score: 0.000412 }],
          token: 512,
          text: ' lamps',
          lens: [[{ token: 512, text: ' lamps', probability: 0.4127 }]],
        }),
      },
    },
    problems: [
      'backend_capability_missing',
      'environment_mismatch',
      'not_found',
      'text_not_kept',
      'service_unavailable',
    ],
  },
}
