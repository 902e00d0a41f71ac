import { z } from 'zod'
import { Failure, invalidField } from '#src/failure.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { parsePrefer, replyWaited, waitQuery } from '#src/platform/http/prefer.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { ADVISORIES, FACTOR_CODES } from '../factors/table.ts'
import { claimRiskStatusView, provenanceStatusView } from '../judgement-views.ts'
import type { Claims } from './claims.ts'
import type { AttestationRow } from './rows.ts'
import { attestRequest, MAX_BODY_BYTES, MAX_BODY_VALUES } from './submission.ts'
import { attestationView, claimView, evidenceView, toAttestationView, toClaimView, toEvidenceView } from './views.ts'

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
        summary: 'One attestation, with its result once it is evaluated',
        scope: 'attest',
        permission: 'claims.read',
        query: z.object({ wait: waitQuery.default(0) }),
        view: attestationView,
        status: [200, 202],
      },
      async ({ caller, params, query, signal }) =>
        answer(await claims.awaitAttestation(caller, params.id, { waitSeconds: query.wait, signal })),
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
        summary: 'Start a failed evaluation over, or submit a cancelled capture again',
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
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims',
        operationId: 'listClaims',
        sdk: 'claims.list',
        effect: 'read',
        kind: 'list',
        summary: 'Claims, newest first',
        scope: 'verify',
        permission: 'claims.read',
        query: z.object({
          ...listQuery,
          reference: z.string().max(255).optional(),
          external_id: z.string().max(255).optional(),
          batch_id: z.string().max(64).optional(),
          risk_status: claimRiskStatusView.optional(),
          provenance_status: provenanceStatusView.optional(),
          factor: code.optional(),
          device_id: z.string().max(64).optional(),
        }),
        view: listOf(claimView),
        status: [200],
      },
      async ({ caller, query }) => {
        checkFilter('batch_id', query.batch_id, 'bat', caller)
        checkFilter('device_id', query.device_id, 'dev', caller)
        const filter = {
          reference: query.reference,
          externalId: query.external_id,
          batchId: query.batch_id,
          riskStatus: query.risk_status,
          provenanceStatus: query.provenance_status,
          factor: query.factor,
          deviceId: query.device_id,
          createdFrom: query.created_gte === undefined ? undefined : new Date(query.created_gte),
          createdBefore: query.created_lt === undefined ? undefined : new Date(query.created_lt),
        }
        const { data, totalCount, ...page } = await claims.list(caller, filter, query)
        return {
          ...page,
          data: data.map(toClaimView),
          ...(totalCount === undefined ? {} : { total_count: totalCount }),
        }
      },
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
        summary: 'One claim',
        scope: 'verify',
        permission: 'claims.read',
        view: claimView,
        status: [200],
      },
      async ({ caller, params }) => toClaimView(await claims.get(caller, params.id)),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims/:id/attestations',
        operationId: 'listAttestations',
        sdk: 'claims.attestations.list',
        effect: 'read',
        kind: 'list',
        params: idParams('clm'),
        summary: 'The attestations of a claim with what was submitted, newest first',
        scope: 'verify',
        permission: 'claims.read',
        query: z.object({ limit: listQuery.limit, cursor: listQuery.cursor }),
        view: listOf(evidenceView),
        status: [200],
      },
      async ({ caller, params, query }) => {
        const { data, ...page } = await claims.listAttestations(caller, params.id, query)
        const keys = await jwks()
        return { ...page, data: data.map((row) => toEvidenceView(row, keys)) }
      },
    ),
  ]
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
