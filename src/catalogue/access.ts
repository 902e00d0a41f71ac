// The plans and products of accounts, and the scopes of keys. Scopes: specification, API keys; plans and products:
// specification, Account.

export const PRODUCTS = ['attest', 'authorize', 'trace'] as const
export type Product = (typeof PRODUCTS)[number]

export const PLANS = ['developer', 'growth', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Each route that takes a key demands exactly one of them. */
export const KEY_SCOPES = ['verify', 'attest', 'escalate', 'admin', 'intent', 'screen'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Scopes that a key may have: `all` satisfies every scope, on sandbox keys only. */
export const GRANTABLE_SCOPES = [...KEY_SCOPES, 'all'] as const
export type GrantableScope = (typeof GRANTABLE_SCOPES)[number]
