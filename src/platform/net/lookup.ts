import { Resolver } from 'node:dns/promises'
import { isLocalName } from './url.ts'

/** All addresses of a host, v4 first. Rejects when there is none. */
export type Lookup = (hostname: string) => Promise<string[]>

// Two tries of 2 s leave time for the call within the usual deadline of 15 s.
const TRY_MS = 2_000
const TRIES = 2

/**
 * Queries the name servers directly. getaddrinfo would run on the thread pool, whose four threads a tenant with a slow
 * name server could block; and it would add our own network's search domains to short names.
 */
export function createLookup({ servers }: { servers?: string[] } = {}): Lookup {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    if (isLocalName(hostname)) return ['127.0.0.1', '::1']
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = [...found(v4), ...found(v6)]
    if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason
    return addresses
  }
}

function found(result: PromiseSettledResult<string[]>): string[] {
  return result.status === 'fulfilled' ? result.value : []
}
