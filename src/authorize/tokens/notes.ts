import type { Note } from '#src/platform/http/openapi.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/intent/status-lists/:id': {
    description:
      'A JWT of type `statuslist+jwt` (draft-ietf-oauth-status-list), signed like the tokens. `status_list.lst` has two ' +
      'bits for each token, at the `idx` of its claim `status`: 0 valid, 1 revoked. A revocation is in the list within 30 ' +
      'seconds; keep a list for `ttl` seconds. It does not include the policy, the agent or a stop: POST /v1/intent/verify checks those.',
    problems: ['not_found'],
  },
}
