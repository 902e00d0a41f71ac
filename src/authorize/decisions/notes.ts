import { ACTORS, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { ledgerLineView } from './views.ts'

const JTI = IDS.decision.replace('dec', 'jti')
const ENTRY_HASH = 'q7o0n3d1Q0sGq8Zc1x2eXwzv8lW8dQH6Yb1n0o9pT5k'
const LEAF_HASH = 'b0Vd2s7w1fX6Qm4yK9eHc3uR8tLz5nPj7aGi2oWv1Es'
const ROOT = 'yK1fT6cV9dB3hN8mQ2wE5rU7iO0pA4sG6jL1zX8vC3k'
const NODE = 'mQ2wE5rU7iO0pA4sG6jL1zX8vC3kyK1fT6cV9dB3hN8'

const entry = {
  decision_id: IDS.decision,
  kind: 'verify',
  environment: 'sandbox',
  at: '2026-11-20T15:11:04.310Z',
  actor: { actor_id: IDS.key, person: null, api_key_id: IDS.key },
  subject_id: JTI,
  reason: 'hardware_required_above_500',
  valid: false,
  inputs: {
    jti: JTI,
    action_hash: NODE,
    payload_hash: ROOT,
    agent_id: IDS.agent,
    agent_session_id: IDS.agentSession,
    device_id: IDS.device,
  },
  matched_rule_id: 'default:hardware_above',
  policy_version: 3,
  rule_results: [{ rule_id: 'default:hardware_above', effect: 'hardware', matched: true, met: false, shadow: false }],
  facts_hash: LEAF_HASH,
}
const decision = {
  decision_id: IDS.decision,
  kind: 'verify',
  environment: 'sandbox',
  at: entry.at,
  actor: ACTORS.key,
  subject_id: JTI,
  reason: entry.reason,
  valid: false,
  jti: JTI,
  agent_id: IDS.agent,
  agent_session_id: IDS.agentSession,
  device_id: IDS.device,
  mandate_id: null,
  schedule_id: null,
  trace_id: null,
  matched_rule_id: entry.matched_rule_id,
  policy_version: 3,
  entry,
  entry_hash: ENTRY_HASH,
  position: 41_206,
}
const checkpoint = {
  size: 41_230,
  root: ROOT,
  at: '2026-11-20T15:11:42.000Z',
  jws: 'eyJhbGciOiJFUzI1NiIsImtpZCI6InhZNVY5R3Q4QjVWcGJfQ0t2ZURjNTN3N05CaXdHS3ZjNUNOdUFNQ3dMMk0iLCJ0eXAiOiJsZWRnZXItY2hlY2twb2ludCtqd3QifQ.eyJzaXplIjo0MTIzMH0.c2lnbmF0dXJl',
}
const line = (value: object) => `${JSON.stringify(value)}\n`
const lines = [
  { type: 'head', version: 1, account_id: IDS.account, environment: 'sandbox', from: 0, size: 2, frontier: [] },
  { type: 'leaf', position: 0, leaf_hash: NODE, decision_id: IDS.decision },
  { type: 'entry', position: 1, leaf_hash: LEAF_HASH, entry_hash: ENTRY_HASH, entry },
  { type: 'checkpoint', ...checkpoint, size: 2 },
  { type: 'end', size: 2 },
]
const guide = 'See [the ledger]({base_url}/docs/authorize/ledger).'

export const NOTES: Record<string, Note> = {
  'GET /v1/decisions': {
    description: `Filters by kind, reason, time, and what a decision is about: its subject, token, agent, agent session, device, mandate, schedule or trace, and the rule that gave the answer. A page ends after half a megabyte, also before its \`limit\`: go on while \`has_more\`. Entries are kept for 30 days, a year or seven years, by plan, and in the sandbox for 7 days; clinical ones for two years at least. ${guide}`,
    answers: { 200: { example: listed(decision) } },
  },
  'GET /v1/decisions/:id': {
    description:
      'A key with `verify` reads the decisions that it made itself, one that has `admin` as well reads all. `position` is the place of its ' +
      'leaf in the log, which it has a second after the decision.',
    answers: { 200: { example: decision } },
  },
  'GET /v1/decisions/:id/explain': {
    description:
      'Opens the recorded facts, and decides once more from them alone. Facts whose hash is not the one of the entry are not shown.',
    answers: {
      200: {
        example: {
          decision,
          meaning: 'a relying party asked whether an action may run now',
          entry_intact: true,
          facts_status: 'intact',
          facts: { context: { transaction_amount: '750.00' } },
          replay: { valid: false, reason: 'hardware_required_above_500' },
          same_answer: true,
          differences: [],
        },
      },
    },
  },
  'GET /v1/decisions/:id/proof': {
    description: `The hashes that lead from the entry to the root that a checkpoint signs. 409 \`not_ready\`: no checkpoint covers it yet; ask again in a minute. ${guide}`,
    answers: {
      200: {
        example: {
          decision_id: IDS.decision,
          entry_hash: ENTRY_HASH,
          leaf_hash: LEAF_HASH,
          position: 41_206,
          size: 41_230,
          root: ROOT,
          proof: [NODE, LEAF_HASH],
          checkpoint,
        },
      },
    },
    problems: ['not_ready'],
  },
  'GET /v1/decisions/checkpoints': {
    description: `One is signed at most once a minute, when the log has grown. Keep the newest somewhere else: with it, nothing before it can be changed unseen. ${guide}`,
    answers: { 200: { example: listed(checkpoint) } },
  },
  'GET /v1/decisions/consistency': {
    description: 'For the roots of two checkpoints: the leaves of the older are the beginning of those of the newer.',
    answers: {
      200: { example: { from: { size: 40_960, root: NODE }, to: { size: 41_230, root: ROOT }, proof: [NODE] } },
    },
    problems: ['not_ready'],
  },
  'GET /v1/decisions/export': {
    description: `Up to the newest checkpoint: entries by position, the leaf where an entry is gone, and the checkpoints in their places. With \`after\` it goes on where another ended. The export is recorded in the audit log. \`npm run ledger -- verify\` checks it without the service. ${guide}`,
    answers: {
      200: {
        stream: {
          schema: ledgerLineView,
          isLines: true,
          examples: { 'A log of two': lines.map(line).join('') },
        },
      },
    },
    problems: ['not_ready'],
  },
  'POST /v1/decisions/verify-chain': {
    description:
      'The service checks its own rows, 10,000 leaves at a time, and fewer where entries are long: begin again at `next` until it is null. It finds rows that were changed, removed or added below the service. Who does not trust the service checks an export.',
    examples: { 'The first part': { from: 0, limit: 10_000 }, 'Another part': { from: 9_984, limit: 10_000 } },
    answers: {
      200: {
        example: {
          valid: false,
          size: 41_230,
          from: 0,
          to: 9_984,
          next: 9_984,
          leaves: 9_984,
          entries_gone: 120,
          checkpoints: 14,
          problems: [
            {
              code: 'entry_changed',
              position: 7_301,
              decision_id: IDS.decision,
              detail: 'an entry does not have its hash',
            },
          ],
          has_more_problems: false,
        },
      },
    },
  },
}
