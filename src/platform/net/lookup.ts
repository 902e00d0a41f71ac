import { Resolver } from 'node:dns/promises'
import { isLocalName } from './url.ts'

/** All addresses of a host, v4 first. Rejects when there is none, with the code of node:dns. */
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
    // Without an answer for one family it is unknown whether the name has addresses.
    const failures = [v4, v6].flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (addresses.length === 0 && failures.length > 0) throw failures.find(isUnanswered) ?? failures[0]
    return addresses
  }
}

/** The TXT records of a name, each as its chunks. Rejects when there is none, with the code of node:dns. */
export type TxtLookup = (name: string) => Promise<string[][]>

export function createTxtLookup(): TxtLookup {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  return (name) => resolver.resolveTxt(name)
}

const UNANSWERED = new Set(['ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'ECONNREFUSED'])

/**
 * Whether the name servers of this service said nothing about the name: they did not answer, or could not. From outside, a name
 * whose own servers are broken looks the same.
 */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNANSWERED.has(String(error.code))
}

function found(result: PromiseSettledResult<string[]>): string[] {
  return result.status === 'fulfilled' ? result.value : []
}
