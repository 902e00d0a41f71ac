import { describe, expect, it } from 'vitest'
import { formatOid, readDerElements } from '#src/platform/crypto/der.ts'

describe('an object identifier', () => {
  it.each([
    ['2a8648ce3d040302', '1.2.840.10045.4.3.2'],
    ['551d13', '2.5.29.19'],
    ['883703', '2.999.3'],
    [`${'81'.repeat(63)}00`, undefined],
  ])('%s is parsed', (hex, dotted) => {
    const text = formatOid(Buffer.from(hex, 'hex'))
    if (dotted !== undefined) expect(text).toBe(dotted)
    expect(text).toMatch(/^[012](\.\d+)+$/)
  })

  // The last would take 65 ms to print in decimal, and a line of an import can contain three.
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['an arc without an end', Buffer.from('551d1381', 'hex')],
    ['65 bytes', Buffer.alloc(65, 1)],
    ['16 KiB', Buffer.alloc(16 * 1024, 0x81)],
  ])('of %s is refused', (_name, content) => {
    expect(() => formatOid(content)).toThrow(RangeError)
  })
})

describe('elements of DER', () => {
  it.each([
    ['a length that is longer than needed', '30810100'],
    ['an endless length', '30800000'],
    ['a tag of several bytes', '1f0100'],
    ['more than there is', '3003020100aa'.slice(0, 8)],
    ['four gigabytes', '3084ffffffff00'],
  ])('with %s are refused', (_name, hex) => {
    expect(() => readDerElements(Buffer.from(hex, 'hex'))).toThrow(RangeError)
  })
})
