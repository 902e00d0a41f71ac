import { z } from 'zod'
import { advisoryCodeView, factorCodeView, provenanceStatusView, riskStatusView } from '../judgement-views.ts'
import type { ClaimChange, DryRun } from './dry-run.ts'
import type { CurrentPolicy } from './risk-policy.ts'

export const policyView = z
  .object({
    version: z.number().int().describe('0: the defaults, which nobody set.'),
    require_attestation: z.boolean(),
    require_biometric: z.boolean(),
    require_gps: z.boolean(),
    require_session_nonce: z.boolean(),
    thresholds: z.object({ review: z.number().int(), failed: z.number().int() }),
    geofence_m: z.number(),
    changed_at: z.iso.datetime().nullable(),
    changed_by: z.string().nullable().describe('The API key that made this version.'),
  })
  .meta({ id: 'RiskPolicy' })

export function toPolicyView({ version, policy, createdAt, keyId }: CurrentPolicy): z.infer<typeof policyView> {
  return { version, ...policy, changed_at: createdAt?.toISOString() ?? null, changed_by: keyId }
}

const standing = z
  .object({ risk_status: riskStatusView, risk_score: z.number().int(), provenance_status: provenanceStatusView })
  .meta({ id: 'JudgedStanding' })
const factors = z.array(factorCodeView)
const advisories = z.array(advisoryCodeView)

export const dryRunView = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        claim_id: z.string(),
        reference: z.string().nullable(),
        before: standing,
        after: standing,
        added_factors: factors,
        removed_factors: factors,
        added_advisories: advisories,
        removed_advisories: advisories,
      }),
    ),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    looked: z.number().int().describe('Claims that this page has looked at.'),
    would_change: z.number().int().describe('Those of them that would change: all are in `data`.'),
    unknown: z
      .number()
      .int()
      .describe(
        'Those of them that can’t be told without judging them again: judged by older rules, or very many captures.',
      ),
  })
  .meta({ id: 'RiskPolicyDryRun' })

export function toDryRunView({ changes, looked, unknown, nextCursor }: DryRun): z.infer<typeof dryRunView> {
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

function toChangeView({ claim, before, after }: ClaimChange): z.infer<typeof dryRunView>['data'][number] {
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
