import { decode, encode } from 'cborg'
import { describe, expect, test } from 'vitest'
import { enrollmentHash, verifyAppleAssertion } from '#src/attest/hardware/apple.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { AppleRequest } from '../../../capture-kit/vendor.ts'
import { apps, CHALLENGE, codesOf, flip, NOW, spki, vendor, verifyApple } from './simulated.ts'

const hash = enrollmentHash(spki, CHALLENGE)
const attest = (request: Partial<AppleRequest> = {}) => vendor.attestApple({ clientDataHash: hash, ...request })
const days = (count: number) => new Date(NOW.getTime() + count * 86_400_000)

interface Parts {
  fmt: unknown
  attStmt: { x5c: Uint8Array[]; receipt: Uint8Array }
  authData: Uint8Array
}

/** The object with some members changed. */
function altered(object: Uint8Array, change: (parts: Parts) => unknown): Buffer {
  const parts: Parts = decode(object)
  return Buffer.from(encode(change(parts)))
}

describe('an App Attest key', () => {
  test('is in the Secure Enclave', async () => {
    const { object, keyId } = await attest()
    const verdict = verifyApple(object, { keyId })
    expect(verdict).toMatchObject({
      tier: 'secure_enclave',
      reasons: [],
      serials: [],
      revocation: { state: 'not_applicable' },
      facts: { environment: 'production', appId: apps.apple[0]?.appId, keyId: keyId.toString('base64'), counter: 0 },
    })
    expect(verdict.attestKey?.spki).toHaveLength(91)
  })

  test.each(['ios14', 'ios27', 'webauthn'] as const)('is read from authenticator data of the form %s', async (form) => {
    const { object } = await attest({ form })
    expect(verifyApple(object)).toMatchObject({ tier: 'secure_enclave', reasons: [] })
  })

  test('of an app built for development counts where that is allowed', async () => {
    const { object } = await attest({ environment: 'development' })
    expect(verifyApple(object, { isDevelopmentAllowed: true }).tier).toBe('secure_enclave')
    expect(codesOf(verifyApple(object))).toEqual(['app_environment'])
    expect(verifyApple(object)).toMatchObject({ tier: 'none', attestKey: null, facts: { environment: 'development' } })
  })

  test('of another app has tier none', async () => {
    const verdict = verifyApple((await attest({ appId: 'OTHER00000.com.example.other' })).object)
    expect(codesOf(verdict)).toEqual(['app_unknown'])
    expect(verdict).toMatchObject({ tier: 'none', attestKey: null, facts: { appId: null } })
  })

  test('is verified within the time of its certificate, and never after', async () => {
    const { object } = await attest()
    expect(codesOf(verifyApple(object, { at: days(22) }))).toEqual(['expired'])
    expect(codesOf(verifyApple(object, { at: days(-8) }))).toEqual(['not_yet_valid'])
  })

  test.each([
    ['another challenge', { clientDataHash: enrollmentHash(spki, Buffer.alloc(32)) }, 'nonce_mismatch'],
    ['another key', { clientDataHash: enrollmentHash(spki.subarray(1), CHALLENGE) }, 'nonce_mismatch'],
    ['another name', { keyId: Buffer.alloc(32) }, 'key_id_mismatch'],
    ['an unknown root', { roots: [] }, 'root_unknown'],
  ])('with %s proves nothing', async (_, changes, code) => {
    const verdict = verifyApple((await attest()).object, changes)
    expect(codesOf(verdict)).toEqual([code])
    expect(verdict).toMatchObject({ tier: 'none', facts: null, attestKey: null })
  })

  test('that has signed before is not a new key', async () => {
    expect(codesOf(verifyApple((await attest({ counter: 1 })).object))).toEqual(['counter_not_zero'])
  })

  test('is refused when its object is composed differently', async () => {
    const [one, two] = [await attest(), await attest()]
    const other: Parts = decode(two.object)
    const cases: [string, (parts: Parts) => unknown, string][] = [
      ['format', (parts) => ({ ...parts, fmt: 'packed' }), 'malformed'],
      ['no chain', (parts) => ({ ...parts, attStmt: { x5c: [] } }), 'malformed'],
      ['leaf alone', (parts) => ({ ...parts, attStmt: { x5c: parts.attStmt.x5c.slice(0, 1) } }), 'malformed'],
      [
        'leaf doubled',
        ({ attStmt: { x5c }, ...rest }) => ({ ...rest, attStmt: { x5c: [x5c[0], x5c[0]] } }),
        'malformed',
      ],
      ['turned', (parts) => ({ ...parts, attStmt: { x5c: parts.attStmt.x5c.toReversed() } }), 'malformed'],
      ['three', (parts) => ({ ...parts, attStmt: { x5c: [...parts.attStmt.x5c, other.attStmt.x5c[0]] } }), 'malformed'],
      ['another key’s data', (parts) => ({ ...parts, authData: other.authData }), 'nonce_mismatch'],
      ['another key’s chain', (parts) => ({ ...parts, attStmt: other.attStmt }), 'nonce_mismatch'],
      ['short data', (parts) => ({ ...parts, authData: parts.authData.subarray(0, 54) }), 'malformed'],
      ['an array', (parts) => [parts], 'malformed'],
    ]
    for (const [name, change, code] of cases) {
      const codes = codesOf(verifyApple(altered(one.object, change)))
      // The intermediate has no P-256 nonce of its own, so swapping them is detected before the signature.
      expect(codes, name).toEqual([code])
    }
  })

  test('with any fifth bit flipped is refused, except in the receipt, which no signature here covers', async () => {
    const { object } = await attest()
    const receipt: Uint8Array = (decode(object) as Parts).attStmt.receipt
    const at = object.indexOf(receipt) * 8
    const accepted: number[] = []
    for (let bit = 0; bit < object.length * 8; bit += 5) {
      if (verifyApple(flip(object, bit)).tier !== 'none') accepted.push(bit)
    }
    // Bits of the member's name too: under another name the member is not read.
    const inReceipt = accepted.filter((bit) => bit >= at - 9 * 8 - 16 && bit < at + receipt.length * 8)
    expect(accepted.length).toBeGreaterThan(receipt.length)
    expect(accepted).toEqual(inReceipt)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['more than 16 KB', Buffer.alloc(16 * 1024 + 1)],
    ['nesting without end', Buffer.alloc(16 * 1024, 0x81)],
    ['an array of 2^32', Buffer.from('9affffffff', 'hex')],
    ['bytes of 2^53', Buffer.from('5b001fffffffffffff', 'hex')],
    ['an indefinite map', Buffer.from('bfff', 'hex')],
    ['one key twice', Buffer.from('a263666d740063666d7400', 'hex')],
    ['a prototype', Buffer.from(encode(new Map([['__proto__', new Map([['fmt', 'apple-appattest']])]])))],
  ])('is not read from %s', (_, bytes) => {
    const startedAt = performance.now()
    expect(codesOf(verifyApple(bytes))).toEqual(['malformed'])
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })
})

