import type { Note } from '#src/platform/http/openapi.ts'
import { providerConfig, resourceTypes, schemas } from './documents.ts'
import { USER_SCHEMA } from './resource.ts'

const ID = 'usr_01m7x7ennfe7dsmvdzwjp06y9w'
const BODY = {
  schemas: [USER_SCHEMA],
  externalId: '00u1a2b3c4',
  userName: 'mika@acme.example',
  displayName: 'Mika Virtanen',
  name: { givenName: 'Mika', familyName: 'Virtanen' },
  emails: [{ value: 'mika@acme.example', type: 'work', primary: true }],
  active: true,
}
const USER = {
  ...BODY,
  id: ID,
  meta: {
    resourceType: 'User',
    created: '2026-11-20T15:11:04.310Z',
    lastModified: '2026-11-20T15:11:04.310Z',
    location: `https://claims.example.com/v1/scim/v2/Users/${ID}`,
  } as const,
}
const DEACTIVATE = {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', path: 'active', value: false }],
}
const BASE = 'https://claims.example.com'
const of = (example: object): Note => ({
  description: 'A fixed document (RFC 7643).',
  answers: { 200: { example } },
})

export const NOTES: Record<string, Note> = {
  'GET /v1/scim/v2/ServiceProviderConfig': of(providerConfig(BASE)),
  'GET /v1/scim/v2/ResourceTypes': of(listOf(...resourceTypes(BASE))),
  'GET /v1/scim/v2/ResourceTypes/:id': of(resourceTypes(BASE)[0] ?? {}),
  'GET /v1/scim/v2/Schemas': of(listOf(...schemas(BASE))),
  'GET /v1/scim/v2/Schemas/:id': of(schemas(BASE)[0] ?? {}),
  'GET /v1/scim/v2/Groups': {
    description: 'Roles are given by administrators of the account: there are no groups.',
    answers: { 200: { example: listOf() } },
  },
  'GET /v1/scim/v2/Groups/:id': { ...of({ schemas: [] }), description: 'There is none.' },
  'GET /v1/scim/v2/Users': {
    description:
      'Users of the account whose address is in the verified domain. Terms of a filter compare `id`, `userName`, `externalId`, ' +
      '`active` or `emails[type eq "work"].value`; anything else is `invalidFilter`.',
    answers: { 200: { example: listOf(USER) } },
  },
  'POST /v1/scim/v2/Users': {
    description:
      'The user gets the role analyst. A user who was removed is active again, with the same id; one who is active is 409 ' +
      '`uniqueness`. Attributes that the service does not keep are ignored.',
    examples: { 'A user': BODY },
    answers: { 201: { example: USER, headers: { Location: 'The address of the user.' } } },
    problems: ['conflict', 'beta_access_required'],
  },
  'GET /v1/scim/v2/Users/:id': {
    description: 'A user whom the directory deleted is not found.',
    answers: { 200: { example: USER } },
  },
  'PUT /v1/scim/v2/Users/:id': {
    description:
      'Attributes that are absent are removed; `active` stays. A changed address stays in the domain, and ends sessions and login ' +
      'links. Owners are 409.',
    examples: { 'A user': BODY },
    answers: { 200: { example: USER } },
    problems: ['conflict', 'beta_access_required', 'last_owner'],
  },
  'PATCH /v1/scim/v2/Users/:id': {
    description:
      'At most 100 operations, all or none. `active: false` removes the user as DELETE /v1/org/users/{id} does: sessions end at once. ' +
      'Owners are 409.',
    examples: { 'Remove a user': DEACTIVATE },
    answers: { 200: { example: USER } },
    problems: ['conflict', 'beta_access_required', 'last_owner'],
  },
  'DELETE /v1/scim/v2/Users/:id': {
    description: 'Removes the user, whom the directory does not see again until it makes the user anew.',
    answers: { 204: { description: 'Done.' } },
    problems: ['conflict', 'last_owner'],
  },
}

function listOf(...items: object[]) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: items.length,
    startIndex: 1,
    itemsPerPage: items.length,
    Resources: items,
  }
}
