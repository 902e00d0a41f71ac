import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf } from '#src/platform/http/page.ts'
import { timestamp } from '#src/platform/http/params.ts'
import { extended } from '#src/platform/http/views.ts'
import { advisoryCodeView, factorCodeView, provenanceStatusView, riskStatusView } from '../judgement-views.ts'
import { policyDocument } from '../policy/policy.ts'
import type { ClaimChange, DryRun } from './dry-run.ts'
import type { Reevaluations } from './reevaluations.ts'

const MAX_CHANGES = 500

const time = timestamp.optional()
const dryRunRequest = z.strictObject({
  document: policyDocument,
  created_gte: time.describe('Claims created at or after this time.'),
  created_lt: time.describe('Claims created before this time.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_CHANGES)
    .default(100)
    .describe('Maximum number of changed claims in the answer.'),
  cursor: z.string().max(1_024).optional().describe('`next_cursor` of the page before.'),
})

const standing = z
  .object({ risk_status: riskStatusView, risk_score: z.number().int(), provenance_status: provenanceStatusView })
  .meta({ id: 'JudgedStanding' })
const factors = z.array(factorCodeView)
const advisories = z.array(advisoryCodeView)

const claimChange = z
  .object({
    claim_id: z.string(),
    reference: z.string().nullable(),
    before: standing,
    after: standing,
    added_factors: factors,
    removed_factors: factors,
    added_advisories: advisories,
    removed_advisories: advisories,
  })
  .meta({ id: 'RejudgedClaim' })

const dryRunView = extended(
  listOf(claimChange),
  {
    looked: z.number().int().describe('Number of claims that this page has examined.'),
    would_change: z.number().int().describe('Number of claims that would change: all are in `data`.'),
    unknown: z
      .number()
      .int()
      .describe(
        'Number of claims without a result, because they need a new evaluation: older rules judged them, or they have ' +
          'very many captures.',
      ),
  },
  { id: 'RiskPolicyDryRun' },
)

function toDryRunView({ changes, looked, unknown, nextCursor }: DryRun): z.infer<typeof dryRunView> {
  return {
    object: 'list',
    data: changes.map(toChangeView),
    has_more: nextCursor !== null,
    next_cursor: nextCursor,
    looked,
    would_change: changes.length,
    unknown,
  }
}

function toChangeView({ claim, before, after }: ClaimChange): z.infer<typeof claimChange> {
  const factors = differenceOf(before.factorCodes, after.factorCodes)
  const advisories = differenceOf(before.advisoryCodes, after.advisoryCodes)
  return {
    claim_id: claim.id,
    reference: claim.reference,
    before: toStanding(before),
    after: toStanding(after),
    added_factors: factors.added,
    removed_factors: factors.removed,
    added_advisories: advisories.added,
    removed_advisories: advisories.removed,
  }
}

function toStanding({ riskStatus, riskScore, provenanceStatus }: ClaimChange['before']): z.infer<typeof standing> {
  return { risk_status: riskStatus, risk_score: riskScore, provenance_status: provenanceStatus }
}

function differenceOf(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  return {
    added: after.filter((code) => !before.includes(code)),
    removed: before.filter((code) => !after.includes(code)),
  }
}

export function dryRunRoutes(reevaluations: Reevaluations): Route[] {
  return [
    endpoint(
      {
        scope: 'admin',
        permission: 'policy.read',
        needsAccountKey: true,
        method: 'POST',
        path: '/v1/account/risk-policy/dry-run',
        operationId: 'dryRunRiskPolicy',
        sdk: 'account.riskPolicy.dryRun',
        effect: 'read',
        kind: 'call',
        summary: 'Preview which past claims another risk policy would change; nothing is changed',
        body: dryRunRequest,
        view: dryRunView,
        status: [200],
      },
      async ({ caller, body }) => toDryRunView(await reevaluations.dryRun(caller, body)),
      // A dry run creates nothing that a replay could show.
      async ({ caller, body }) => toDryRunView(await reevaluations.dryRun(caller, body)),
    ),
  ]
}
