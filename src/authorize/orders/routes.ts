// Orders in JSON, and as MedicationRequest of FHIR R4: in where the body has that media type, out where `Accept` asks for it. Errors of
// such requests are an OperationOutcome.

import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { z } from 'zod'
import { requireIfMatch } from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route, type StreamReply } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import type { ErrorForm } from '#src/platform/http/respond.ts'
import { problemType } from '#src/platform/http/respond.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'
import { scheduleSchema } from '../prescribers/policy-document.ts'
import {
  cancelRequest,
  cosignRequest,
  declineRequest,
  orderChallengeRequest,
  orderChange,
  orderRequest,
  readResource,
  signRequest,
} from './bodies.ts'
import { FHIR_TYPE, toMedicationRequest, toOperationOutcome } from './fhir.ts'
import type { OpenedOrder, Orders } from './orders.ts'
import type { Signing } from './signing.ts'
import { orderChallengeView, orderStatus, orderView, toChallengeView, toOrderView } from './views.ts'

const PATH = '/v1/clinical/orders'
const MAX_BODY_BYTES = 256 * 1024
const common = { needsAccountKey: true, kind: 'call', status: [200] } as const
const reading = { ...common, scope: 'intent', permission: 'orders.read', effect: 'read', view: orderView } as const
const writing = { ...common, scope: 'intent', permission: 'orders.write', effect: 'write', view: orderView } as const
// The person is the one who is signed in, whatever their role, or for keys the one whose passkey answers.
const signing = { ...common, scope: 'intent', permission: 'orders.sign', effect: 'write', view: orderView } as const
const seconding = { ...signing, scope: 'escalate' } as const
const params = idParams('ord')

const outcomeView = z
  .object({
    resourceType: z.literal('OperationOutcome'),
    issue: z.array(
      z
        .object({
          severity: z.literal('error'),
          code: z.string(),
          details: z
            .object({
              coding: z
                .array(z.object({ system: z.string(), code: z.string() }).meta({ id: 'FhirCoding', verbatim: true }))
                .optional(),
              text: z.string(),
            })
            .meta({ id: 'FhirIssueDetails', verbatim: true }),
          expression: z.array(z.string()).optional(),
        })
        .meta({ id: 'FhirIssue', verbatim: true }),
    ),
  })
  .meta({ id: 'OperationOutcome', verbatim: true })

interface RoutesDeps {
  orders: Orders
  signing: Signing
  baseUrl: string
}

export function orderRoutes(deps: RoutesDeps): Route[] {
  return [...documentRoutes(deps), ...actRoutes(deps)]
}

function documentRoutes({ orders, baseUrl }: RoutesDeps): Route[] {
  const statusUrl = `${baseUrl}/fhir/StructureDefinition/order-status`
  const fhir = { errorForm: outcomesOf(baseUrl), streams: { contentType: FHIR_TYPE } } as const

  function answer(order: OpenedOrder, header: (name: string) => string | undefined) {
    const accept = header('accept')
    const sent = header('content-type')
    const isFhir = asksForFhir(accept) || (isFhirType(sent) && accept?.includes('application/json') !== true)
    if (!isFhir) return replyVersioned(toOrderView(order))
    const { row, sealed, npi } = order
    const text = toMedicationRequest(
      { orderId: row.id, status: row.status, npi, content: sealed.content, text: sealed.resource },
      statusUrl,
    )
    const headers = { ETag: `W/"${row.version}"`, Vary: 'Accept', 'Content-Type': FHIR_TYPE }
    return { status: 200, stream: Readable.from([text]), headers } satisfies StreamReply
  }

  return [
    listEndpoint(
      {
        needsAccountKey: true,
        scope: 'intent',
        permission: 'orders.read',
        path: PATH,
        operationId: 'listOrders',
        sdk: 'clinical.orders.list',
        summary: 'List clinician orders, newest first',
        query: {
          ...listQuery,
          status: several(orderStatus).optional(),
          prescriber_id: z.string().max(64).optional(),
          schedule: several(scheduleSchema).optional(),
        },
        item: orderView,
      },
      ({ caller, query }) => {
        const { status, prescriber_id: prescriberId, schedule, limit, cursor, include } = query
        return orders.list(caller, {
          status,
          prescriberId,
          schedule,
          ...createdBetween(query),
          limit,
          cursor,
          include,
        })
      },
      toOrderView,
    ),
    endpoint(
      {
        ...reading,
        ...fhir,
        method: 'GET',
        path: `${PATH}/:id`,
        operationId: 'getOrder',
        sdk: 'clinical.orders.retrieve',
        summary: 'Read one order, as JSON or as a MedicationRequest of FHIR R4',
        params,
      },
      async ({ caller, params: { id }, header }) => answer(await orders.get(caller, id), header),
    ),
    endpoint(
      {
        ...writing,
        ...fhir,
        method: 'POST',
        audits: 'order.created',
        path: PATH,
        operationId: 'createOrder',
        sdk: 'clinical.orders.create',
        summary: 'Enter an order, which its prescriber signs',
        body: orderRequest,
        otherBody: { contentType: FHIR_TYPE, read: readResource },
        maxBodyBytes: MAX_BODY_BYTES,
      },
      async ({ caller, body, idempotencyKey, header }) =>
        answer(await orders.create(caller, body, idempotencyKey), header),
      async ({ caller, header }, id) => answer(await orders.get(caller, id), header),
    ),
    endpoint(
      {
        ...writing,
        ...fhir,
        method: 'PATCH',
        audits: 'order.edited',
        path: `${PATH}/:id`,
        operationId: 'updateOrder',
        sdk: 'clinical.orders.update',
        summary: 'Edit an order, which voids its signatures',
        params,
        body: orderChange,
        otherBody: { contentType: FHIR_TYPE, read: async (bytes) => ({ draft: await readResource(bytes) }) },
        maxBodyBytes: MAX_BODY_BYTES,
      },
      async ({ caller, params: { id }, body, idempotencyKey, header }) => {
        // Read after the row, so that an id of another account is not found.
        const expected = () => requireIfMatch(header('If-Match'))
        return answer(await orders.edit(caller, id, { request: body, expected }, idempotencyKey), header)
      },
      async ({ caller, header }, id) => answer(await orders.get(caller, id), header),
    ),
  ]
}

