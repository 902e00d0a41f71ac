import { generateKeyPairSync } from 'node:crypto'
import { encode } from 'cborg'
import { describe, expect, test } from 'vitest'
import { readAssertedData, readAttestedData } from '#src/attest/hardware/authenticator-data.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { type AuthenticatorForm, assertedData, attestedData } from '../../../capture-kit/authenticator-data.ts'

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = { environment: 'production', keyId: sha256('a key'), publicKey } as const
const FORMS: AuthenticatorForm[] = ['ios14', 'ios27', 'webauthn']
const head = (form: AuthenticatorForm) => ({ appId: 'TEAM000000.com.example', form, counter: 7 })
const EXTENSIONS = Buffer.from(
  encode({ apple_bundle_version_01: '1', apple_validation_category_01: Buffer.from([4, 0, 0, 0]) }),
)

/** A head with these flags, then the remaining bytes. */
function withFlags(flags: number, ...rest: Uint8Array[]): Buffer {
  const start = assertedData(head('ios14'), key)
  start[32] = flags
  return Buffer.concat([start, ...rest])
}

describe('authenticator data of an attestation', () => {
  test.each(FORMS)('are read in the form %s', (form) => {
    expect(readAttestedData(attestedData(head(form), key))).toEqual({
      rpIdHash: sha256('TEAM000000.com.example'),
      counter: 7,
      credential: { aaguid: Buffer.concat([Buffer.from('appattest'), Buffer.alloc(7)]), id: key.keyId },
    })
  })

  test.each(FORMS)('are read at their exact length only, in the form %s', (form) => {
    const data = attestedData(head(form), key)
    // Without their extensions, data that don't announce them are complete again.
    const whole = attestedData(head('ios14'), key).length
    for (let length = 0; length < data.length; length += 1) {
      const read = readAttestedData(data.subarray(0, length))
      expect(read !== undefined, `${length} bytes`).toBe(form === 'ios27' && length === whole)
    }
    for (const more of [Buffer.alloc(1), Buffer.from('00ff', 'hex'), EXTENSIONS, Buffer.alloc(4_096)]) {
      const isFirst = form === 'ios14' && more === EXTENSIONS
      expect(readAttestedData(Buffer.concat([data, more])) !== undefined).toBe(isFirst)
    }
  })

  test('attest no credential without the flag for it', () => {
    const data = attestedData(head('ios14'), key)
    data[32] = 0
    expect(readAttestedData(data)).toBeUndefined()
  })
})

describe('authenticator data of an assertion', () => {
  test.each(FORMS)('are read in the form %s', (form) => {
    const data = assertedData(head(form), key)
    expect(readAssertedData(data)).toMatchObject({ rpIdHash: sha256('TEAM000000.com.example'), counter: 7 })
    expect(readAssertedData(data)?.credential?.id).toEqual(form === 'webauthn' ? key.keyId : undefined)
  })

  test.each([0x00, 0x40, 0x80, 0xc0])('are read with extensions and the flags %i', (flags) => {
    expect(readAssertedData(withFlags(flags, EXTENSIONS))).toMatchObject({ counter: 7, credential: undefined })
  })

  const refused: [string, number, ...Uint8Array[]][] = [
    ['no extensions where they are announced', 0x80],
    ['neither credential nor extensions where both are', 0xc0],
    ['an empty map', 0xc0, Buffer.from('a0', 'hex')],
    ['a list', 0xc0, Buffer.from('80', 'hex')],
    ['a number as a name', 0xc0, Buffer.from('a10102', 'hex')],
    ['a name twice', 0xc0, Buffer.from('a2616101616102', 'hex')],
    ['a map without end', 0xc0, Buffer.from('bf616101ff', 'hex')],
    ['a length that is not the shortest', 0xc0, Buffer.from('a178016101', 'hex')],
    ['one byte more', 0xc0, EXTENSIONS, Buffer.alloc(1)],
    ['two maps', 0xc0, EXTENSIONS, EXTENSIONS],
    ['one byte less', 0xc0, EXTENSIONS.subarray(0, -1)],
    ['a credential that is not announced', 0x80, attestedData(head('webauthn'), key).subarray(37)],
    ['a credential without the extensions that are announced', 0xc0, attestedData(head('ios14'), key).subarray(37)],
    ['a credential without its key', 0x40, attestedData(head('ios14'), key).subarray(37, 37 + 18 + 32)],
    ['a name of 1 GB', 0xc0, Buffer.from('a17a40000000', 'hex')],
    ['nesting', 0xc0, Buffer.concat([Buffer.from('a16161', 'hex'), Buffer.alloc(400, 0x81)])],
    ['more than anybody needs', 0xc0, encode({ name: 'x'.repeat(600) })],
  ]
  test.each(refused)('are refused with %s', (_, flags, ...rest) => {
    expect(readAssertedData(withFlags(flags, ...rest))).toBeUndefined()
  })

  test('are refused when they are truncated', () => {
    const data = assertedData(head('ios27'), key)
    for (let length = 0; length < data.length; length += 1) {
      expect(readAssertedData(data.subarray(0, length)), `${length} bytes`).toBeUndefined()
    }
  })
})
