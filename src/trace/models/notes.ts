import { listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const model = {
  model: 'countersign-tiny',
  default: true,
  embedded: true,
  backend: 'embedded',
  usable: true,
  capabilities: {
    generate: true,
    activations: true,
    attribution: 'exact',
    canary: 'probe',
    intervene: true,
    deterministic: true,
  },
  version: {
    model_version_id: 'countersign-tiny@9f86d081884c7d65',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    architecture: 'llama',
    layers: 3,
    width: 128,
    mlp: 384,
    vocabulary: 1024,
    context_tokens: 512,
    chat: true,
  },
  probe_set: {
    set: 'default-v1',
    version: 'countersign-tiny-1.0',
    families: [
      {
        family: 'exfiltration',
        kind: 'residual',
        layer: 2,
        threshold: 0.91,
        status: 'measured',
        held_out: { auc: 0.998, trip_rate: 0.97, false_positive_rate: 0.004 },
        generated: { runs: 60, trips: 0, false_positive_rate: 0 },
        known_failures: ['A transcript in another language than English.'],
      },
    ],
  },
}

export const NOTES: Record<string, Note> = {
  'GET /v1/trace/models': {
    description:
      'What can be named as `model`. `usable` is false for a file that can not be loaded. All models are on one page.',
    answers: { 200: { example: listed(model) } },
  },
  'GET /v1/trace/models/:id': {
    description:
      '`model_version_id` names the exact file that ran: the model and the beginning of the SHA-256 of its file. The ' +
      'card of a probe says what it was measured to do on transcripts that it was not trained on (`held_out`: completions ' +
      'that a script wrote), and how often it trips on benign completions of the model itself (`generated`).',
    answers: { 200: { example: model } },
  },
  'POST /v1/trace/models/:id/graphs': {
    description:
      'For models at Neuronpedia. It makes the graph of a replacement model with features of its own, and keeps the prompt, ' +
      'where others can see it. See [models elsewhere]({base_url}/docs/trace/backends).',
    examples: { 'A prompt': { prompt: 'The capital of France is' } },
    answers: {
      200: {
        example: {
          source: 'neuronpedia',
          model: 'gemma-2-2b',
          exact: false,
          graph: {
            metadata: { slug: 's', scan: 'gemma-2-2b', prompt: 'The capital', prompt_tokens: ['The', ' capital'] },
            qParams: {},
            nodes: [{ node_id: '27_9_1', feature: 9, layer: '27', ctx_idx: 1, feature_type: 'logit' }],
            links: [],
          },
        },
      },
    },
    problems: ['not_found', 'backend_capability_missing', 'service_unavailable'],
  },
}
