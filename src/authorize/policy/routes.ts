import { z } from 'zod'
import { parseVersion, replyVersion, requireIfMatch, versionParams } from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import { jsonObject } from '#src/platform/http/params.ts'
import { fieldErrorView } from '#src/platform/http/rejection.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { parseWith } from '#src/platform/http/validate.ts'
import type { Scope } from '#src/platform/ids.ts'
import { documentSchema, type PolicyDocument } from './document.ts'
import { ineffectiveWhenMissing } from './missing-fields.ts'
import type { Policies, StoredPolicy } from './policies.ts'
import { findingView, policyView, toPolicyView, toSummaryView, versionSummaryView } from './views.ts'

export const PATH = '/v1/policy'
export const COMMON = { scope: 'admin', needsAccountKey: true } as const
/** A document of 1,000 rules with some comparisons each. */
export const DOCUMENT_LIMITS = { maxBodyBytes: 1024 * 1024, maxBodyValues: 60_000 } as const

const validationView = z
  .object({
    valid: z.boolean(),
    errors: z.array(fieldErrorView),
    findings: z
      .array(findingView)
      .describe('Deny rules of a valid document that a missing field turns off. analyze finds these and more.'),
  })
  .meta({ id: 'PolicyValidation' })

const validateBody = z.strictObject({
  document: jsonObject.describe('What PUT /v1/policy takes. Pointers of errors and findings are of the document.'),
})

const replaceBody = z.strictObject({ document: documentSchema })

const rollbackBody = z.strictObject({
  version: z.number().int().min(0).max(999_999_999).describe('The version to return to; 0 is the defaults.'),
})

export function policyRoutes(policies: Policies): Route[] {
  const answer = (policy: StoredPolicy) => replyVersion(toPolicyView(policy))

  const validate = async ({ caller, body }: { caller: Scope; body: z.output<typeof validateBody> }) => {
    const parsed = parseWith(documentSchema, body.document, 'body')
    const errors = parsed.ok ? policies.problemsOf(parsed.value as PolicyDocument, caller.environment) : parsed.errors
    const findings = errors.length === 0 && parsed.ok ? ineffectiveWhenMissing(parsed.value as PolicyDocument) : []
    return { valid: errors.length === 0, errors, findings }
  }

  return [
    endpoint(
      {
        ...COMMON,
        method: 'GET',
        permission: 'policy.read',
        path: PATH,
        operationId: 'getPolicy',
        sdk: 'policy.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'The current policy, with its version as ETag',
        view: policyView,
        status: [200],
      },
      async ({ caller }) => answer(await policies.get(caller)),
    ),
    endpoint(
      {
        ...COMMON,
        ...DOCUMENT_LIMITS,
        audits: 'policy.changed',
        method: 'PUT',
        permission: 'policy.write',
        path: PATH,
        operationId: 'replacePolicy',
        sdk: 'policy.update',
        effect: 'write',
        kind: 'call',
        summary: 'Replace the policy by a new version',
        body: replaceBody,
        view: policyView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, header }) => {
        const expected = requireIfMatch(header('If-Match'))
        return answer(await policies.put(caller, { document: body.document, expected }, idempotencyKey))
      },
      async ({ caller }, version) => answer(await policies.getVersion(caller, Number(version))),
    ),
    endpoint(
      {
        ...COMMON,
        ...DOCUMENT_LIMITS,
        method: 'POST',
        permission: 'policy.read',
        path: `${PATH}/validate`,
        operationId: 'validatePolicy',
        sdk: 'policy.validate',
        effect: 'read',
        kind: 'call',
        summary: 'Whether a document would be accepted, with every finding',
        body: validateBody,
        view: validationView,
        status: [200],
      },
      validate,
      // It creates nothing that a repeated request could show: it is answered anew.
      validate,
    ),
    listEndpoint(
      {
        ...COMMON,
        permission: 'policy.read',
        path: `${PATH}/versions`,
        operationId: 'listPolicyVersions',
        sdk: 'policy.versions.list',
        summary: 'All versions of the policy, newest first, and who made each',
        query: pageQuery,
        item: versionSummaryView,
      },
      ({ caller, query }) => policies.versions(caller, query),
      toSummaryView,
    ),
    endpoint(
      {
        ...COMMON,
        method: 'GET',
        permission: 'policy.read',
        path: `${PATH}/versions/:version`,
        operationId: 'getPolicyVersion',
        sdk: 'policy.versions.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One version of the policy',
        params: versionParams,
        view: policyView,
        status: [200],
      },
      async ({ caller, params }) => answer(await policies.getVersion(caller, parseVersion(params.version))),
    ),
    endpoint(
      {
        ...COMMON,
        audits: 'policy.rolled_back',
        method: 'POST',
        permission: 'policy.write',
        path: `${PATH}/rollback`,
        operationId: 'rollBackPolicy',
        sdk: 'policy.rollback',
        effect: 'write',
        kind: 'call',
        summary: 'Make a new version with the document of an earlier one',
        body: rollbackBody,
        view: policyView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, header }) => {
        const expected = parseIfMatch(header('If-Match'))
        return answer(await policies.rollback(caller, { version: body.version, expected }, idempotencyKey))
      },
      async ({ caller }, version) => answer(await policies.getVersion(caller, Number(version))),
    ),
  ]
}
