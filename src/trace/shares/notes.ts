import { ACTORS, EVENT_ACTOR, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const VERSION = 'countersign-tiny@9f86d081884c7d65'
const KEY = ACTORS.key
const MASKED = ['1_77_12', '2_140_12']
const NAME = 'Share-Token'
const HEADERS = { [NAME]: 'The token of the share.' }

const share = {
  share_id: IDS.share,
  name: 'Incident of 20 November',
  status: 'active',
  trace_id: IDS.trace,
  job_id: IDS.job,
  model_version_id: VERSION,
  scope_kind: 'trace',
  masked_node_ids: MASKED,
  mask_rule: { label_pattern: '^outbound tool' },
  reveal: [],
  reveals_prompt: false,
  disclosure_mode: 'manual',
  shown_before: 0,
  created_by: KEY,
  created_at: '2026-11-20T15:11:04.310Z',
  expires_at: '2026-12-04T12:00:00.000Z',
  revoked_at: null,
  revoked_by: null,
}

const request = {
  request_id: IDS.disclosure,
  status: 'pending',
  share_id: IDS.share,
  trace_id: IDS.trace,
  model_version_id: VERSION,
  scope_kind: 'trace',
  masked_node_ids: MASKED,
  email: 'researcher@example.org',
  purpose: 'We reproduce the incident of 20 November.',
  created_at: '2026-11-21T09:00:00.000Z',
  verified_at: '2026-11-21T09:02:10.000Z',
  decided_at: null,
  decided_by: null,
  expires_at: share.expires_at,
}
const granted = {
  ...request,
  status: 'granted',
  decided_at: '2026-11-21T10:00:00.000Z',
  decided_by: KEY,
  expires_at: '2026-11-22T10:00:00.000Z',
}

const shared = {
  share_id: IDS.share,
  expires_at: share.expires_at,
  trace: {
    trace_id: IDS.trace,
    source: 'server',
    model_version_id: VERSION,
    canary: {
      set: 'default-v1',
      readings: [
        {
          family: 'exfiltration',
          score: 0.91,
          raw: 2.31,
          threshold: 0.5,
          tripped: true,
          probe_version: '1',
          layer: 2,
          aggregator: 'mean',
          n_tokens: 32,
        },
      ],
      hash: 'Uv3vYBr1Hd7vHBrTvZdRa5zIYP2jWwBTz3y2N8mzXqo',
      reading_at: '2026-11-20T15:10:59.120Z',
      runtime: 'wasm-strict v8-13.6.233.17-node.28',
      tripped_families: ['exfiltration'],
    },
    created_at: '2026-11-20T15:10:59.140Z',
  },
  masked_nodes: 2,
  disclosure_mode: 'manual',
  reveals_prompt: false,
  disclosure: null,
  graph: {
    metadata: {
      slug: IDS.trace,
      scan: 'countersign-tiny-1.0',
      prompt: '',
      prompt_tokens: ['system', 'user, assistant'],
    },
    qParams: { pinnedIds: [], supernodes: [], linkType: 'both', clickedId: '', sg_pos: '' },
    nodes: [],
    links: [{ source: 'masked', target: 'L_5f0c2b3a4d5e6f70', weight: 1.93 }],
  },
}

export const NOTES: Record<string, Note> = {
  'POST /v1/trace/shares': {
    description:
      'Shows the canary readings of a trace, and with `job_id` the graph of its attribution job, to everybody who has the ' +
      'token. Neurons are masked by `masked_node_ids` and `mask_rule`; [what masking hides]({base_url}/docs/trace/shares) says ' +
      'how. A share masks at least what every share of the trace masks, and from now on the others mask what this one ' +
      'does. `shown_before` counts what was seen before that. Without `reveals_prompt` a graph shows the last position of ' +
      'the text, and all before it as one node for each message; a text of fewer than 16 tokens of content is 400. With it, ' +
      'somebody with the file of the model finds the prompt, and by it every masked neuron. 409 where another share of ' +
      'the trace shows another job, for the mode `auto` where a grant would show what a manual share masks, and for ' +
      '`reveals_prompt` where another share masks neurons without it: `errors` names the member.',
    examples: {
      'The readings of a trace': {
        trace_id: IDS.trace,
        scope_kind: 'trace',
        masked_node_ids: [],
        reveal: [],
        reveals_prompt: false,
        expires_at: share.expires_at,
        disclosure_mode: 'manual',
      },
      'A graph with masked neurons': {
        name: share.name,
        trace_id: IDS.trace,
        job_id: IDS.job,
        scope_kind: 'trace',
        masked_node_ids: ['2_140_12'],
        mask_rule: share.mask_rule,
        reveal: ['layer'],
        reveals_prompt: false,
        expires_at: share.expires_at,
        disclosure_mode: 'manual',
      },
    },
    answers: {
      200: {
        example: {
          ...share,
          token: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
          url: 'https://countersign.example/share#q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
        },
      },
    },
    problems: ['environment_mismatch', 'not_found', 'not_ready', 'conflict'],
  },
  'GET /v1/trace/shares': {
    description: '`status=active` lists what can be looked at.',
    answers: { 200: { example: listed(share) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/shares/:id': {
    description: 'A share that has ended masks on: its graph may have been kept.',
    answers: { 200: { example: share } },
  },
  'PATCH /v1/trace/shares/:id': {
    description:
      'The token stays the same. Requests that wait for a decision wait until the new end, and a grant ends with the share at the latest. ' +
      'An end that has come is final: a share that has expired or was revoked is 409, and can only be renamed. The audit log has it (`share.changed`).',
    examples: { 'Another name and end': { name: 'Incident of 20 November', expires_at: share.expires_at } },
    answers: { 200: { example: share } },
    problems: ['environment_mismatch', 'invalid_state_transition', 'not_found'],
  },
  'POST /v1/trace/shares/:id/revoke': {
    description: 'What has ended stays as it is. Requests that wait are ended too.',
    answers: {
      200: { example: { ...share, status: 'revoked', revoked_at: '2026-11-22T08:00:00.000Z', revoked_by: KEY } },
    },
  },
  'GET /v1/trace/shares/:id/views': {
    description: 'Every view is one entry. Addresses are truncated before they are stored.',
    answers: {
      200: {
        example: listed({
          view_id: IDS.shareView,
          share_id: IDS.share,
          viewed_at: '2026-11-21T11:00:00.000Z',
          network: '203.0.113.0/24',
          request_id: null,
          graph: true,
          masked_nodes: 2,
          disclosed_nodes: 0,
        }),
      },
    },
    problems: ['environment_mismatch'],
  },
  'GET /v1/trace/shares/view': {
    description:
      'With the token of the share, or with that of a grant, which shows what the share masked when it was made. ' +
      '`reveals_prompt` says whether the graph has single positions. Each view is recorded. 404 for every token that shows nothing, whatever the reason.',
    headers: { [NAME]: 'The token of the share or of a grant.' },
    answers: { 200: { example: shared } },
    problems: ['not_found', 'rate_limited', 'service_unavailable'],
  },
  'POST /v1/trace/shares/:id/disclosure-requests': {
    description:
      'Mails a code of 8 digits, which works for 15 minutes. The account learns of the request when the code is entered. ' +
      'Three requests an hour for an address and a share. `Idempotency-Key` is ignored.',
    headers: HEADERS,
    examples: { 'A request': { email: request.email, purpose: request.purpose } },
    answers: {
      200: { example: { request_id: IDS.disclosure, status: 'unverified', expires_at: '2026-11-21T09:15:00.000Z' } },
    },
    problems: ['not_found', 'conflict', 'rate_limited', 'service_unavailable'],
  },
  'POST /v1/trace/shares/:id/disclosure-requests/:request_id/verify': {
    description:
      'Five tries. A code that does not work is `invalid_request` at `/code`, whatever the reason. With the mode `auto` ' +
      'the request is granted at once, and the link is mailed. `Idempotency-Key` is ignored: a code works once.',
    headers: HEADERS,
    examples: { 'A code': { code: '04815162' } },
    answers: { 200: { example: { request_id: IDS.disclosure, status: 'pending', expires_at: share.expires_at } } },
    problems: ['not_found', 'rate_limited', 'service_unavailable'],
  },
  'GET /v1/trace/disclosure-requests': {
    description:
      'Requests of people whose address is verified, newest first; `status=unverified` lists the others. `status=pending&order=asc` is what waits, the oldest first.',
    answers: { 200: { example: listed(request) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/disclosure-requests/:id': {
    description: 'That a grant has expired follows from the time of the request.',
    answers: { 200: { example: request } },
  },
  'POST /v1/trace/disclosure-requests/:id/grant': {
    description:
      'The person is mailed a link of their own, which shows `masked_node_ids` until `expires_at`, and at most until the ' +
      'share expires. A grant shows all that its share masks: a part would give the rest away.',
    examples: { 'For two days': { expires_in: 172_800 } },
    answers: { 200: { example: granted } },
    problems: ['invalid_state_transition'],
  },
  'POST /v1/trace/disclosure-requests/:id/deny': {
    description: 'The person is not told.',
    answers: { 200: { example: { ...granted, status: 'denied', expires_at: request.expires_at } } },
    problems: ['invalid_state_transition'],
  },
  'POST /v1/trace/disclosure-requests/:id/revoke': {
    description: 'Of a grant. A request that waits is denied.',
    answers: { 200: { example: { ...granted, status: 'revoked' } } },
    problems: ['invalid_state_transition'],
  },
}

const subject = { scope_kind: 'trace', trace_id: IDS.trace, model_version_id: VERSION }

export const EVENTS: EventNotes = {
  'trace.disclosure_requested': {
    example: { request_id: IDS.disclosure, status: 'pending', ...subject },
  },
  'trace.disclosure_granted': {
    example: { request_id: IDS.disclosure, ...subject, expires_at: granted.expires_at, decided_by: EVENT_ACTOR },
  },
}
