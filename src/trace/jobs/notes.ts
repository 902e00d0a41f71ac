import { ACTORS, DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { manifestView } from './views.ts'

const asked = {
  trace_id: IDS.trace,
  target: { position: 0 },
  method: 'exact',
  max_feature_nodes: 512,
  max_n_logits: 10,
  desired_logit_prob: 0.95,
  node_threshold: 0.8,
  edge_threshold: 0.98,
}
const queued = {
  job_id: IDS.traceJob,
  trace_id: IDS.trace,
  model_version_id: 'countersign-tiny@e09bdb580e425967',
  status: 'queued',
  progress: 0,
  method: 'exact',
  target: { position: 0, token: null },
  max_feature_nodes: 512,
  max_n_logits: 10,
  desired_logit_prob: 0.95,
  node_threshold: 0.8,
  edge_threshold: 0.98,
  failure: null as { code: string; detail: string } | null,
  result: null as object | null,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:04.310Z',
  started_at: null as string | null,
  finished_at: null as string | null,
}
const succeeded = {
  ...queued,
  status: 'succeeded',
  progress: 1,
  result: {
    manifest_hash: DIGEST,
    manifest_bytes: 684210,
    manifest_until: '2026-12-20T15:11:06.002Z',
    nodes: 170,
    links: 5377,
    links_found: 5377,
    sum_check: { max_abs_error: 3.95e-7, rows: 522 },
    remainder_share: 0.31,
    replacement_score: 0.81,
    completeness_score: 0.94,
    verified: { nodes: 20, same_sign: 1, correlation: 0.95 },
  },
  started_at: '2026-11-20T15:11:04.402Z',
  finished_at: '2026-11-20T15:11:06.002Z',
}
const node = { feature: 0, ctx_idx: 0, influence: 0.99, activation: null, clerp: '' }
const manifest = {
  metadata: {
    slug: IDS.traceJob,
    scan: 'countersign-tiny',
    prompt: 'What do lamps cost?',
    prompt_tokens: ['What', ' do', ' lamps', ' cost', '?'],
    svc: { job_id: IDS.traceJob, trace_id: IDS.trace, method: 'exact', remainder_share: 0.31 },
  },
  qParams: { pinnedIds: [], supernodes: [], linkType: 'both', clickedId: '', sg_pos: '' },
  nodes: [
    { ...node, node_id: 'E_312_2', layer: 'E', feature_type: 'embedding', jsNodeId: 'E_312-2', ctx_idx: 2 },
    { ...node, node_id: '1_77_4', layer: '1', feature_type: 'mlp neuron', jsNodeId: '1_77-0', feature: 3158 },
  ],
  links: [{ source: 'E_312_2', target: '1_77_4', weight: 1.93 }],
}
const cancelled = { ...queued, status: 'cancelled', finished_at: '2026-11-20T15:11:05.120Z' }

export const NOTES: Record<string, Note> = {
  'POST /v1/trace/jobs': {
    description:
      'Explains one token of a completion. A trace that keeps hashes alone needs its `input` again, which is compared with ' +
      '`prompt_hash`; the model completes it again, which is compared with `completion_hash`. What a withheld completion says is ' +
      'never explained. A method that the model has not is refused, and `errors` names those that it has. Counts when it succeeds. See [attribution]({base_url}/docs/trace/attribution).',
    examples: {
      'The first token': asked,
      'Another token, fewer nodes': { ...asked, target: { position: 4, token: 312 }, max_feature_nodes: 128 },
      'Of a trace without texts': { ...asked, input: { prompt: 'What do lamps cost at Cobalt Tools?' } },
    },
    answers: {
      202: {
        description: 'It waits for the model.',
        headers: { Location: 'Where to read its progress.' },
        example: queued,
      },
    },
    problems: ['backend_capability_missing', 'conflict', 'environment_mismatch', 'not_found', 'rate_limited'],
  },
  'GET /v1/trace/jobs': {
    description: 'Of one trace with `trace_id`; one that is no id of a trace is `not_found`.',
    answers: { 200: { example: listed(succeeded) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/jobs/:id': {
    description: '`failed` and `cancelled` jobs have no manifest; `failure.code` says why. `wait` waits for its end.',
    answers: { 200: { example: succeeded } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/jobs/:id/manifest': {
    description:
      '`not_ready` until the job has succeeded. Kept for 30 days and no longer than its trace, as texts are: it has the prompt in it. The SHA-256 of the body ' +
      'is `manifest_hash`, unless `compat` is asked for.',
    answers: {
      200: {
        stream: {
          schema: manifestView,
          examples: { 'A token that two neurons explain': manifest },
        },
      },
    },
    problems: ['environment_mismatch', 'not_found', 'not_ready'],
  },
  'POST /v1/trace/jobs/:id/cancel': {
    description:
      'No event is sent. One that was cancelled is answered as it is; one that has succeeded or failed is 409 `invalid_state_transition`.',
    answers: { 200: { example: cancelled } },
    problems: ['environment_mismatch', 'invalid_state_transition', 'not_found'],
  },
  'POST /v1/trace/traces/:id/interventions': {
    description:
      'The model reads the trace again with the activations of some neurons multiplied by factors, all at once. Each change of a ' +
      'logit stands beside the one that the frozen model predicts. Nothing is recorded; it counts as an `inference`. A repeat with the ' +
      'same Idempotency-Key has the model measure again, and does not count.',
    examples: {
      'Ablate one, double another': {
        edits: [
          { node_id: '1_77_12', factor: 0 },
          { node_id: '2_301_28', factor: 2 },
        ],
        target: { position: 0 },
        top_tokens: 5,
      },
    },
    answers: {
      200: {
        example: {
          trace_id: IDS.trace,
          tokens: [
            {
              token: 662,
              text: 'Cobalt',
              before: { logit: 10.8876, probability: 0.5273 },
              after: { logit: 7.5849, probability: 0.1496 },
              predicted_change: -0.9317,
              measured_change: -0.8214,
            },
          ],
          edits: [
            { node_id: '1_77_12', factor: 0, activation_before: 2.7, activation_after: 0 },
            { node_id: '2_301_28', factor: 2, activation_before: 0.4, activation_after: 0.8 },
          ],
        },
      },
    },
    problems: [
      'backend_capability_missing',
      'conflict',
      'environment_mismatch',
      'not_found',
      'service_unavailable',
      'text_not_kept',
    ],
  },
}

export const EVENTS: EventNotes = {
  'trace.job_completed': {
    example: {
      job_id: IDS.traceJob,
      trace_id: IDS.trace,
      status: 'succeeded',
      method: 'exact',
      model_version_id: 'countersign-tiny@e09bdb580e425967',
      backend: 'embedded',
      manifest_hash: DIGEST,
      failure_code: null,
    },
  },
}
