// An address that a tenant names must be on the public internet. An address that only our own network can reach is
// refused, in every form that can carry one. An address not known to be public counts as not public.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** `public`, or why an address is refused. */
export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'carrier_nat'
  | 'multicast'
  | 'unspecified'
  | 'metadata'
  | 'tunnel'
  | 'reserved'
  | 'not_an_address'

// Azure serves metadata on an address that looks public; those of other clouds are link-local, unique local or
// carrier-grade NAT.
const METADATA = new Set(['168.63.129.16'])

const KINDS: Record<string, AddressKind> = {
  unicast: 'public',
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link_local',
  carrierGradeNat: 'carrier_nat',
  multicast: 'multicast',
  broadcast: 'multicast',
  unspecified: 'unspecified',
  '6to4': 'tunnel',
  teredo: 'tunnel',
  rfc6145: 'tunnel',
}

// RFC 4291 2.4: today's global unicast. Everything outside is special or not yet assigned.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
// RFC 6052 2.1. The local-use prefix of RFC 8215 is not here: only its own network knows which v4 network it leads to.
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Classifies an IP address in its textual form, v4 dotted or v6 without a zone. IPv4-mapped and NAT64 addresses are
 * classified as the v4 address that they lead to. 6to4, Teredo and ISATAP addresses are refused whatever they embed:
 * their gateways can't be checked.
 */
export function classifyAddress(address: string): AddressKind {
  // node's own parser first: ipaddr.js accepts octal and short forms, which no resolver returns.
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return 'not_an_address'
  if (family === 4) return classifyV4(ipaddr.IPv4.parse(address))
  // ipaddr.js reads ::8.8.8.8 (IPv4-compatible) as ::ffff:8.8.8.8 (mapped); the URL parser writes either in hex.
  const hex = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
  return hex === undefined ? 'not_an_address' : classifyV6(ipaddr.IPv6.parse(hex))
}

export function isPublicAddress(address: string): boolean {
  return classifyAddress(address) === 'public'
}

function classifyV4(address: ipaddr.IPv4): AddressKind {
  if (METADATA.has(address.toString())) return 'metadata'
  return KINDS[address.range()] ?? 'reserved'
}

function classifyV6(address: ipaddr.IPv6): AddressKind {
  if (address.isIPv4MappedAddress() || address.match(NAT64)) {
    return classifyV4(new ipaddr.IPv4(address.toByteArray().slice(12)))
  }
  const kind = KINDS[address.range()] ?? 'reserved'
  if (kind !== 'public') return kind
  if (!address.match(GLOBAL_UNICAST)) return 'reserved'
  return isIsatap(address) ? 'tunnel' : 'public'
}

// RFC 5214 6.1: interface ids 0000:5efe and 0200:5efe are followed by a v4 address, in any prefix.
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200)
}
