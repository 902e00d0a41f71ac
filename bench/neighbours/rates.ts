// How often the honest tenant calls each route.

import type { Routine } from './steady.ts'

// Rate of all routines together: a tenth to a third of a core. At 80 and more the figures were about the honest
// tenant's own queue.
const REQUESTS_PER_SECOND = 35
// How often each route is called, relative to the others.
const OFTEN = 5
// What takes tens of milliseconds of processor time, or serves once.
const SELDOM = 2
// A document takes a thread of its own, and half a second of a processor.
const HARDLY = 1

const RARE: ReadonlySet<string> = new Set([
  'GET /v1/claims/:id/evidence',
  'GET /v1/media/:id/thumbnail',
  'POST /v1/claims/batches',
  'POST /v1/media/screenings/batches',
  'POST /v1/account/risk-policy/dry-run',
  'PUT /v1/account/risk-policy',
  'POST /v1/attestations/:id/retry',
  'DELETE /v1/claims/:id',
  'POST /v1/cases',
  'POST /v1/admin/devices/:id/revoke',
  'POST /v1/admin/devices/:id/attestation',
  'POST /v1/admin/devices/attestations',
  // Each uses up what another route creates. More often, it finds nothing left in the short calm phases, and has no samples there.
  'POST /v1/claims/batches/:id/cancel',
  'DELETE /v1/account/keys/:id',
  'POST /v1/account/keys/:id/revoke',
])

/** @param routines Of each name, what it asks for next. */
export function paced(routines: Record<string, Routine['next']>): Routine[] {
  const names = Object.keys(routines)
  const unit = REQUESTS_PER_SECOND / names.reduce((sum, name) => sum + weightOf(name), 0)
  return Object.entries(routines).map(([name, next]) => ({ name, next, perSecond: weightOf(name) * unit }))
}

function weightOf(name: string): number {
  if (name.endsWith('(PDF)')) return HARDLY
  return RARE.has(name) ? SELDOM : OFTEN
}
