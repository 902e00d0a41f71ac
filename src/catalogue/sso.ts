// Why single sign-on refuses a person, and what is wrong with an identity provider: the values of `cause`.

/** Causes of `sso_login_refused`. */
export const SSO_REFUSALS = [
  'provider_mixed_up',
  'client_refused',
  'code_refused',
  'token_invalid',
  'algorithm_not_allowed',
  'key_unknown',
  'signature_invalid',
  'issuer_mismatch',
  'audience_mismatch',
  'azp_mismatch',
  'nonce_mismatch',
  'token_expired',
  'issued_at_out_of_bounds',
  'email_missing',
  'email_unverified',
  'domain_mismatch',
  'user_removed',
  'owner_not_linked',
  'session_mismatch',
  'address_mismatch',
] as const
export type SsoRefusal = (typeof SSO_REFUSALS)[number]

/** Causes of `provider_unavailable`. */
export const PROVIDER_PROBLEMS = [
  'unreachable',
  'timeout',
  'refused_address',
  'redirected',
  'too_large',
  'invalid_answer',
] as const
export type ProviderProblem = (typeof PROVIDER_PROBLEMS)[number]
