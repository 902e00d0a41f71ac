import { ASSERTION } from '#src/authorize/passkeys/notes.ts'
import { ACTORS, CHALLENGE, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const JTI = 'jti_test_01m7x7kz8ye4e8k5v3d9s6q0ta'
const USER = 'usr_01m7x7em9q0ap5mzh3v1d8s2cu'
const URL = `https://countersign.example/approve#${IDS.approval}`
const HASHES = {
  action_hash: 'Uv3vYBr1Hd7vHBrTvZdRa5zIYP2jWwBTz3y2N8mzXqo',
  payload_hash: 'q0s4gqvFzGzJ2cPZVmY2vGkqv5oV8cVxC1f0Jm2xT5g',
  preview_hash: 'dT1a9xqk0zGgkz0n3rV9Jq7o8l5c4b3a2Z1y0X9w8v4',
}
const ACTION = 'Pay 12,000.00 EUR to Example Garage'

const summary = {
  approval_id: IDS.approval,
  status: 'pending',
  resolution: null,
  jti: JTI,
  origin: 'authorize',
  rules: [
    {
      rule_id: 'wire-over-10k',
      rule_hash: 'b1f9Qh1w3mB2oU5h8Jv7kq6T4n0cVxZ3rYdLsEaPgKw',
      description: null,
    },
  ],
  rules_omitted: 0,
  min_approvals: 2,
  roles: ['approver', 'owner'],
  require_passkey: true,
  separation_of_duties: true,
  action_description: ACTION,
  ...HASHES,
  agent_id: IDS.agent,
  agent_session_id: IDS.agentSession,
  device_id: IDS.device,
  mandate_id: null,
  schedule_id: null,
  order_id: null,
  requested_by: { type: 'user', id: USER, label: 'ada@example.com' },
  authorized_by: ACTORS.key,
  created_at: '2026-11-20T15:11:02.000Z',
  expires_at: '2026-11-20T16:11:02.000Z',
  decided_at: null,
  decisions: [],
  approve_url: URL,
}

const approval = {
  ...summary,
  rules: summary.rules.map((rule) => ({ ...rule, description: 'Two people agree to transfers above 10,000.' })),
  action_payload: { amount: '12000.00', currency: 'EUR', counterparty: 'Example Garage' },
  missing: [{ roles: ['approver', 'owner'], approvals: 2 }],
}

const voted = {
  by: { type: 'user', id: 'usr_01m7x7em9q0ap5mzh3v1d8s2cv', label: 'eva@example.com' },
  via: 'passkey',
  decision: 'approve',
  comment: 'The invoice is right.',
  at: '2026-11-20T15:20:41.120Z',
}
const approvedOnce = { ...approval, decisions: [voted], missing: [{ roles: ['approver', 'owner'], approvals: 1 }] }
const denied = {
  ...approval,
  status: 'denied',
  resolution: 'human',
  decided_at: voted.at,
  decisions: [{ ...voted, via: 'session', decision: 'deny', comment: 'We did not order this.' }],
  missing: [],
}

const decides = ['session_required', 'approver_not_eligible', 'approval_already_decided'] as const

export const NOTES: Record<string, Note> = {
  'GET /v1/approvals': {
    description:
      '`status=pending` lists approvals that wait for people, and `awaiting=me` lists approvals that wait for the ' +
      'signed-in person: their role may decide, separation of duties does not exclude them, and they have no vote ' +
      'that counts. Whether an approval has expired follows from the time of the request, not from a job that might ' +
      'be late. Only GET /v1/approvals/{id} has the payload of an action, the descriptions of its rules and more than ' +
      '20 rules.',
    answers: { 200: { example: listed(summary) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/approvals/:id': {
    description:
      'With `wait`, the service answers when the approval has ended, or when the seconds are over: read `status`. ' +
      'Verify answers the same: `approval_pending`, `approval_denied` or `approval_expired`.',
    answers: { 200: { example: approval } },
  },
  'POST /v1/approvals/:id/challenge': {
    description:
      'The browser of the person who approves passes it to `navigator.credentials.get`. The challenge is the hash of ' +
      'the action and of this approval. It works once, within 120 seconds.',
    answers: {
      200: {
        example: {
          challenge_id: ASSERTION.challenge_id,
          challenge: CHALLENGE,
          expires_at: '2026-11-20T15:22:02.000Z',
          options: {
            challenge: CHALLENGE,
            rpId: 'claims.example.com',
            timeout: 120_000,
            allowCredentials: [],
            userVerification: 'required',
          },
        },
      },
    },
    problems: ['approval_already_decided'],
  },
  'POST /v1/approvals/:id/approve': {
    description:
      'Each person counts once. When enough people have approved, the same token verifies valid. An API key names the ' +
      'person for whom it votes, has one vote for each approval, and never decides what it authorized; in live, keys ' +
      'decide nothing unless the policy has `approvals.require_human_session: false`. When that is turned on later, ' +
      'or the key is revoked, the vote of the key does not count any more, and its person decides again. The answer ' +
      'is 409 `approval_already_decided` where the approval has ended, and for a second decision of a person or of a ' +
      'key.',
    examples: {
      'A person who is signed in': { comment: voted.comment },
      'With a passkey': { passkey_assertion: ASSERTION },
      'An API key': { approver: { email: 'approver@example.com' } },
    },
    answers: { 200: { example: approvedOnce } },
    problems: decides,
  },
  'POST /v1/approvals/:id/deny': {
    description:
      'One denial ends the approval, however many have approved before. The token never verifies valid after it.',
    examples: {
      'A person who is signed in': { reason: 'We did not order this.' },
      'An API key': { reason: 'We did not order this.', approver: { email: 'approver@example.com' } },
    },
    answers: { 200: { example: denied } },
    problems: decides,
  },
}

export const EVENTS: EventNotes = {
  'approval.requested': {
    example: {
      approval_id: IDS.approval,
      jti: JTI,
      rule_id: 'wire-over-10k',
      order_id: null,
      action_description: ACTION,
      payload_preview: approval.action_payload,
      ...HASHES,
      min_approvals: 2,
      expires_at: summary.expires_at,
      approve_url: URL,
    },
  },
  'approval.resolved': {
    example: {
      approval_id: IDS.approval,
      jti: JTI,
      status: 'denied',
      decisions: [{ by: { type: 'user', id: USER, label: null }, via: 'session', decision: 'deny', at: voted.at }],
      resolution: 'human',
    },
  },
}
