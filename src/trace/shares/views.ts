import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { extended, shownAs, timestampView } from '#src/platform/http/views.ts'
import { toTraceReadings, traceReadingsView } from '../canaries/views.ts'
import { manifestView } from '../jobs/views.ts'
import type { ListedRequest } from './deciding.ts'
import type { ShownRequest } from './disclosure.ts'
import { REQUEST_STATUSES } from './disclosure-rows.ts'
import type { SharedGraph } from './mask.ts'
import { REVEALABLE } from './mask.ts'
import { DISCLOSURE_MODES, SCOPE_KINDS, SHARE_STATUSES, type ShareRow, statusOf } from './rows.ts'
import type { ShownShare } from './shares.ts'
import type { ShareViewRow } from './view-rows.ts'
import type { SharedView } from './viewing.ts'

export const scopeKindView = z.enum(SCOPE_KINDS).meta({ id: 'ShareScope' })
export const disclosureModeView = z.enum(DISCLOSURE_MODES).meta({ id: 'DisclosureMode' })
export const shareStatusView = z.enum(SHARE_STATUSES).meta({ id: 'ShareStatus' })
export const revealedView = z.enum(REVEALABLE).meta({ id: 'RevealedPlace' })
export const requestStatusView = z.enum(REQUEST_STATUSES).meta({ id: 'DisclosureStatus' })

export const MAX_LAYERS = 1_000

const maskRule = {
  layers: z.array(z.number().int().min(0).max(1_000)).min(1).max(MAX_LAYERS).optional(),
  label_pattern: z.string().min(1).max(500).optional().describe('RE2 pattern, which matches anywhere in the label.'),
  top_influence: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Number of the most influential neurons to mask.'),
}
export const maskRuleBody = z
  .strictObject(maskRule)
  .refine((rule) => Object.values(rule).some((value) => value !== undefined), 'must name what to mask')
  .meta({ id: 'WantedMaskRule' })

export const shareView = z
  .object({
    share_id: z.string(),
    name: z.string().nullable().describe('Name for people of the account. The holder of the token does not see it.'),
    status: shareStatusView,
    trace_id: z.string(),
    job_id: z
      .string()
      .nullable()
      .describe('Attribution job whose graph is shared; null: only the readings are shared.'),
    model_version_id: z.string().nullable(),
    scope_kind: scopeKindView,
    masked_node_ids: z
      .array(z.string())
      .describe(
        'Neurons that a grant unmasks: masked by this share and by earlier shares of the trace. Without ' +
          '`reveals_prompt` a graph shows neurons of the last position alone.',
      ),
    mask_rule: z.object(maskRule).meta({ id: 'MaskRule' }).nullable(),
    reveal: z.array(revealedView),
    reveals_prompt: z.boolean().describe('Whether single positions of the text are shown, and with them its words.'),
    disclosure_mode: disclosureModeView,
    shown_before: z
      .number()
      .int()
      .describe('Number of masked neurons that an earlier view of this trace may have shown.'),
    created_by: actorView,
    created_at: timestampView,
    expires_at: timestampView,
    revoked_at: timestampView.nullable(),
    revoked_by: actorView.nullable(),
  })
  .meta({ id: 'TraceShare' })

export const createdShareView = extended(
  shareView,
  {
    token: z.string().optional().describe('Token of the share, in this answer only.'),
    url: z.string().optional().describe('Page that shows the share. The token is in the fragment.'),
    secret_shown: z.literal(false).optional().describe('A replay of the creation, without the token.'),
  },
  { id: 'CreatedTraceShare' },
)

export const viewLogView = z
  .object({
    view_id: z.string(),
    share_id: z.string(),
    viewed_at: timestampView,
    network: z.string().describe('Address of the viewer, truncated to /24 or /48.'),
    request_id: z
      .string()
      .nullable()
      .describe('Request of the granted person; null: viewed with the token of the share.'),
    graph: z.boolean().describe('Whether the graph was shown.'),
    masked_nodes: z.number().int(),
    disclosed_nodes: z.number().int(),
  })
  .meta({ id: 'ShareView' })

const graphView = shownAs(
  z.custom<SharedGraph>((value) => typeof value === 'object' && value !== null),
  manifestView,
)

