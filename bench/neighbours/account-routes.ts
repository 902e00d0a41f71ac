// The routes of the account: those that are only read here, and those that are not called at all.

export const PLAIN_READS = [
  '/docs/roles',
  '/login/link',
  '/login/invite',
  '/v1/account',
  '/v1/account/audit',
  '/v1/account/audit/export',
  '/v1/account/plan',
  '/v1/account/products',
  '/v1/analytics/approvals',
  '/v1/analytics/mandate-spend',
  '/v1/analytics/unexecuted',
  '/v1/decisions',
  '/v1/decisions/checkpoints',
  '/v1/org/users',
]

/**
 * Routes that the honest tenant does not call: they take a signed-in user or a live key, end what they are about, send
 * mail, or redirect; and those of the ledger that need decisions.
 */
export const NOT_CALLED: readonly string[] = [
  'DELETE /v1/account/closure',
  'DELETE /v1/auth/session',
  'DELETE /v1/auth/sessions',
  'DELETE /v1/auth/sessions/:id',
  'DELETE /v1/org/invites/:id',
  'DELETE /v1/org/users/:id',
  'DELETE /v1/org/users/me',
  'GET /login',
  'GET /v1/account/closure',
  'GET /v1/account/exports',
  'GET /v1/account/exports/:id',
  'GET /v1/account/exports/:id/download',
  'GET /v1/account/invoices',
  'GET /v1/account/usage',
  'GET /v1/auth/session',
  'GET /v1/auth/sessions',
  'GET /v1/org/invites',
  'GET /v1/decisions/:id',
  'GET /v1/decisions/:id/explain',
  'GET /v1/decisions/:id/proof',
  'GET /v1/decisions/consistency',
  'GET /v1/decisions/export',
  'PATCH /v1/org/users/:id',
  'POST /v1/account/closure',
  'POST /v1/account/export',
  'POST /v1/auth/magic-link',
  'POST /v1/auth/magic-link/verify',
  'POST /v1/org/invites/:id/resend',
  'POST /v1/org/invites/accept',
  'POST /v1/org/users/invite',
  'POST /v1/policy/rollback',
  'POST /v1/decisions/verify-chain',
  'PUT /v1/account/plan',
  'PUT /v1/account/products',
]
