import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { jsonObject } from '#src/platform/http/params.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { approverRole } from '../policy/document.ts'
import type { ListedApproval, WholeApproval } from './approvals.ts'
import { APPROVAL_STATUSES, MAX_DESCRIBED } from './facts.ts'
import { approveUrl } from './open.ts'
import { resolutionOf } from './resolutions.ts'
import { MAX_LISTED_RULES } from './rows.ts'

const whole = z.number().int()
const text = z.string()

export const approvalStatusView = z.enum(APPROVAL_STATUSES).meta({ id: 'ApprovalStatus' })

const voteView = z
  .object({
    by: actorView.describe('The user who decided, also when a key decided on their behalf.'),
    via: z
      .enum(['session', 'passkey', 'api_key'])
      .meta({ id: 'ApprovalVia' })
      .describe('How they decided. `api_key`: decided through the API on the user’s behalf.'),
    decision: z.enum(['approve', 'deny']).meta({ id: 'ApprovalVote' }),
    comment: text.nullable().describe('Reason given with a denial.'),
    at: timestampView,
  })
  .meta({ id: 'ApprovalDecision' })

const resolutionView = z.enum(['human', 'timeout', 'cancelled']).meta({ id: 'ApprovalResolution' })
const originView = z.enum(['authorize', 'verify']).meta({ id: 'ApprovalOrigin' })
const ruleView = z
  .object({
    rule_id: text,
    rule_hash: text.describe('SHA-256 of its canonical JSON, base64url.'),
    description: text
      .nullable()
      .describe('Description of the rule by its author; null in lists. GET /v1/approvals/{id} has it.'),
  })
  .meta({ id: 'ApprovedRule' })

export const approvalSummaryView = z
  .object({
    approval_id: text,
    status: approvalStatusView,
    resolution: resolutionView
      .nullable()
      .describe('What ended it: a person, its expiry, or a revocation of the token, the session or the device.'),
    jti: text,
    origin: originView.describe('`verify`: the policy was tightened after the token had been issued.'),
    rules: z
      .array(ruleView)
      .describe(
        `Rules that the approval covers: the first ${MAX_LISTED_RULES} rules in lists, else the first ${MAX_DESCRIBED}. An approval covers a rule of the policy while the rule has this hash.`,
      ),
    rules_omitted: whole.describe('Number of rules that are left out.'),
    min_approvals: whole.describe('Number of distinct people who have to approve.'),
    roles: z.array(approverRole).describe('Roles that may decide.'),
    require_passkey: z.boolean(),
    separation_of_duties: z
      .boolean()
      .describe('The person who asked for the action, and the owner of the agent, can not decide it.'),
    action_description: text,
    action_hash: text.describe('SHA-256 of the description, base64url, as the token has it.'),
    payload_hash: text.describe('SHA-256 of the canonical JSON of the payload.'),
    preview_hash: text.describe('SHA-256 of the canonical JSON of the `payload_preview` of the event.'),
    agent_id: text.nullable(),
    agent_session_id: text,
    device_id: text,
    mandate_id: text.nullable(),
    schedule_id: text.nullable(),
    order_id: text.nullable(),
    requested_by: actorView.nullable().describe('The user who asked for the action, where one is known.'),
    authorized_by: actorView.describe('The API key or user that authorized the action.'),
    created_at: timestampView,
    expires_at: timestampView,
    decided_at: timestampView.nullable(),
    decisions: z.array(voteView),
    approve_url: text.describe('The page where people decide.'),
  })
  .meta({ id: 'ApprovalSummary' })

const missingView = z.object({ roles: z.array(approverRole), approvals: whole }).meta({ id: 'MissingApprovals' })

export const approvalView = extended(
  approvalSummaryView,
  {
    action_payload: jsonObject,
    missing: z
      .array(missingView)
      .describe(
        'How many more people with one of the roles have to approve, while the approval is pending. All entries must ' +
          'be met.',
      ),
  },
  { id: 'Approval' },
)

export function toSummaryView(
  { row, description, votes, actors }: ListedApproval,
  baseUrl: string,
): z.input<typeof approvalSummaryView> {
  const { status } = row
  return {
    approval_id: row.id,
    status,
    resolution: status === 'pending' ? null : resolutionOf(status),
    jti: row.jti,
    origin: row.origin,
    rules: row.rules.map(({ rule_id, rule_hash }) => ({ rule_id, rule_hash, description: null })),
    rules_omitted: row.ruleCount - row.rules.length,
    min_approvals: row.minApprovals,
    roles: row.roles,
    require_passkey: row.requiresPasskey,
    separation_of_duties: row.hasSeparation,
    action_description: description,
    action_hash: row.actionHash,
    payload_hash: row.payloadHash,
    preview_hash: row.previewHash,
    agent_id: row.agentId,
    agent_session_id: row.agentSessionId,
    device_id: row.deviceId,
    mandate_id: row.mandateId,
    schedule_id: row.scheduleId,
    order_id: row.orderId,
    requested_by: actors(row.requesterId),
    authorized_by: actors(row.actorId),
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
    decided_at: row.decidedAt?.toISOString() ?? null,
    decisions: votes.map(({ userId, via, decision, comment, decidedAt }) => ({
      by: actors(userId),
      via,
      decision,
      comment,
      at: decidedAt.toISOString(),
    })),
    approve_url: approveUrl(baseUrl, row.id),
  }
}

export function toApprovalView(found: WholeApproval, baseUrl: string): z.input<typeof approvalView> {
  const { rules } = found.row
  const shown = rules.slice(0, MAX_DESCRIBED)
  return {
    ...toSummaryView({ ...found, row: { ...found.row, rules: shown, ruleCount: rules.length } }, baseUrl),
    rules: shown.map(({ rule_id, rule_hash, description = null }) => ({ rule_id, rule_hash, description })),
    action_payload: found.payload,
    missing: found.missing.map(({ roles, approvals }) => ({ roles: [...roles], approvals })),
  }
}
