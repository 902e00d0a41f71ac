import { z } from 'zod'
import type { PastResult } from '#src/attest/claims/result-rows.ts'
import { keyRevocationView } from '#src/platform/crypto/key-views.ts'
import type { KeySet, SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { timestampView, type WorkStatus, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import { revocationMember } from '../claims/views.ts'
import { hardwareTierView, provenanceStatusView, riskStatusView } from '../judgement-views.ts'
import type { Reevaluation, Reevaluations } from './reevaluations.ts'

const CAUSES = ['device_revoked', 'revocation_list', 'policy_changed', 'screening', 'requested'] as const

const causeView = z.enum(CAUSES).meta({ id: 'ReevaluationCause' })
const count = z.number().int()

const reevaluationView = z
  .object({
    reevaluation_id: z.string(),
    cause: causeView,
    device_id: z.string().optional(),
    policy_version: z.number().int().optional(),
    media_sha256: z.string().optional(),
    status: workStatusView.describe(
      'succeeded: every attestation that it affects was re-evaluated, or counts as failed.',
    ),
    failure: workFailureView('ReevaluationFailure', ['attempts_exhausted'])
      .nullable()
      .describe('With `failed`: `attempts_exhausted`. The search ended, and an operator can start it again.'),
    searched_at: timestampView
      .nullable()
      .describe('When all affected attestations were found; null while they are searched, and `touched` grows.'),
    looked: count.describe('Attestations examined so far.'),
    touched: count.describe('Those of them that are re-evaluated: the sum of the five below.'),
    pending: count,
    changed: count,
    unchanged: count,
    skipped: count.describe('Neither the facts nor the media are stored any more.'),
    failed: count.describe('Not tried again automatically: an operator can redrive them.'),
    created_at: timestampView,
    finished_at: timestampView.nullable(),
  })
  .meta({ id: 'Reevaluation' })

const resultView = z
  .object({
    number: z.number().int().describe('From 1, the first result.'),
    evaluated_at: timestampView,
    replaced_at: timestampView,
    replaced_for: z.array(z.string()).describe('The re-evaluations that replaced it.'),
    risk_status: riskStatusView,
    risk_score: z.number().int(),
    provenance_status: provenanceStatusView,
    hardware_tier: hardwareTierView,
    rules_version: z.string(),
    policy_version: z.number().int().nullable(),
    result_jws: z.string(),
    signing_key_revoked: keyRevocationView.optional().describe('Of the key that signed `result_jws`.'),
  })
  .meta({ id: 'ReplacedResult' })

export function reevaluationRoutes(reevaluations: Reevaluations, { jwks }: Pick<SigningKeys, 'jwks'>): Route[] {
  return [
    listEndpoint(
      {
        path: '/v1/account/reevaluations',
        operationId: 'listReevaluations',
        sdk: 'account.reevaluations.list',
        summary: 'Re-evaluations and their causes, newest first',
        scope: 'admin',
        permission: 'policy.read',
        needsAccountKey: true,
        query: {
          limit: listQuery.limit,
          cursor: listQuery.cursor,
          created_gte: listQuery.created_gte,
          created_lt: listQuery.created_lt,
          cause: several(causeView).optional(),
        },
        item: reevaluationView,
      },
      ({ caller, query }) => reevaluations.list(caller, query),
      toReevaluationView,
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/account/reevaluations/:id',
        operationId: 'getReevaluation',
        sdk: 'account.reevaluations.retrieve',
        effect: 'read',
        kind: 'wait',
        params: idParams('ree'),
        summary: 'One re-evaluation, with its progress',
        query: z.object({ wait: waitQuery.default(0) }),
        waits: true,
        scope: 'admin',
        permission: 'policy.read',
        needsAccountKey: true,
        view: reevaluationView,
        status: [200],
      },
      async ({ caller, params, query, signal }) =>
        toReevaluationView(await reevaluations.awaitReevaluation(caller, params.id, query.wait, signal)),
    ),
    listEndpoint(
      {
        path: '/v1/attestations/:id/results',
        operationId: 'listReplacedResults',
        sdk: 'claims.attestations.listResults',
        params: idParams('att'),
        summary: 'The results of an attestation that later ones replaced, signed as they were, newest first',
        scope: 'attest',
        permission: 'claims.read',
        query: pageQuery,
        item: resultView,
      },
      async ({ caller, params, query }) => {
        const { data, ...page } = await reevaluations.results(caller, params.id, query)
        const keys = await jwks()
        return { ...page, data: data.map((row) => toResultView(row, keys)) }
      },
    ),
  ]
}

function toReevaluationView(row: Reevaluation): z.infer<typeof reevaluationView> {
  const { counts, subject } = row
  return {
    reevaluation_id: row.id,
    cause: row.cause,
    ...(typeof subject.deviceId === 'string' ? { device_id: subject.deviceId } : {}),
    ...(typeof subject.version === 'number' ? { policy_version: subject.version } : {}),
    ...(typeof subject.mediaSha256 === 'string' ? { media_sha256: subject.mediaSha256 } : {}),
    status: statusOf(row),
    failure: isFailed(row) ? FAILURE : null,
    searched_at: row.walkedAt?.toISOString() ?? null,
    looked: row.looked,
    touched: counts.pending + counts.changed + counts.unchanged + counts.skipped + counts.failed,
    ...counts,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

const FAILURE = { code: 'attempts_exhausted', detail: 'Every attempt to search the attestations failed.' } as const

function isFailed({ finishedAt, failedAt }: Reevaluation): boolean {
  return finishedAt === null && failedAt !== null
}

function statusOf(row: Reevaluation): WorkStatus {
  if (row.finishedAt !== null) return 'succeeded'
  if (isFailed(row)) return 'failed'
  return row.seenAt === null ? 'queued' : 'running'
}

function toResultView(row: PastResult, keys: KeySet): z.infer<typeof resultView> {
  return {
    number: row.seq,
    evaluated_at: row.evaluatedAt.toISOString(),
    replaced_at: row.replacedAt.toISOString(),
    replaced_for: row.replacedFor,
    risk_status: row.riskStatus,
    risk_score: row.riskScore,
    provenance_status: row.provenanceStatus,
    hardware_tier: row.hardwareTier,
    rules_version: row.rulesVersion,
    policy_version: row.policyVersion,
    result_jws: row.resultJws,
    ...revocationMember(row.resultJws, keys),
  }
}
