import { Readable } from 'node:stream'
import { z } from 'zod'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { MAX_AGE_SECONDS, STATUS_LIST_TYPE, type StatusLists } from './status-list.ts'

export function tokenRoutes(lists: StatusLists): Route[] {
  return [
    publicEndpoint(
      {
        method: 'GET',
        path: '/v1/intent/status-lists/:id',
        operationId: 'getStatusList',
        sdk: 'intent.statusLists.retrieve',
        effect: 'read',
        kind: 'download',
        params: z.object({
          id: z
            .string()
            .meta({ description: 'Id of the list, as in the `uri` of a token.', pattern: '^(?:test|live)_[0-9]+$' }),
        }),
        summary: 'Read which tokens are revoked, as a signed Token Status List',
        public: 'Every holder of a token may check it offline; the list names no account and no token',
        view: z.never(),
        status: [200],
        streams: { contentType: STATUS_LIST_TYPE },
      },
      async ({ params }) => {
        const token = await lists.get(params.id)
        return {
          status: 200,
          stream: Readable.from([Buffer.from(token)]),
          headers: {
            'Content-Type': STATUS_LIST_TYPE,
            'Content-Length': String(token.length),
            'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
            // Section 8.1 of the draft: relying parties in browsers.
            'Access-Control-Allow-Origin': '*',
            ETag: `W/"${sha256Base64url(token)}"`,
          },
        }
      },
    ),
  ]
}
