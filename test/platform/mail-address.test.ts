import { describe, expect, it } from 'vitest'
import { normalizeAddress } from '#src/platform/mail-address.ts'

const LONG = `${'b'.repeat(63)}.${'c'.repeat(63)}`

describe('an address', () => {
  it.each([
    ['Mika@Example.COM', 'mika@example.com'],
    [' mika@example.com ', 'mika@example.com'],
    ["o'neil+claims/2@example.co.uk", "o'neil+claims/2@example.co.uk"],
    ['mika@münchen.example', 'mika@xn--mnchen-3ya.example'],
    ['mika@MÜNCHEN.example', 'mika@xn--mnchen-3ya.example'],
    ['mika@例え.example', 'mika@xn--r8jz45g.example'],
    ['owner@localhost', 'owner@localhost'],
    // IDNA maps the Kelvin sign to k: the mail goes to the same domain that is compared.
    ['mika@\u212Aelvin.example', 'mika@kelvin.example'],
    [`${'a'.repeat(64)}@${LONG}.${'d'.repeat(61)}`, `${'a'.repeat(64)}@${LONG}.${'d'.repeat(61)}`],
    [`${'a'.repeat(64)}@${LONG}.${'d'.repeat(62)}`, undefined],
  ])('is normalized: %s', (given, expected) => {
    expect(normalizeAddress(given)).toBe(expected)
  })

  it.each([
    '',
    '@',
    'mika',
    '@example.com',
    'mika@',
    'mika@example.com@evil.example',
    'mika@example.com,evil@evil.example',
    'mika@example.com;evil@evil.example',
    'mika@example.com\nBcc: evil@evil.example',
    'mika\r\nBcc:evil@evil.example',
    'mika@exa\tmple.com',
    'mika@exa\nmple.com',
    'mika\0@example.com',
    'Mika <mika@example.com>',
    '<mika@example.com>',
    '"mika@evil.example"@example.com',
    '"mika"@example.com',
    'mika@example.com/evil',
    'mika@example.com:25',
    'mika@example.com#evil',
    'mika@evil.example%00.example.com',
    'mika@[127.0.0.1]',
    'mika@127.0.0.1',
    'mika@0x7f.1',
    'mika@2130706433',
    'mika@-example.com',
    'mika@example..com',
    'mika@example.com.',
    'mika@ex_ample.com',
    // Becomes k when it is lowered: another mailbox than it looks.
    'mi\u212Aa@example.com',
    'mıka@example.com',
    'mi ka@example.com',
    `${'a'.repeat(65)}@example.com`,
    `mika@${'a'.repeat(64)}.com`,
    `mika@${'a.'.repeat(200)}com`,
    `${'a'.repeat(100_000)}@example.com`,
  ])('is refused: %j', (given) => {
    expect(normalizeAddress(given)).toBeUndefined()
  })
})
