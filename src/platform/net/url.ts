// The rules for a URL that a tenant names, on its text alone. outbound.ts checks what its host resolves to.

import { isIP } from 'node:net'
import type { Environment } from '#src/platform/ids.ts'
import { classifyAddress } from './address.ts'

export type UrlErrorCode =
  | 'too_long'
  | 'not_a_url'
  | 'scheme_not_allowed'
  | 'userinfo_not_allowed'
  | 'fragment_not_allowed'
  | 'host_not_allowed'
  | 'port_not_allowed'
  | 'address_not_public'

export type ParsedTarget = { ok: true; target: Target } | { ok: false; code: UrlErrorCode; detail: string }

export interface Target {
  protocol: 'http:' | 'https:'
  /** ASCII (IDNA), lower case; an IP address without brackets, in its canonical form. */
  hostname: string
  isAddress: boolean
  port: number
  /** Scheme, host and port, as undici takes it. */
  origin: string
  /** Path and query. */
  path: string
}

/** The hosts and ports on loopback that the operator lets tenants call. */
export type Allows = (hostname: string, port: number) => boolean

export interface UrlRules {
  environment: Environment
  allows?: Allows
}

// The length that browsers and proxies support.
const MAX_URL_LENGTH = 2048
const MAX_HOST_LENGTH = 253
const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 }

/**
 * Parses a URL and applies the rules: https in live (http also in sandbox), no userinfo, no fragment, ports 443, 8443
 * and above 1024 (80 too for http in sandbox), and only public addresses. Hosts in decimal, octal or hex are already
 * addresses here: the WHATWG parser has normalised them.
 */
export function parseTarget(text: string, { environment, allows = () => false }: UrlRules): ParsedTarget {
  if (text.length > MAX_URL_LENGTH) return refuse('too_long', `must be at most ${MAX_URL_LENGTH} characters`)
  // The WHATWG parser drops tabs and newlines and reads a backslash as a slash; other parsers don't. A later reader of
  // the URL must see the same host.
  if (hasAmbiguity(text)) return refuse('not_a_url', 'must not contain spaces, control characters or backslashes')
  const url = URL.parse(text)
  if (url === null) return refuse('not_a_url', 'must be an absolute URL')

  const { protocol } = url
  if (protocol !== 'https:' && protocol !== 'http:')
    return refuse(
      'scheme_not_allowed',
      environment === 'live' ? 'must be an https URL' : 'must be an https or http URL',
    )
  if (protocol === 'http:' && environment === 'live') return refuse('scheme_not_allowed', 'must be https in live')
  // `https:host` and `https:///host` parse too, but other parsers read them differently.
  if (!/^https?:\/\/[^/]/i.test(text)) return refuse('not_a_url', 'must be an absolute URL: https://host/path')
  // An empty userinfo disappears in parsing, so the text is checked too.
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return refuse('userinfo_not_allowed', 'must not carry a user name or password')
  }
  if (text.includes('#')) return refuse('fragment_not_allowed', 'must not have a fragment')

  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isAddress = isIP(hostname) !== 0
  if (hostname.length > MAX_HOST_LENGTH || hostname.endsWith('.')) {
    return refuse('host_not_allowed', 'must name a host of at most 253 characters, without a dot at its end')
  }
  const port = url.port === '' ? DEFAULT_PORTS[protocol] : Number(url.port)
  if (!isPortAllowed(protocol, port)) {
    return refuse('port_not_allowed', 'port must be 443, 8443 or above 1024 (80 for http in sandbox)')
  }
  if (!allows(hostname, port)) {
    if (isAddress && classifyAddress(hostname) !== 'public') {
      return refuse('address_not_public', `${hostname} is not a public address (${classifyAddress(hostname)})`)
    }
    if (isLocalName(hostname)) return refuse('address_not_public', `${hostname} is this machine's own name`)
  }
  return {
    ok: true,
    target: { protocol, hostname, isAddress, port, origin: url.origin, path: url.pathname + url.search },
  }
}

/** RFC 6761 6.3: these names are loopback on every machine. */
export function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

/** Reads `host`, `host:port`, `[v6]:port` or a bare v6 address. Throws on an address that isn't loopback. */
export function parseAllowList(entries: readonly string[]): Allows {
  const allowed = new Set(entries.map(parseAllowed))
  return (hostname, port) => allowed.has(hostname) || allowed.has(`${hostname} ${port}`)
}

function hasAmbiguity(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code <= 0x20 || (code >= 0x7f && code <= 0xa0) || character === '\\') return true
  }
  return false
}

function isPortAllowed(protocol: Target['protocol'], port: number): boolean {
  return port === 443 || port > 1024 || (protocol === 'http:' && port === 80)
}

function refuse(code: UrlErrorCode, detail: string): ParsedTarget {
  return { ok: false, code, detail }
}

function parseAllowed(entry: string): string {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const hostname = (bracketed ?? plain ?? entry).toLowerCase()
  const kind = classifyAddress(hostname)
  if (kind !== 'loopback' && kind !== 'not_an_address') {
    throw new Error(`only loopback can be allowed, and ${entry} is ${kind}`)
  }
  return port === undefined ? hostname : `${hostname} ${port}`
}
