// The addresses from which a key is accepted, as callers write them and as they are stored: one canonical form, so that
// two lists can be compared, and a typing error is found when the key is made and not when it is refused.

import ipaddr from 'ipaddr.js'
import { parseAddressRange } from '#src/platform/http/client-address.ts'

export const MAX_RANGES = 50

/** `10.0.0.0/8`, or one address without its length. @throws {Error} with a sentence for people. */
export function canonicalRange(text: string): string {
  // Scopes of link-local addresses (fe80::1%eth0) mean something on one machine only.
  if (text.includes('%')) throw new Error('must be an address or a range without a zone, such as 2001:db8::/32')
  const [address, bits] = parse(text)
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    throw new Error('must be written as IPv4: addresses mapped to IPv6 are compared as IPv4')
  }
  const network = networkOf(address, bits)
  if (network !== address.toString()) {
    throw new Error(`has bits beyond its length of ${bits}: the range is ${network}/${bits}`)
  }
  return bits === (address.kind() === 'ipv4' ? 32 : 128) ? network : `${network}/${bits}`
}

/** Whether every address of `inner` is in one of `outer`. Both canonical. */
export function isRangeWithin(inner: string, outer: readonly string[]): boolean {
  const [address, bits] = parseAddressRange(inner)
  return outer.map(parseAddressRange).some(([first, length]) => {
    return length <= bits && first.kind() === address.kind() && address.match(first, length)
  })
}

function parse(text: string): ReturnType<typeof parseAddressRange> {
  try {
    return parseAddressRange(text)
  } catch {
    throw new Error('must be an address or a range, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32')
  }
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const Family = address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6
  return Family.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()
}
