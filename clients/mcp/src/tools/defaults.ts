// The tools that every model gets: described for the job, with the arguments that the job needs. The others are reached through
// find_operations and call_operation, or added by --toolsets and --tools.

import type { Answer } from '../calls/caller.ts'
import { type Describe, show } from '../calls/results.ts'

export interface DefaultTool {
  operation: string
  description: string
  /** Arguments in the schema; all when absent. */
  arguments?: readonly string[]
  /** Arguments of which the schema tells the type alone: guides describe what is inside. */
  plain?: readonly string[]
  describe?: Describe
}

const TIMES = ['created_gte', 'created_lt', 'cursor'] as const
const ACTION = ['action_description', 'action_payload', 'context', 'trace_id', 'agent_session_id', 'device_id'] as const

export const DEFAULT_TOOLS: readonly DefaultTool[] = [
  {
    operation: 'intent.authorize',
    description:
      'Ask for permission for one action before you do it. Gives an intent_token. With an approval_id people have to approve first: ' +
      'get_approval waits for them. A mandate_id names the standing permission to act under.',
    arguments: [
      ...ACTION,
      'action_type',
      'agent_id',
      'audience',
      'ttl_seconds',
      'mandate_id',
      'schedule_id',
      'single_use',
    ],
    describe: describeAuthorization,
  },
  {
    operation: 'intent.verify',
    description:
      'Answer whether an action may run now; call it right before the action, with the same description and payload. `valid: false` ' +
      'is a refusal with its reason: do not run the action then, and do not work around it. After a valid answer without ' +
      '`already_executed` run the action once, and report_outcome.',
    arguments: ['intent_token', ...ACTION, 'audience', 'counterparty', 'execute'],
    describe: describeVerdict,
  },
  {
    operation: 'intent.executions.report',
    description:
      'Report how a verified action ended. `not_run` and `failed` give its budget back, so report them only when you know it; say ' +
      'nothing when you do not know how it ended.',
    describe: ({ jti, status }) => `Noted: the action of ${show(jti)} is ${show(status)}.`,
  },
  {
    operation: 'intent.revocations.create',
    description: 'Revoke a token, or every token of an agent session or a device, from the next verify on.',
  },
  {
    operation: 'approvals.list',
    description: 'List actions that people have to approve, newest first. Only people approve or deny.',
    arguments: ['status', 'agent_session_id', 'jti', ...TIMES],
  },
  {
    operation: 'approvals.retrieve',
    description:
      'Read one approval. With `wait` (seconds, 25 at most) the answer comes as soon as people have decided.',
    describe: describeApproval,
  },
  {
    operation: 'claims.list',
    description: 'List insurance claims with their risk status and score, newest first.',
    arguments: ['reference', 'risk_status', 'risk_score_gte', 'factor', 'has_case', 'order', 'order_by', ...TIMES],
  },
  { operation: 'claims.retrieve', description: 'Read one claim: risk status, score and the factors found.' },
  {
    operation: 'claims.attestations.list',
    description: 'List the captures of a claim: what was signed, what was found, and links to the photos and videos.',
  },
  {
    operation: 'cases.list',
    description: 'List the cases of adjusters, newest first.',
    arguments: ['status', 'assignee', 'priority', 'claim_id', 'overdue', 'order', 'order_by', ...TIMES],
  },
  { operation: 'cases.retrieve', description: 'Read one case. Adjusters decide cases; a model prepares them.' },
  { operation: 'cases.notes.create', description: 'Add a note to the history of a case, for its adjuster.' },
  {
    operation: 'decisions.list',
    description: 'List recorded decisions (authorize, verify, approval, ...), newest first.',
    arguments: ['kind', 'reason', 'subject_id', 'jti', 'agent_id', 'agent_session_id', 'mandate_id', ...TIMES],
  },
  { operation: 'decisions.retrieve', description: 'Read one recorded decision.' },
  {
    operation: 'decisions.explain',
    description:
      'Explain a decision: the facts it was made on, each rule, and whether they lead to the same answer again.',
  },
  {
    operation: 'mandates.list',
    description: 'List mandates: the standing permissions that people granted to agents.',
    arguments: ['status', 'agent_id', 'cursor'],
  },
  { operation: 'mandates.retrieve', description: 'Read one mandate: its limits, and what is left of its budget.' },
  {
    operation: 'agents.list',
    description: 'List registered agents and whether they are suspended.',
    arguments: ['status', 'owner', 'cursor'],
  },
  {
    operation: 'agents.suspend',
    description: 'Suspend an agent from the next decision on. Only a person lifts a suspension.',
  },
  { operation: 'policy.retrieve', description: 'Read the policy: which actions may run under which conditions.' },
  {
    operation: 'policy.simulate',
    description: 'Evaluate the policy on facts, without an effect: would such an action run, and which rule says no?',
    plain: ['document', 'input', 'answers'],
  },
  {
    operation: 'trace.traces.list',
    description: 'List traces of model inferences, newest first.',
    arguments: ['agent_id', 'agent_session_id', 'model', 'finish_reason', ...TIMES],
  },
  { operation: 'trace.traces.retrieve', description: 'Read one trace with its canary readings.' },
  {
    operation: 'webhooks.deliveries.list',
    description:
      'List webhook deliveries with every attempt, newest first: what was sent, and what the receiver answered.',
    arguments: ['status', 'event_type', 'webhook_endpoint_id', ...TIMES],
  },
]

function describeVerdict(answer: Answer): string {
  const { valid, reason, detail, decision_id: decision, approval_id: approval, already_executed: isRepeated } = answer
  if (valid === true && isRepeated === true)
    return `It was executed before: do not run it again (decision ${show(decision)}).`
  if (valid === true) return `The action may run once (decision ${show(decision)}). Report its outcome.`
  const waiting = typeof approval === 'string' ? ` People decide in approval ${show(approval)}.` : ''
  const more = typeof detail === 'string' ? ` ${show(detail)}` : ''
  return `The action must not run: ${show(reason)}.${more}${waiting} Decision ${show(decision)}.`
}

function describeAuthorization({ jti, approval_id: approval, expires_at: expiry }: Answer): string {
  const next =
    typeof approval === 'string'
      ? `People have to approve it first: wait for get_approval ${show(approval)}.`
      : 'Verify it right before the action.'
  return `Issued ${show(jti)}, until ${show(expiry)}. ${next}`
}

function describeApproval({ approval_id: id, status, resolution, expires_at: expiry }: Answer): string {
  const ended = typeof resolution === 'string' ? ` (${show(resolution)})` : ''
  return `Approval ${show(id)} is ${show(status)}${ended}, until ${show(expiry)}.`
}
