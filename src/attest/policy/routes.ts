import { z } from 'zod'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { policyBody } from './policy.ts'
import type { CurrentPolicy, RiskPolicy } from './risk-policy.ts'

const common = { scope: 'admin', permission: 'policy.write', needsAccountKey: true } as const
const PATH = '/v1/account/risk-policy'

const policyView = z
  .object({
    version: z.number().int().describe('0: the defaults, before a policy is set.'),
    require_attestation: z.boolean(),
    require_biometric: z.boolean(),
    require_gps: z.boolean(),
    require_session_nonce: z.boolean(),
    thresholds: z.object({ review: z.number().int(), failed: z.number().int() }),
    geofence_m: z.number(),
    changed_at: z.iso.datetime().nullable(),
    changed_by: z.string().nullable().describe('The API key or user that made this version.'),
  })
  .meta({ id: 'RiskPolicy' })

export function riskPolicyRoutes(risk: RiskPolicy): Route[] {
  const answer = (current: CurrentPolicy) => reply(200, toPolicyView(current), { ETag: `"${current.version}"` })

  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'policy.read',
        path: PATH,
        operationId: 'getRiskPolicy',
        sdk: 'account.riskPolicy.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'The current risk policy, with its version as ETag',
        view: policyView,
        status: [200],
      },
      async ({ caller }) => answer(await risk.get(caller)),
    ),
    endpoint(
      {
        ...common,
        audits: 'risk_policy.changed',
        method: 'PUT',
        path: PATH,
        operationId: 'replaceRiskPolicy',
        sdk: 'account.riskPolicy.update',
        effect: 'write',
        kind: 'call',
        summary: 'Replace the risk policy, and re-evaluate the results that it judges differently',
        body: policyBody,
        view: policyView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, requestId, header }) => {
        const expected = parseIfMatch(header('If-Match'))
        return answer(await risk.put(caller, { policy: body, expected, requestId }, idempotencyKey))
      },
      async ({ caller }, version) => answer(await risk.getVersion(caller, Number(version))),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'policy.read',
        path: `${PATH}/versions`,
        operationId: 'listRiskPolicyVersions',
        sdk: 'account.riskPolicy.listVersions',
        effect: 'read',
        kind: 'list',
        summary: 'All versions of the risk policy, newest first, with the key or user that made each',
        query: z.object({ limit: listQuery.limit, cursor: listQuery.cursor }),
        view: listOf(policyView),
        status: [200],
      },
      async ({ caller, query }) => {
        const { data, ...page } = await risk.versions(caller, query)
        return { ...page, data: data.map(toPolicyView) }
      },
    ),
  ]
}

function toPolicyView({ version, policy, createdAt, changedBy }: CurrentPolicy): z.infer<typeof policyView> {
  return { version, ...policy, changed_at: createdAt?.toISOString() ?? null, changed_by: changedBy }
}
