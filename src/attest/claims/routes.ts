import { z } from 'zod'
import { Failure, invalidField } from '#src/failure.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery, orderQuery, pageQuery } from '#src/platform/http/page.ts'
import { boundTime, flag, idParams, several } from '#src/platform/http/params.ts'
import { parsePrefer, replyWaited, waitQuery } from '#src/platform/http/prefer.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'

import { ADVISORIES, FACTOR_CODES } from '../factors/table.ts'
import { claimRiskStatusView, provenanceStatusView } from '../judgement-views.ts'
import { CLAIM_ORDERS } from './claim-rows.ts'
import type { Claims } from './claims.ts'
import type { AttestationRow } from './rows.ts'
import { attestRequest, MAX_BODY_BYTES, MAX_BODY_VALUES } from './submission.ts'
import { attestationView, claimView, evidenceView, toAttestationView, toClaimView, toEvidenceView } from './views.ts'

const scoreBound = z
  .string()
  .regex(/^[0-9]{1,4}$/, 'must be a whole number from 0 to 9999')
  .transform(Number)
  // A query is text; a client generator should see the number in it.
  .meta({ type: 'integer', minimum: 0, maximum: 9_999, pattern: undefined })

const code = z.enum([...FACTOR_CODES, ...ADVISORIES]).meta({ id: 'AnyFactorCode' })

