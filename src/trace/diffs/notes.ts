import { ACTORS, DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const thresholds = { psi_drift: 0.25, ks_alpha: 0.01, psi_warn: 0.1, mean_shift: 0.05 }

const queued = {
  diff_id: IDS.diff,
  status: 'queued',
  base_model: 'countersign-tiny',
  target_model: 'countersign-tiny-1.1',
  eval_set: 'default',
  seed: 20261120,
  thresholds,
  progress: { done: 0, total: 420 },
  pass: null,
  verdict: null,
  families_drifted: null,
  report_hash: null,
  failure: null,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:04.310Z',
  started_at: null,
  finished_at: null,
}

const succeeded = {
  ...queued,
  status: 'succeeded',
  progress: { done: 420, total: 420 },
  pass: false,
  verdict: 'drift',
  families_drifted: ['exfiltration'],
  report_hash: DIGEST,
  started_at: '2026-11-20T15:11:04.802Z',
  finished_at: '2026-11-20T15:11:31.117Z',
}

const side = {
  model: 'countersign-tiny',
  model_version_id: 'countersign-tiny@5f1c9c0e7d3a4b21',
  sha256: DIGEST,
  architecture: 'llama',
  probe_set: 'default-v1',
  probe_version: '1.0.0',
  vocabulary_sha256: DIGEST,
}

const report = {
  object: 'trace_diff_report',
  version: 2,
  base: side,
  target: { ...side, model: 'countersign-tiny-1.1', model_version_id: 'countersign-tiny-1.1@0b7c1d55e2f6a983' },
  eval_set: { name: 'default', sha256: DIGEST, prompts: 420, used: 420, skipped: 0 },
  settings: {
    seed: 20261120,
    max_tokens: 48,
    min_prompts: 200,
    psi_bins: 10,
    resamples: 2000,
    confidence: 0.95,
    thresholds,
  },
  pass: false,
  verdict: 'drift',
  families: [
    {
      family: 'exfiltration',
      prompts: 420,
      base_mean: 0.0121,
      target_mean: 0.1534,
      psi: 0.611902,
      bins: {
        edges: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
        base: [414, 2, 1, 0, 0, 0, 0, 1, 0, 2],
        target: [352, 4, 1, 1, 0, 1, 0, 2, 3, 56],
      },
      ks: { statistic: 0.147619, p: 0.000196, p_holm: 0.001176, method: 'exact' },
      shift: { mean: 0.1413, low: 0.108, high: 0.1752 },
      status: { base: 'measured', target: 'measured' },
      verdict: 'drift',
    },
  ],
  families_drifted: ['exfiltration'],
  families_uncompared: [],
  next_token_kl: { mean: 0.212, tokens: 9120, unit: 'nats', undefined_because: null },
  shifted_neurons: [{ layer: 2, neuron: 77, base_mean: 0.021, target_mean: 0.83, effect: 2.71 }],
  runtime: 'wasm-strict v8-13.6.233.10-node.28',
}

const evalSet = {
  eval_set_id: IDS.evalSet,
  name: 'Support questions',
  prompts: 500,
  sha256: DIGEST,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:02:00.000Z',
}

const guide = 'See [comparing model versions]({base_url}/docs/trace/diffs).'

export const NOTES: Record<string, Note> = {
  'POST /v1/trace/diffs': {
    description: `Both models answer every prompt of the set, and the canary readings of their answers are compared. ${guide}`,
    examples: {
      'By the default set': {
        base_model: 'countersign-tiny',
        target_model: 'countersign-tiny-1.1',
        eval_set: 'default',
        thresholds: {},
      },
      'Your own prompts, repeatable': {
        base_model: 'countersign-tiny',
        target_model: 'countersign-tiny-1.1',
        eval_set: IDS.evalSet,
        thresholds: { mean_shift: 0.02 },
        seed: 20261120,
      },
    },
    answers: {
      202: { description: 'It is queued.', headers: { Location: 'Where to read its progress.' }, example: queued },
    },
    problems: ['not_found', 'environment_mismatch', 'backend_capability_missing'],
  },
  'GET /v1/trace/diffs': {
    description: 'With their verdicts; the figures are in the reports.',
    answers: { 200: { example: listed(succeeded) } },
  },
  'GET /v1/trace/diffs/:id': {
    description: '`verdict` is there when `status` is `succeeded`. `wait` waits for its end.',
    answers: { 200: { example: succeeded } },
  },
  'GET /v1/trace/diffs/:id/report': {
    description: `It names no time and no id: the same models, prompts, thresholds and seed give the same report and hash. \`bins\` is the histogram that \`psi\` is of. ${guide}`,
    answers: { 200: { example: report } },
    problems: ['not_ready'],
  },
  'POST /v1/trace/diffs/:id/cancel': {
    description:
      'A running one stops within seconds. No event is sent. One that was cancelled is answered as it is; one that has succeeded or failed is 409 `invalid_state_transition`.',
    answers: { 200: { example: { ...queued, status: 'cancelled', finished_at: '2026-11-20T15:11:09.000Z' } } },
    problems: ['invalid_state_transition'],
  },
  'POST /v1/trace/eval-sets': {
    description:
      'Up to 2,000 conversations, each up to where the assistant would answer. They are stored sealed, and not shown again.',
    examples: {
      'One prompt': {
        name: 'Support questions',
        prompts: [
          {
            messages: [
              { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
              { role: 'user', content: 'What do lamps cost at Harbor Supplies?' },
              { role: 'tool', content: 'Harbor Supplies: lamps, 40.00 EUR, delivery 2026-12-01.' },
            ],
          },
        ],
      },
    },
    answers: { 200: { headers: { Location: 'Where to read it.' }, example: evalSet } },
    problems: ['limit_reached', 'payload_too_large'],
  },
  'GET /v1/trace/eval-sets': { description: 'Without their prompts.', answers: { 200: { example: listed(evalSet) } } },
  'GET /v1/trace/eval-sets/:id': {
    description: 'The hash says which prompts it has.',
    answers: { 200: { example: evalSet } },
  },
  'DELETE /v1/trace/eval-sets/:id': {
    description: 'Reports of it stay.',
    answers: { 200: { example: { eval_set_id: IDS.evalSet, deleted: true } } },
  },
}

export const EVENTS: EventNotes = {
  'trace.diff_completed': {
    example: {
      diff_id: IDS.diff,
      status: 'succeeded',
      base_model: 'countersign-tiny',
      target_model: 'countersign-tiny-1.1',
      pass: false,
      verdict: 'drift',
      families_drifted: ['exfiltration'],
      report_hash: DIGEST,
    },
  },
}
