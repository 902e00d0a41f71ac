import { z } from 'zod'
import {
  documentMembers,
  parseVersion,
  replyVersion,
  requireIfMatch,
  toDocumentView,
  versionParams,
} from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import { policyDocument } from './policy.ts'
import type { RiskPolicy, StoredRiskPolicy } from './risk-policy.ts'

const common = { scope: 'admin', permission: 'policy.write', needsAccountKey: true } as const
const PATH = '/v1/account/risk-policy'

const policyView = z.object(documentMembers(policyDocument)).meta({ id: 'RiskPolicy' })
const replaceBody = z.strictObject({ document: policyDocument })

export function riskPolicyRoutes(risk: RiskPolicy): Route[] {
  const answer = (stored: StoredRiskPolicy) => replyVersion(toDocumentView(stored))

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
        body: replaceBody,
        view: policyView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, requestId, header }) => {
        const expected = requireIfMatch(header('If-Match'))
        return answer(await risk.put(caller, { document: body.document, expected, requestId }, idempotencyKey))
      },
      async ({ caller }, version) => answer(await risk.getVersion(caller, Number(version))),
    ),
    listEndpoint(
      {
        ...common,
        permission: 'policy.read',
        path: `${PATH}/versions`,
        operationId: 'listRiskPolicyVersions',
        sdk: 'account.riskPolicy.listVersions',
        summary: 'All versions of the risk policy, newest first, and who made each',
        query: pageQuery,
        item: policyView,
      },
      ({ caller, query }) => risk.versions(caller, query),
      toDocumentView,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'policy.read',
        path: `${PATH}/versions/:version`,
        operationId: 'getRiskPolicyVersion',
        sdk: 'account.riskPolicy.retrieveVersion',
        effect: 'read',
        kind: 'call',
        summary: 'One version of the risk policy',
        params: versionParams,
        view: policyView,
        status: [200],
      },
      async ({ caller, params }) => answer(await risk.getVersion(caller, parseVersion(params.version))),
    ),
  ]
}