export function claimRoutes(claims: Claims, { jwks }: Pick<SigningKeys, 'jwks'>): Route[] {
  /** @param applied What was applied of the header Prefer. @param status Of a replay: that of the first answer. */
  async function answer(row: AttestationRow, applied?: string, status?: number) {
    const isQueued = row.status === 'queued'
    const location = `/v1/attestations/${row.id}`
    const retryAfterSeconds = claims.retryAfterSeconds()
    return replyWaited(toAttestationView(row, await jwks()), { isQueued, location, applied, retryAfterSeconds, status })
  }

  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/claims/attest',
        operationId: 'attestClaim',
        sdk: 'claims.attest',
        effect: 'write',
        kind: 'wait',
        summary: 'Submit one signed capture and wait for its evaluation',
        scope: 'attest',
        permission: 'claims.submit',
        meters: 'attest',
        knowsRepeats: true,
        waits: true,
        body: attestRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        inlineBytes: '/media/data',
        view: attestationView,
        status: [202, 200],
      },
      async ({ caller, body, bytesOf, header, signal, overCap, idempotencyKey: key }) => {
        const { waitSeconds, applied } = parsePrefer(header('prefer'))
        return answer(await claims.attest(caller, body, { bytesOf, waitSeconds, signal, overCap, key }), applied)
      },
      async ({ caller, header, signal }, id, status) => {
        const { waitSeconds, applied } = parsePrefer(header('prefer'))
        return answer(await claims.awaitAttestation(caller, id, { waitSeconds, signal }), applied, status)
      },
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/attestations/:id',
        operationId: 'getAttestation',
        sdk: 'claims.attestations.retrieve',
        effect: 'read',
        kind: 'wait',
        params: idParams('att'),
        summary: 'Read one attestation, with its result once it is evaluated',
        scope: 'attest',
        permission: 'claims.read',
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait until it has ended.') }),
        waits: true,
        view: attestationView,
        status: [200],
      },
      async ({ caller, params, query, signal }) => {
        const row = await claims.awaitAttestation(caller, params.id, { waitSeconds: query.wait, signal })
        const headers = row.status === 'queued' ? { 'Retry-After': String(claims.retryAfterSeconds()) } : {}
        return reply(200, toAttestationView(row, await jwks()), headers)
      },
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/attestations/:id/retry',
        operationId: 'retryAttestation',
        sdk: 'claims.attestations.retry',
        effect: 'write',
        kind: 'call',
        params: idParams('att'),
        summary: 'Restart a failed evaluation, or submit a cancelled capture again',
        scope: 'attest',
        permission: 'claims.submit',
        meters: 'attest',
        view: attestationView,
        status: [202],
      },
      async ({ caller, params, idempotencyKey }) =>
        toAttestationView(await claims.retry(caller, params.id, idempotencyKey), await jwks()),
      async ({ caller, params, signal }) =>
        toAttestationView(await claims.awaitAttestation(caller, params.id, { waitSeconds: 0, signal }), await jwks()),
    ),
    listEndpoint(
      {
        path: '/v1/claims',
        operationId: 'listClaims',
        sdk: 'claims.list',
        summary: 'List claims, newest first, or by score or update',
        scope: 'verify',
        permission: 'claims.read',
        query: {
          ...listQuery,
          ...orderQuery,
          order_by: z
            .enum(CLAIM_ORDERS)
            .meta({ id: 'ClaimOrder' })
            .default('created')
            .describe('`created` when absent. With `score` the list has evaluated claims only.'),
          reference: z.string().max(255).optional(),
          external_id: z.string().max(255).optional(),
          batch_id: z.string().max(64).optional(),
          risk_status: several(claimRiskStatusView).optional(),
          provenance_status: several(provenanceStatusView).optional(),
          risk_score_gte: scoreBound.optional().describe('Claims with at least this score.'),
          risk_score_lt: scoreBound.optional().describe('Claims below this score.'),
          line: several(z.string().max(64)).optional(),
          has_case: flag.optional().describe('`true`: claims with an open case. `false`: claims without one.'),
          updated_gte: boundTime.optional().meta({ description: 'Updated at or after this time.' }),
          updated_lt: boundTime.optional().meta({ description: 'Updated before this time.' }),
          factor: code.optional(),
          device_id: z.string().max(64).optional(),
        },
        item: claimView,
      },
      ({ caller, query }) => {
        checkFilter('batch_id', query.batch_id, 'bat', caller)
        checkFilter('device_id', query.device_id, 'dev', caller)
        const filter = {
          reference: query.reference,
          externalId: query.external_id,
          batchId: query.batch_id,
          riskStatuses: query.risk_status,
          provenanceStatuses: query.provenance_status,
          scoreFrom: query.risk_score_gte,
          scoreBelow: query.risk_score_lt,
          lines: query.line,
          hasCase: query.has_case === undefined ? undefined : query.has_case === 'true',
          updatedFrom: timeOf(query.updated_gte),
          updatedBefore: timeOf(query.updated_lt),
          factor: query.factor,
          deviceId: query.device_id,
          ...createdBetween(query),
        }
        const order = { by: query.order_by, direction: query.order }
        return claims.list(caller, filter, { ...query, order })
      },
      toClaimView,
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims/:id',
        operationId: 'getClaim',
        sdk: 'claims.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('clm'),
        summary: 'Read one claim',
        scope: 'verify',
        permission: 'claims.read',
        view: claimView,
        status: [200],
      },
      async ({ caller, params }) => toClaimView(await claims.get(caller, params.id)),
    ),
    listEndpoint(
      {
        path: '/v1/claims/:id/attestations',
        operationId: 'listAttestations',
        sdk: 'claims.attestations.list',
        params: idParams('clm'),
        summary: 'List the attestations of a claim with their submissions, newest first',
        scope: 'verify',
        permission: 'claims.read',
        query: pageQuery,
        item: evidenceView,
      },
      async ({ caller, params, query }) => {
        const { data, ...page } = await claims.listAttestations(caller, params.id, query)
        const keys = await jwks()
        return { ...page, data: data.map((row) => toEvidenceView(row, keys)) }
      },
    ),
  ]
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

// A malformed id would match no row, and the caller would not see the typing error.
function checkFilter(name: string, id: string | undefined, type: 'bat' | 'dev', { environment }: Scope): void {
  try {
    if (id !== undefined) checkId(id, type, environment)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_found') throw error
    throw invalidField(`?${name}`, 'invalid_id', error.message)
  }
}