export const sharedView = z
  .object({
    share_id: z.string(),
    expires_at: timestampView,
    trace: traceReadingsView,
    masked_nodes: z.number().int().describe('Number of neurons that are masked in this answer.'),
    disclosure_mode: disclosureModeView,
    reveals_prompt: z
      .boolean()
      .describe(
        'false: the graph shows the last position of the text, and all before it as one node for each message.',
      ),
    disclosure: z
      .object({
        request_id: z.string(),
        expires_at: timestampView,
        node_ids: z.array(z.string()).describe('Disclosed nodes of the graph.'),
      })
      .meta({ id: 'SharedDisclosure' })
      .nullable()
      .describe('Set with the token of a granted person.'),
    graph: graphView
      .nullable()
      .describe('The manifest of the job, masked: the schema of circuit-tracer and Neuronpedia.'),
  })
  .meta({ id: 'SharedView' })

export const askedView = z
  .object({
    request_id: z.string(),
    status: requestStatusView,
    expires_at: timestampView.describe(
      'End of the code; after verification the end of the request; after a grant the end of the grant.',
    ),
  })
  .meta({ id: 'AskedDisclosure' })

export const requestView = z
  .object({
    request_id: z.string(),
    status: requestStatusView,
    share_id: z.string(),
    trace_id: z.string(),
    model_version_id: z.string().nullable(),
    scope_kind: scopeKindView,
    masked_node_ids: z.array(z.string()).describe('Neurons that a grant shows.'),
    email: z.string().nullable().describe('Verified address; null once it is erased, 30 days after the end.'),
    purpose: z.string().nullable(),
    created_at: timestampView,
    verified_at: timestampView.nullable(),
    decided_at: timestampView.nullable(),
    decided_by: actorView
      .nullable()
      .describe(
        'Who decided; the service where the share has the mode `auto`. Revoking the share does not change this value, ' +
          'because that decides no request.',
      ),
    expires_at: timestampView,
  })
  .meta({ id: 'DisclosureRequest' })

export function toShareView(share: ShownShare, at: Date): z.input<typeof shareView> {
  return {
    share_id: share.id,
    name: share.name,
    status: statusOf(share, at),
    trace_id: share.traceId,
    job_id: share.jobId,
    model_version_id: share.modelVersionId,
    scope_kind: share.scopeKind,
    masked_node_ids: share.maskedNodeIds,
    mask_rule: share.maskRule === null ? null : toRule(share.maskRule),
    reveal: share.reveals,
    reveals_prompt: share.revealsPrompt,
    disclosure_mode: share.disclosureMode,
    shown_before: share.shownBefore,
    created_by: share.createdBy,
    created_at: share.createdAt.toISOString(),
    expires_at: share.expiresAt.toISOString(),
    revoked_at: share.revokedAt?.toISOString() ?? null,
    revoked_by: share.revokedBy,
  }
}

function toRule({
  layers,
  ...rule
}: NonNullable<ShareRow['maskRule']>): NonNullable<z.input<typeof shareView>['mask_rule']> {
  return { ...rule, ...(layers !== undefined && { layers: [...layers] }) }
}

export function toViewLogView(view: ShareViewRow): z.input<typeof viewLogView> {
  return {
    view_id: view.id,
    share_id: view.shareId,
    viewed_at: view.viewedAt.toISOString(),
    network: view.network,
    request_id: view.requestId,
    graph: view.hasGraph,
    masked_nodes: view.maskedNodes,
    disclosed_nodes: view.disclosedNodes,
  }
}

export function toSharedView({
  share,
  trace,
  graph,
  revealsPrompt,
  maskedNodes,
  disclosure,
}: SharedView): z.input<typeof sharedView> {
  return {
    share_id: share.id,
    expires_at: share.expiresAt.toISOString(),
    trace: toTraceReadings(trace),
    masked_nodes: maskedNodes,
    disclosure_mode: share.disclosureMode,
    reveals_prompt: revealsPrompt,
    disclosure:
      disclosure === undefined
        ? null
        : {
            request_id: disclosure.requestId,
            expires_at: disclosure.endsAt.toISOString(),
            node_ids: [...disclosure.nodeIds],
          },
    graph: graph ?? null,
  }
}

export function toAskedView({ id, status, endsAt }: ShownRequest): z.input<typeof askedView> {
  return { request_id: id, status, expires_at: endsAt.toISOString() }
}

export function toRequestView({ person, share, decider, ...row }: ListedRequest): z.input<typeof requestView> {
  return {
    request_id: row.id,
    status: row.status,
    share_id: row.shareId,
    trace_id: share.traceId,
    model_version_id: share.modelVersionId,
    scope_kind: share.scopeKind,
    masked_node_ids: share.maskedNodeIds,
    email: person?.email ?? null,
    purpose: person?.purpose ?? null,
    created_at: row.createdAt.toISOString(),
    verified_at: row.verifiedAt?.toISOString() ?? null,
    decided_at: row.decidedAt?.toISOString() ?? null,
    decided_by: decider,
    expires_at: row.endsAt.toISOString(),
  }
}