describe('an assertion', () => {
  const bundleHash = sha256('a bundle')
  const appId = apps.apple[0]?.appId ?? ''

  async function makeKey(request: Partial<AppleRequest> = {}) {
    const made = await attest(request)
    const key = verifyApple(made.object).attestKey?.spki
    if (key === undefined) throw new Error('the key was not attested')
    return { ...made, key }
  }

  test('signs one bundle and increases its counter', async () => {
    const { key, assert } = await makeKey()
    const input = { spki: key, appId, clientDataHash: bundleHash, counterAbove: 0 }
    expect(await verifyAppleAssertion({ ...input, assertion: assert(bundleHash) })).toEqual({
      isValid: true,
      counter: 1,
    })
    expect(await verifyAppleAssertion({ ...input, assertion: assert(bundleHash) })).toEqual({
      isValid: true,
      counter: 2,
    })
    expect(await verifyAppleAssertion({ ...input, assertion: assert(bundleHash, 4_294_967_295) })).toEqual({
      isValid: true,
      counter: 4_294_967_295,
    })
  })

  test('of other bytes, another key, another app or an old counter gets its own reason', async () => {
    const { key, assert } = await makeKey()
    const { key: otherKey } = await makeKey()
    const input = { assertion: assert(bundleHash), spki: key, appId, clientDataHash: bundleHash, counterAbove: 0 }
    const cases = [
      [{ clientDataHash: sha256('another') }, { code: 'bad_signature', counter: null }],
      [{ spki: otherKey }, { code: 'bad_signature', counter: null }],
      [{ appId: 'OTHER00000.com.example.other' }, { code: 'wrong_app', counter: 1 }],
      [{ counterAbove: 1 }, { code: 'counter_not_above', counter: 1 }],
      [{ assertion: Buffer.alloc(1025) }, { code: 'malformed', counter: null }],
      [{ assertion: Buffer.alloc(0) }, { code: 'malformed', counter: null }],
      [{ assertion: Buffer.from(encode({ signature: 'text', authenticatorData: [] })) }, { code: 'malformed' }],
    ] as const
    for (const [changes, expected] of cases) {
      expect(await verifyAppleAssertion({ ...input, ...changes })).toMatchObject({ isValid: false, ...expected })
    }
  })

  test.each([
    ['ios14', 37],
    ['ios27', 102],
    ['webauthn', 229],
  ] as const)('is read from authenticator data of the form %s, %i bytes', async (form, length) => {
    const { key, assert } = await makeKey({ form })
    const input = { spki: key, appId, clientDataHash: bundleHash, counterAbove: 0 }
    const assertion = assert(bundleHash)
    expect(decode(assertion).authenticatorData).toHaveLength(length)
    expect(await verifyAppleAssertion({ ...input, assertion })).toEqual({ isValid: true, counter: 1 })
    expect(await verifyAppleAssertion({ ...input, assertion, clientDataHash: sha256('another') })).toMatchObject({
      code: 'bad_signature',
    })
  })

  test.each(['ios14', 'ios27'] as const)('of %s with any bit flipped is refused', async (form) => {
    const { key, assert } = await makeKey({ form })
    const assertion = assert(bundleHash)
    const verdicts = await Promise.all(
      Array.from({ length: assertion.length * 8 }, (_, bit) =>
        verifyAppleAssertion({
          assertion: flip(assertion, bit),
          spki: key,
          appId,
          clientDataHash: bundleHash,
          counterAbove: 0,
        }),
      ),
    )
    expect(verdicts.filter(({ isValid }) => isValid)).toEqual([])
  })
})
