// The API client of each environment, in session mode: cookies, the CSRF token and `Service-Environment`.

import { Countersign } from '@countersign/client'

export const ENVIRONMENTS = ['sandbox', 'live'] as const
export type EnvironmentName = (typeof ENVIRONMENTS)[number]

const clients = new Map<EnvironmentName, Countersign>()

export function clientOf(environment: EnvironmentName): Countersign {
  const known = clients.get(environment)
  if (known !== undefined) return known
  // The person sees the page wait, so fewer attempts than a program makes.
  const client = new Countersign({ baseUrl: window.location.origin, session: { environment }, maxRetries: 2 })
  clients.set(environment, client)
  return client
}
