import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createClientAddress } from '#src/platform/http/client-address.ts'

type Request = Pick<IncomingMessage, 'headersDistinct' | 'socket'>

/** A request from this peer, with these lines of X-Forwarded-For. */
const from = (remoteAddress: string, ...lines: string[]) =>
  ({ headersDistinct: { 'x-forwarded-for': lines }, socket: { remoteAddress } }) as unknown as Request

describe('the address of a caller', () => {
  const addressOf = createClientAddress(['10.0.0.0/8', '2001:db8:1::/48'])

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['"203.0.113.7:51234"', '203.0.113.7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    ['"[2001:db8::7]:443"', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:80', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7:1', '203.0.113.7'],
    ['203.0.113.7:1, 10.0.0.9:2', '203.0.113.7'],
    ['203.0.113.7, [2001:db8:1::9]:8080', '203.0.113.7'],
  ])('is read from X-Forwarded-For: %s', (line, address) => {
    expect(addressOf(from('10.0.0.1', line))).toBe(address)
    expect(addressOf(from('::ffff:10.0.0.1', line))).toBe(address)
  })

  it('is that of the peer where the peer is not trusted, whatever it sends', () => {
    expect(addressOf(from('198.51.100.9', '203.0.113.7'))).toBe('198.51.100.9')
    expect(createClientAddress([])(from('198.51.100.9', '203.0.113.7'))).toBe('198.51.100.9')
  })

  it.each([
    'unknown',
    '_hidden',
    '',
    '1.2.3',
    '203.0.113.7:',
    '203.0.113.7:999999',
    '[203.0.113.7]:80',
    '[::1',
    'x.test:80',
  ])('is that of the proxy, and the operator is told, where it sends no address: %j', (hop) => {
    const told: string[][] = []
    const telling = createClientAddress(['10.0.0.0/8'], (...what) => void told.push(what))
    expect(telling(from('10.0.0.1', `203.0.113.7, ${hop}`))).toBe('10.0.0.1')
    expect(told).toEqual([[hop, '10.0.0.1']])
  })
})