function actRoutes({ orders, signing: signatures }: RoutesDeps): Route[] {
  const answer = (order: OpenedOrder) => replyVersioned(toOrderView(order))
  return [
    endpoint(
      {
        ...signing,
        method: 'POST',
        path: `${PATH}/:id/challenge`,
        operationId: 'createOrderChallenge',
        sdk: 'clinical.orderChallenges.create',
        summary: 'Ask for a challenge for the passkey of a signer, with everything that the signer has to see',
        params,
        body: orderChallengeRequest,
        view: orderChallengeView,
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        toChallengeView(await signatures.challenge(caller, id, body.act, idempotencyKey)),
      async ({ caller, params: { id }, body }, challengeId) =>
        toChallengeView(await signatures.challengeAgain(caller, { id, act: body.act, challengeId })),
    ),
    endpoint(
      {
        ...signing,
        method: 'POST',
        meters: 'clinician_order',
        audits: 'order.signed',
        path: `${PATH}/:id/sign`,
        operationId: 'signOrder',
        sdk: 'clinical.orders.sign',
        summary: 'Sign an order as its prescriber',
        params,
        body: signRequest,
      },
      async ({ caller, params: { id }, body, idempotencyKey }) => {
        const request = { act: 'sign', assertion: body.passkey_assertion } as const
        return answer(await signatures.sign(caller, id, request, idempotencyKey))
      },
      async ({ caller }, id) => answer(await orders.get(caller, id)),
    ),
    endpoint(
      {
        ...seconding,
        method: 'POST',
        meters: 'clinician_order',
        audits: 'order.cosigned',
        path: `${PATH}/:id/cosign`,
        operationId: 'cosignOrder',
        sdk: 'clinical.orders.cosign',
        summary: 'Co-sign an order as the second clinician, with a passkey',
        params,
        body: cosignRequest,
      },
      async ({ caller, params: { id }, body, idempotencyKey }) => {
        const request = { act: 'cosign', assertion: body.passkey_assertion } as const
        return answer(await signatures.sign(caller, id, request, idempotencyKey))
      },
      async ({ caller }, id) => answer(await orders.get(caller, id)),
    ),
    endpoint(
      {
        ...seconding,
        method: 'POST',
        audits: 'order.declined',
        path: `${PATH}/:id/decline`,
        operationId: 'declineOrder',
        sdk: 'clinical.orders.decline',
        effect: 'destructive',
        summary: 'Decline an order as the second clinician, which is final',
        params,
        body: declineRequest,
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        answer(await signatures.decline(caller, id, body.reason, idempotencyKey)),
      async ({ caller }, id) => answer(await orders.get(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'order.cancelled',
        path: `${PATH}/:id/cancel`,
        operationId: 'cancelOrder',
        sdk: 'clinical.orders.cancel',
        effect: 'destructive',
        summary: 'Cancel an order that has not been executed',
        params,
        body: cancelRequest,
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        answer(await orders.cancel(caller, id, body.reason, idempotencyKey)),
      async ({ caller }, id) => answer(await orders.get(caller, id)),
    ),
  ]
}

const isFhirType = (type: string | undefined) => type?.toLowerCase().split(';', 1)[0]?.trim() === FHIR_TYPE
const asksForFhir = (accept: string | undefined) => accept?.toLowerCase().includes(FHIR_TYPE) === true

function outcomesOf(baseUrl: string): ErrorForm {
  return {
    contentType: FHIR_TYPE,
    view: outcomeView,
    isFor: (headers: IncomingHttpHeaders) => isFhirType(headers['content-type']) || asksForFhir(headers.accept),
    show: ({ code, status, errors }, detail) =>
      toOperationOutcome(detail, errors, { status, code, system: problemType(baseUrl, code).split('#', 1)[0] ?? '' }),
  }
}
