// The plans and products of accounts, the scopes of keys, and the roles of users. Scopes: specification, API keys; plans
// and products: specification, Account; roles: specification, Teams.

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

export const ROLES = ['owner', 'admin', 'approver', 'analyst', 'developer'] as const
export type Role = (typeof ROLES)[number]
