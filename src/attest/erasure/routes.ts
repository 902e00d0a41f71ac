import { claimView, toClaimView } from '#src/attest/claims/views.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import type { ClaimErasure } from './erase.ts'

export function claimErasureRoutes(erasure: ClaimErasure): Route[] {
  return [
    endpoint(
      {
        method: 'DELETE',
        path: '/v1/claims/:id',
        operationId: 'eraseClaim',
        sdk: 'claims.erase',
        effect: 'destructive',
        kind: 'call',
        params: idParams('clm'),
        summary: 'Erase the media and positions of a claim permanently; hashes and signed results stay',
        scope: 'admin',
        permission: 'claims.erase',
        audits: 'claim.erased',
        view: claimView,
        status: [200],
      },
      async ({ caller, params, requestId, idempotencyKey }) =>
        toClaimView(await erasure.erase(caller, params.id, { requestId, idempotencyKey })),
      async ({ caller }, id) => toClaimView(await erasure.find(caller, id)),
    ),
  ]
}
