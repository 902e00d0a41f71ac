import { z } from 'zod'
import { invalidField } from '#src/failure.ts'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { policyBody } from './policy.ts'
import type { CurrentPolicy, RiskPolicy } from './risk-policy.ts'
import { dryRunView, policyView, toDryRunView, toPolicyView } from './views.ts'

const MAX_CHANGES = 500

const time = z.iso.datetime({ offset: true }).optional()
const dryRunRequest = z.strictObject({
  policy: policyBody,
  created_gte: time.describe('Claims created at or after.'),
  created_lt: time.describe('Claims created before.'),
  limit: z.number().int().min(1).max(MAX_CHANGES).default(100).describe('How many changed claims to answer at most.'),
  cursor: z.string().max(1_024).optional().describe('next_cursor of the page before.'),
})

const common = { tag: 'Account', scope: 'admin', needsAccountKey: true } as const
const PATH = '/v1/account/risk-policy'

export function riskPolicyRoutes(risk: RiskPolicy): Route[] {
  const answer = (current: CurrentPolicy) => reply(200, toPolicyView(current), { ETag: `"${current.version}"` })

  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        path: PATH,
        operationId: 'getRiskPolicy',
        summary: 'The risk policy that counts, with its version as ETag',
        view: policyView,
        status: [200],
      },
      async ({ caller }) => answer(await risk.get(caller)),
    ),
    endpoint(
      {
        ...common,
        method: 'PUT',
        path: PATH,
        operationId: 'replaceRiskPolicy',
        summary: 'Replace the risk policy, and have what it judges otherwise judged again',
        body: policyBody,
        view: policyView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, requestId, header }) => {
        const expected = parseIfMatch(header('If-Match'))
        return answer(
          await risk.put(caller, { policy: body, expected, keyId: caller.keyId, requestId }, idempotencyKey),
        )
      },
      async ({ caller }, version) => answer(await risk.getVersion(caller, Number(version))),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${PATH}/versions`,
        operationId: 'listRiskPolicyVersions',
        summary: 'All versions of the risk policy, newest first, with who made them',
        query: z.object({ limit: listQuery.limit, cursor: listQuery.cursor }),
        view: listOf(policyView),
        status: [200],
      },
      async ({ caller, query }) => {
        const { data, ...page } = await risk.versions(caller, query)
        return { ...page, data: data.map(toPolicyView) }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: `${PATH}/dry-run`,
        operationId: 'dryRunRiskPolicy',
        summary: 'How many past claims another risk policy would change, and which: nothing is changed',
        body: dryRunRequest,
        view: dryRunView,
        status: [200],
      },
      async ({ caller, body }) => toDryRunView(await risk.dryRun(caller, body)),
      // Nothing is ever made that a replay could show.
      async ({ caller, body }) => toDryRunView(await risk.dryRun(caller, body)),
    ),
  ]
}

// RFC 9110 13.1.1: one tag or several, compared strongly; `*` is whatever there is, and there always is one.
function parseIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const tags = header.split(',').map((tag) => /^"([0-9]{1,9})"$/.exec(tag.trim())?.[1])
  if (tags.includes(undefined)) {
    throw invalidField('If-Match', 'invalid_value', 'must be the ETag of a version, such as "3"')
  }
  return tags.map(Number)
}
