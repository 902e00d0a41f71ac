// From which address a request comes. Proxies in front of the service append it to X-Forwarded-For (RFC 7239 names the
// same idea Forwarded); only proxies that the operator trusts are believed, because any client can send the header.

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Reads `10.0.0.0/8`, `2001:db8::/32` or one address. @throws {Error} with a sentence for people. */
export function parseAddressRange(text: string): Range {
  const isAddress = isIP(text) !== 0
  if (!isAddress && !(text.includes('/') && isIP(text.slice(0, text.indexOf('/'))) !== 0)) {
    throw new Error(`${text} is neither an address nor a range such as 10.0.0.0/8`)
  }
  try {
    if (isAddress) {
      const address = plain(text)
      return [address, address.kind() === 'ipv4' ? 32 : 128]
    }
    return ipaddr.parseCIDR(text)
  } catch {
    throw new Error(`${text} is neither an address nor a range such as 10.0.0.0/8`)
  }
}

/** Whether an address is in one of the ranges. An IPv4 address mapped to IPv6 counts as its IPv4 address. */
export function isWithin(address: string, ranges: readonly Range[]): boolean {
  if (isIP(address) === 0) return false
  const parsed = plain(address)
  return ranges.some(([first, bits]) => first.kind() === parsed.kind() && parsed.match(first, bits))
}

// Parsing a list of 50 takes half a millisecond of each request, and matching it a hundredth of that. Lists of the keys in
// use; a list never changes, so that an entry is never outdated.
const parsedLists = new LRUCache<string, readonly Range[]>({ max: 1_000 })

/** Same as `isWithin`, for ranges as they are stored. */
export function isListed(address: string, ranges: readonly string[]): boolean {
  const name = ranges.join(' ')
  let parsed = parsedLists.get(name)
  if (parsed === undefined) {
    parsed = ranges.map(parseAddressRange)
    parsedLists.set(name, parsed)
  }
  return isWithin(address, parsed)
}

// More proxies than any deployment has in a row: the rest of a longer header is not read.
const MAX_HOPS = 32

/**
 * @param trusted The proxies whose word counts.
 * @param onUnreadable Called with what a trusted proxy sent in place of an address; the address of that proxy counts then.
 */
export function createClientAddress(
  trusted: readonly string[],
  onUnreadable: (hop: string, proxy: string) => void = () => {},
) {
  const proxies = trusted.map(parseAddressRange)
  return (req: Pick<IncomingMessage, 'headersDistinct' | 'socket'>): string => {
    let address = unmapped(req.socket.remoteAddress ?? '')
    if (proxies.length === 0) return address
    const hops = (req.headersDistinct['x-forwarded-for'] ?? []).flatMap((line) => line.split(',')).slice(-MAX_HOPS)
    // From the nearest hop: each is believed because the one after it is a trusted proxy.
    for (const hop of hops.reverse()) {
      if (!isWithin(address, proxies)) return address
      const named = addressOf(hop)
      if (named === undefined) {
        onUnreadable(hop.trim(), address)
        return address
      }
      address = unmapped(named)
    }
    return address
  }
}

// RFC 7239 6: an address, with a port where the proxy adds one, an IPv6 address in brackets then. Proxies write the same
// forms into X-Forwarded-For, which no standard describes, some of them in quotation marks.
function addressOf(hop: string): string | undefined {
  const text = hop.trim().replace(/^"(.*)"$/, '$1')
  const [, bracketed] = /^\[([^[\]]*)\](?::\d{1,5})?$/.exec(text) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined
  const plainText = text.replace(/^([^:]*):\d{1,5}$/, '$1')
  return isIP(plainText) === 0 ? undefined : plainText
}

/** Address that counts as one caller: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has. */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address
  const parsed = plain(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`
}

function plain(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  return ipaddr.process(address)
}

function unmapped(address: string): string {
  return isIP(address) === 6 ? plain(address).toString() : address
}
