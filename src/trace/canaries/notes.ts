import { ACTORS, DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const document = {
  mode: 'block_and_lock',
  max_age_s: 300,
  families: [
    { family: 'exfiltration', threshold: 0.8, enabled: true },
    { family: 'sandbag', threshold: 0.9, enabled: false },
  ],
  apply_to: {},
  allow_experimental: false,
  reading: { models: [], max_tokens: 64 },
}

const killSwitch = {
  version: 2,
  digest: DIGEST,
  changed_at: '2026-11-20T15:00:00.000Z',
  changed_by: { type: 'key', id: IDS.key, label: 'deployments' },
  document,
}

const HASH = 'NbzYbJqG7dGkIEb5bVfKk2vNr4Yw0m6sCkJ3o8q1TtE'
const nothingMore = { raw: null, probe_version: null, layer: null, aggregator: null, n_tokens: null }

const trace = {
  trace_id: IDS.trace,
  source: 'client',
  agent_session_id: IDS.agentSession,
  agent_id: IDS.agent,
  model_version_id: null,
  inference: null,
  canary: {
    set: 'default-v1',
    readings: [
      { family: 'exfiltration', score: 0.91, threshold: 0.5, tripped: true, ...nothingMore },
      { family: 'injection_compliance', score: 0.12, threshold: 0.5, tripped: false, ...nothingMore },
    ],
    hash: HASH,
    reading_at: '2026-11-20T15:11:03.900Z',
    runtime: null,
    tripped_families: ['exfiltration'],
  },
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:04.310Z',
}

const allowed = {
  allowed: true,
  action: 'allow',
  reason: null,
  unavailable_cause: null,
  stale: false,
  reading_age_s: 0.41,
  mode: 'block_and_lock',
  tripped_families: [],
  uncounted_families: [],
  lock_id: null,
  decision_id: IDS.decision,
  trace_id: IDS.trace,
  canary_hash: HASH,
  runtime: null,
}

const refused = { ...allowed, allowed: false, action: 'block', reason: 'canary_tripped' }

export const NOTES: Record<string, Note> = {
  'GET /v1/trace/kill-switch': {
    description:
      'Per account and environment. Until it is set it is `monitor`: readings are judged, nothing is refused. To change it, ' +
      'change `document` and send it back, with the ETag as `If-Match`.',
    answers: { 200: { example: killSwitch } },
  },
  'PUT /v1/trace/kill-switch': {
    description:
      'Replaces all of it: members that are absent get their defaults; the same document again changes nothing. Without ' +
      '`If-Match` the answer is 428, and with the ETag of another version 412; in an emergency `*` replaces any version. A ' +
      'change of the mode clears no lock. Other requests do not count against the rate limit of this one.',
    headers: { 'If-Match': 'Required. The ETag of the version to replace, such as `"2"`, or `*` for any.' },
    examples: { 'Refuse and lock': { document } },
    answers: { 200: { example: killSwitch } },
    problems: ['environment_mismatch', 'not_found', 'precondition_failed', 'precondition_required'],
  },
  'POST /v1/trace/kill-switch/preview': {
    description:
      'Send the document that you consider: the checks and the inferences of the last 7 days are re-evaluated by it. ' +
      'Nothing is set. At most 5,000 of each are judged, the newest ones. Verifications are not among them: a condition of ' +
      'a policy refuses whatever the mode.',
    examples: { 'Refuse and lock': { document } },
    answers: {
      200: {
        example: {
          from: '2026-11-13T15:11:04.310Z',
          to: '2026-11-20T15:11:04.310Z',
          complete: true,
          looked: { checks: 412, inferences: 96 },
          refused: { checks: 9, inferences: 2 },
          reasons: [
            { reason: 'canary_tripped', refused: 7 },
            { reason: 'reading_too_old', refused: 4 },
          ],
          tripped_traces: 5,
          locks: 3,
          held_by_locks: 31,
          families: [{ family: 'exfiltration', refused: 7, locks: 3, uncounted: 0 }],
          agents: [{ agent_id: IDS.agent, refused: 11, locks: 3 }],
        },
      },
    },
    problems: ['environment_mismatch', 'not_found'],
  },
  'POST /v1/trace/check': {
    description:
      'Send stored readings (`trace_id`), readings of a model of your own (`readings`, `reading_at`, `canary_set`), or ' +
      '`inference_input`: a model of the service completes it within 5 seconds, and its readings are stored as a trace ' +
      'of source `server`. What it says is not kept. Which model, and how far it reads, the kill switch says (`reading`). The ' +
      'newest trip of the session or its agent refuses for `max_age_s`, whatever is presented. Go on only when `allowed` is true. Readings that you send are a ' +
      'trace of source `client`: they can refuse and lock, and satisfy no condition of a policy. Each check is an entry ' +
      'of the decision ledger. A repeat with the same Idempotency-Key judges the same readings anew and records nothing.',
    examples: {
      'Readings of your own model': {
        readings: [
          { family: 'exfiltration', score: 0.91, threshold: 0.8 },
          { family: 'injection_compliance', score: 0.12, threshold: 0.5 },
        ],
        reading_at: '2026-11-20T15:11:03.900Z',
        canary_set: 'default-v1',
        agent_session_id: IDS.agentSession,
      },
      'Readings that are stored': { trace_id: IDS.trace, agent_id: IDS.agent, agent_session_id: IDS.agentSession },
      'An input': {
        inference_input: {
          messages: [
            { role: 'user', content: 'Pay the invoice of 20 November.' },
            { role: 'tool', content: 'Invoice of 20 November: 215.50 EUR.' },
          ],
        },
        agent_session_id: 'run-7',
      },
    },
    answers: {
      200: {
        examples: {
          'No family tripped': allowed,
          'A trip that locks': { ...refused, tripped_families: ['exfiltration'], lock_id: IDS.lock },
          'While a lock is in force': { ...refused, reason: 'session_canary_locked', lock_id: IDS.lock },
          'An input that no model could read': {
            ...refused,
            reason: 'canary_unavailable',
            unavailable_cause: 'model_unavailable',
            reading_age_s: null,
            trace_id: null,
            canary_hash: null,
          },
          'An old reading': { ...refused, reason: 'reading_too_old', stale: true, reading_age_s: 412 },
        },
      },
    },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/traces': {
    description: 'Readings are kept as long as the decision ledger: the plan says how long.',
    answers: { 200: { example: listed(trace) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/traces/:id': {
    description:
      '`canary.hash` covers the readings, their time, their set, the model version, the runtime and the id of the trace. ' +
      'Everything that it covers is in the answer: see [canaries]({base_url}/docs/trace/canaries#the-hash-of-a-reading).',
    answers: { 200: { example: trace } },
  },
}

export const EVENTS: EventNotes = {
  'trace.canary_tripped': {
    example: {
      trace_id: IDS.trace,
      canary_hash: HASH,
      canary_readings: [
        { family: 'exfiltration', score: 0.91, threshold: 0.8, tripped: true },
        { family: 'injection_compliance', score: 0.12, threshold: 0.5, tripped: false },
      ],
      tripped_families: ['exfiltration'],
      mode: 'block_and_lock',
      source: 'check',
      agent_id: IDS.agent,
      agent_session_id: IDS.agentSession,
      lock_id: IDS.lock,
      jti: null,
      matched_rule_id: null,
    },
  },
}
