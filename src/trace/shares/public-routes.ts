// For the holder of a token, who needs no account. The token is in a header: addresses stay in logs and histories.

import { z } from 'zod'
import { type PublicRequest, publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { idParam, idParams } from '#src/platform/http/params.ts'
import { type Disclosure, MIN_PURPOSE } from './disclosure.ts'
import { CODE_DIGITS } from './person.ts'
import type { Viewing } from './viewing.ts'
import { askedView, sharedView, toAskedView, toSharedView } from './views.ts'

const TOKEN_HEADER = 'Share-Token'
const MAX_BODY_BYTES = 16_384
const MAX_PURPOSE = 1_000

const purposeBody = z
  .strictObject({
    // The handler finds what is too short: both are refused at once.
    email: z.string().max(1_000).meta({ minLength: 3, description: 'Address; a code is mailed to it.' }),
    purpose: z
      .string()
      .max(MAX_PURPOSE)
      .meta({
        minLength: MIN_PURPOSE,
        description: `Purpose, for the people who decide: at least ${MIN_PURPOSE} visible characters.`,
      }),
  })
  .meta({ id: 'RequestDisclosureRequest' })

const codeBody = z
  .strictObject({ code: z.string().regex(new RegExp(`^[0-9]{${CODE_DIGITS}}$`), `must have ${CODE_DIGITS} digits`) })
  .meta({ id: 'VerifyDisclosureRequestRequest' })

export function publicShareRoutes({ viewing, disclosure }: { viewing: Viewing; disclosure: Disclosure }): Route[] {
  const common = { public: 'The token of the share is the credential', status: [200] }
  const asking = (
    { header, origin }: Pick<PublicRequest<unknown, unknown, unknown>, 'header' | 'origin'>,
    shareId: string,
  ) => ({
    token: header(TOKEN_HEADER),
    shareId,
    origin,
  })
  return [
    publicEndpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/shares/view',
        operationId: 'viewTraceShare',
        sdk: 'trace.shares.view',
        effect: 'read',
        kind: 'call',
        summary: 'View a share, with its token or the token of a grant',
        view: sharedView,
      },
      async ({ header, origin }) => toSharedView(await viewing.view(header(TOKEN_HEADER), origin)),
    ),
    publicEndpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/trace/shares/:id/disclosure-requests',
        operationId: 'requestDisclosure',
        sdk: 'trace.disclosures.request',
        effect: 'write',
        kind: 'call',
        summary: 'Ask to see the neurons that a share masks; a code is mailed',
        params: idParams('shr'),
        body: purposeBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: askedView,
      },
      async (request) => toAskedView(await disclosure.request(asking(request, request.params.id), request.body)),
    ),
    publicEndpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/trace/shares/:id/disclosure-requests/:request_id/verify',
        operationId: 'verifyDisclosureRequest',
        sdk: 'trace.disclosures.verify',
        effect: 'write',
        kind: 'call',
        summary: 'Verify the address of a request by the mailed code',
        params: z.object({ id: idParam('shr'), request_id: idParam('dsr') }),
        body: codeBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: askedView,
      },
      async (request) => {
        const { id, request_id: requestId } = request.params
        return toAskedView(await disclosure.verify(asking(request, id), requestId, request.body.code))
      },
    ),
  ]
}
