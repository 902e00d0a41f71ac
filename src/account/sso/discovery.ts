// The discovery document of a provider, and what this service demands of it. Each demand has a finding of its own, at the issuer.

import { type Failure, invalidField } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { type AskProvider, addressProblemOf } from './ask-provider.ts'
import { ProviderError } from './problems.ts'

/** Signatures of ID tokens that count. */
export const ALGORITHMS = ['RS256', 'ES256'] as const

/** The members of a discovery document that are used. */
export interface ProviderMetadata {
  issuer: string
  authorization_endpoint: string
  token_endpoint: string
  jwks_uri: string
  userinfo_endpoint?: string
  id_token_signing_alg_values_supported: string[]
  token_endpoint_auth_methods_supported: string[] | undefined
  authorization_response_iss_parameter_supported: boolean
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
// Entra ID has an issuer for everybody, whose tokens name any organization.
const MANY_TENANTS = /\{tenantid\}|^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i

/**
 * @throws {Failure} `invalid_request` at `/issuer`
 * @throws {ProviderError}
 */
export async function discover(issuer: string, ask: AskProvider): Promise<ProviderMetadata> {
  const problem = issuerProblemOf(issuer)
  if (problem !== undefined) throw issuerFailure('invalid_value', problem)
  if (MANY_TENANTS.test(issuer)) throw manyTenants()
  const answer = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    headers: { accept: 'application/json' },
  })
  if (answer.status !== 200) {
    throw new ProviderError('invalid_answer', `its discovery document has the status ${answer.status}`)
  }
  const document = parseObject(await answer.text())
  return judge(issuer, document)
}

function judge(issuer: string, document: Record<string, unknown>): ProviderMetadata {
  const found = document.issuer
  if (typeof found === 'string' && MANY_TENANTS.test(found)) throw manyTenants()
  if (found !== issuer) {
    throw issuerFailure(
      'issuer_mismatch',
      'differs from the issuer in the discovery document: they must be equal, to the last slash',
    )
  }
  const endpoints = Object.fromEntries(ENDPOINTS.map((name) => [name, endpointOf(document, name)]))
  const methods = stringsOf(document.code_challenge_methods_supported)
  // Entra ID supports S256 and lists nothing; a list without S256 is a refusal.
  if (methods !== undefined && !methods.includes('S256')) {
    throw issuerFailure('pkce_unsupported', 'does not support PKCE with S256')
  }
  const algorithms = stringsOf(document.id_token_signing_alg_values_supported) ?? ['RS256']
  const usable = ALGORITHMS.filter((algorithm) => algorithms.includes(algorithm))
  if (usable.length === 0)
    throw issuerFailure('signing_unsupported', 'signs ID tokens neither with RS256 nor with ES256')
  const userinfo = document.userinfo_endpoint === undefined ? undefined : endpointOf(document, 'userinfo_endpoint')
  return {
    issuer,
    ...(endpoints as Record<(typeof ENDPOINTS)[number], string>),
    ...(userinfo === undefined ? {} : { userinfo_endpoint: userinfo }),
    id_token_signing_alg_values_supported: usable,
    token_endpoint_auth_methods_supported: stringsOf(document.token_endpoint_auth_methods_supported),
    authorization_response_iss_parameter_supported: document.authorization_response_iss_parameter_supported === true,
  }
}

function issuerProblemOf(issuer: string): string | undefined {
  const url = URL.parse(issuer)
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    return 'must be a URL without a query, a fragment and a user'
  }
  return addressProblemOf(issuer) === undefined ? undefined : 'must be an https URL'
}

function endpointOf(document: Record<string, unknown>, name: string): string {
  const value = document[name]
  if (typeof value !== 'string') throw new ProviderError('invalid_answer', `its discovery document has no ${name}`)
  if (addressProblemOf(value) !== undefined) {
    throw new ProviderError('refused_address', `the ${name} of its discovery document is not https`)
  }
  return value
}

/** @throws {ProviderError} */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new ProviderError('invalid_answer', 'its answer is not a JSON object')
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}

function manyTenants(): Failure {
  return issuerFailure(
    'many_tenants',
    'is an issuer of many tenants, whose users belong to any organization: name that of your own tenant, with its id',
  )
}

function issuerFailure(code: FieldErrorCode, detail: string): Failure {
  return invalidField('/issuer', code, detail)
}
