import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { anchorRequest, deletedView, rootCaView, toRootCaView } from '../devices/views.ts'
import type { C2paAnchors } from './anchors.ts'
import type { C2paAnchorRow } from './rows.ts'

const { root_ca_id: anchorId, ...certificateFields } = rootCaView.shape
const anchorView = z.object({ c2pa_anchor_id: anchorId, ...certificateFields }).meta({ id: 'C2paAnchor' })

export function c2paRoutes(anchors: C2paAnchors): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/c2pa-anchors',
        operationId: 'createC2paAnchor',
        tag: 'Media',
        summary: 'Trust a CA certificate (PEM, or base64 of DER) that signers of C2PA manifests may lead to',
        scope: 'admin',
        body: anchorRequest,
        view: anchorView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => toView(await anchors.register(caller, body, idempotencyKey)),
      async ({ caller }, id) => toView(await anchors.get(caller, id)),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/admin/c2pa-anchors',
        operationId: 'listC2paAnchors',
        tag: 'Media',
        summary: 'Anchors of C2PA manifests, newest first',
        scope: 'admin',
        query: z.strictObject(listQuery),
        view: listOf(anchorView),
        status: [200],
      },
      async ({ caller, query }) => {
        const { data, ...page } = await anchors.list(caller, query)
        return { ...page, data: data.map(toView) }
      },
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/admin/c2pa-anchors/:id',
        operationId: 'getC2paAnchor',
        params: idParams('cpa'),
        tag: 'Media',
        summary: 'One anchor of C2PA manifests',
        scope: 'admin',
        view: anchorView,
        status: [200],
      },
      async ({ caller, params }) => toView(await anchors.get(caller, params.id)),
    ),
    endpoint(
      {
        method: 'DELETE',
        path: '/v1/admin/c2pa-anchors/:id',
        operationId: 'deleteC2paAnchor',
        params: idParams('cpa'),
        tag: 'Media',
        summary: 'Stop trusting an anchor of C2PA manifests, for what is judged from then on',
        scope: 'admin',
        view: deletedView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => {
        await anchors.remove(caller, params.id, idempotencyKey)
        return { id: params.id, deleted: true as const }
      },
      async (_, id) => ({ id, deleted: true as const }),
    ),
  ]
}

function toView(anchor: C2paAnchorRow): z.input<typeof anchorView> {
  const { root_ca_id: id, ...fields } = toRootCaView(anchor)
  return { c2pa_anchor_id: id, ...fields }
}
