// What a directory asks of this service before it sends users (RFC 7643 5 to 7): fixed documents.

import { EMAIL_PARTS, NAME_PARTS, USER_SCHEMA } from './resource.ts'

const CORE = 'urn:ietf:params:scim:schemas:core:2.0'
const GROUP_SCHEMA = `${CORE}:Group`
const MAX_RESULTS = 200

export function providerConfig(baseUrl: string) {
  return {
    schemas: [`${CORE}:ServiceProviderConfig`],
    documentationUri: `${baseUrl}/docs/scim`,
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Token of the directory',
        description: 'Made with POST /v1/auth/scim-tokens.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/v1/scim/v2/ServiceProviderConfig` },
  }
}

export function resourceTypes(baseUrl: string) {
  return [
    { id: 'User', endpoint: '/Users', schema: USER_SCHEMA },
    { id: 'Group', endpoint: '/Groups', schema: GROUP_SCHEMA },
  ].map(({ id, endpoint, schema }) => ({
    schemas: [`${CORE}:ResourceType`],
    id,
    name: id,
    endpoint,
    schema,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/v1/scim/v2/ResourceTypes/${id}` },
  }))
}

interface Details {
  required?: boolean
  caseExact?: boolean
  uniqueness?: 'none' | 'server'
  type?: 'string' | 'boolean' | 'complex'
  multiValued?: boolean
  description?: string
  subAttributes?: object[]
}

function attribute(name: string, { required = false, caseExact = false, uniqueness = 'none', ...more }: Details = {}) {
  const { type = 'string', multiValued = false, description = '', subAttributes } = more
  return {
    name,
    type,
    multiValued,
    description,
    required,
    caseExact,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness,
    ...(subAttributes !== undefined && { subAttributes }),
  }
}

export function schemas(baseUrl: string) {
  const userAttributes = [
    attribute('userName', { required: true, uniqueness: 'server', description: 'The e-mail address of the user.' }),
    attribute('externalId', { caseExact: true }),
    attribute('displayName'),
    attribute('name', { type: 'complex', subAttributes: NAME_PARTS.map((part) => attribute(part)) }),
    attribute('emails', {
      type: 'complex',
      multiValued: true,
      subAttributes: EMAIL_PARTS.map((part) => attribute(part, part === 'primary' ? { type: 'boolean' } : {})),
    }),
    attribute('active', { type: 'boolean', description: 'false removes the user; true makes a removed one active.' }),
  ]
  return [
    { id: USER_SCHEMA, name: 'User', description: 'A user of the account', attributes: userAttributes },
    {
      id: GROUP_SCHEMA,
      name: 'Group',
      description: 'None is kept: this service takes roles from its own administrators',
      attributes: [attribute('displayName', { required: true })],
    },
  ].map((schema) => ({
    schemas: [`${CORE}:Schema`],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/v1/scim/v2/Schemas/${schema.id}` },
  }))
}
