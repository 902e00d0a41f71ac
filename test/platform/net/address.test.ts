import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Environment } from '#src/platform/ids.ts'
import { classifyAddress, isPublicAddress } from '#src/platform/net/address.ts'
import { parseAllowList, parseTarget } from '#src/platform/net/url.ts'

interface Vectors {
  addresses: { address: string; kind: string }[]
  urls: { url: string; environment: Environment; verdict: string }[]
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/net/addresses.json', import.meta.url), 'utf8'),
)

describe('the check of an address', () => {
  it.each(vectors.addresses)('$address is $kind', ({ address, kind }) => {
    expect(classifyAddress(address)).toBe(kind)
    expect(isPublicAddress(address)).toBe(kind === 'public')
  })

  it('treats a mapped or NAT64 address exactly as the IPv4 address inside', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        expect(classifyAddress(`::ffff:${v4}`)).toBe(classifyAddress(v4))
        expect(classifyAddress(`64:ff9b::${v4}`)).toBe(classifyAddress(v4))
      }),
    )
  })

  it('returns a result for any text', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4Extended()), (text) => void classifyAddress(text)))
  })
})

describe('the check of a URL', () => {
  it.each(vectors.urls)('$url in $environment: $verdict', ({ url, environment, verdict }) => {
    const parsed = parseTarget(url, { environment })
    expect(parsed.ok ? 'ok' : parsed.code).toBe(verdict)
  })

  it('returns the host in ASCII, the port as a number and the path with its query', () => {
    expect(parseTarget('https://BÜCHER.example/a b'.replace(' ', '%20'), { environment: 'live' })).toEqual({
      ok: true,
      target: {
        protocol: 'https:',
        hostname: 'xn--bcher-kva.example',
        isAddress: false,
        port: 443,
        origin: 'https://xn--bcher-kva.example',
        path: '/a%20b',
      },
    })
    const literal = parseTarget('http://[2606:4700::1]:8080/?q', { environment: 'sandbox' })
    expect(literal).toMatchObject({ target: { hostname: '2606:4700::1', isAddress: true, port: 8080, path: '/?q' } })
  })

  it('names the schemes of the environment', () => {
    const detailOf = (environment: 'sandbox' | 'live') => parseTarget('ftp://example.com/', { environment })
    expect(detailOf('sandbox')).toMatchObject({ code: 'scheme_not_allowed', detail: 'must be an https or http URL' })
    expect(detailOf('live')).toMatchObject({ code: 'scheme_not_allowed', detail: 'must be an https URL' })
  })

  it('allows loopback only where the operator named the exact host', () => {
    const allows = parseAllowList(['localhost:4000', '127.0.0.1', '[::1]:4001'])
    const verdict = (url: string) => parseTarget(url, { environment: 'sandbox', allows }).ok
    expect(verdict('http://localhost:4000/')).toBe(true)
    expect(verdict('http://localhost:4001/')).toBe(false)
    expect(verdict('http://127.0.0.1:9999/')).toBe(true)
    expect(verdict('http://2130706433:9999/')).toBe(true)
    expect(verdict('http://127.0.0.2:9999/')).toBe(false)
    expect(verdict('http://[::1]:4001/')).toBe(true)
    expect(verdict('http://[::1]:4002/')).toBe(false)
    expect(verdict('http://10.0.0.1:9999/')).toBe(false)
  })

  it('never applies an exception to anything but loopback', () => {
    for (const entry of ['169.254.169.254', '10.0.0.1:80', '[fd00::1]:9', '8.8.8.8', '0.0.0.0']) {
      expect(() => parseAllowList([entry]), entry).toThrow(/only loopback/)
    }
  })
})
