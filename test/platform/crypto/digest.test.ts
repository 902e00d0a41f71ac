import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { isEqualBytes, sha256, sha256Base64url, sha256Hex } from '#src/platform/crypto/digest.ts'

it('sha256 hashes text as UTF-8 and bytes unchanged, in three encodings', () => {
  const expected = createHash('sha256').update('é', 'utf8').digest()
  expect(sha256('é')).toEqual(expected)
  expect(sha256(new Uint8Array([0xc3, 0xa9]))).toEqual(expected)
  expect(sha256Hex('é')).toBe(expected.toString('hex'))
  expect(sha256Base64url('é')).toBe(expected.toString('base64url'))
})

it('the comparison accepts bytes of any lengths', () => {
  expect(isEqualBytes(Buffer.from('abc'), new Uint8Array([97, 98, 99]))).toBe(true)
  expect(isEqualBytes(Buffer.from('abc'), Buffer.from('abd'))).toBe(false)
  expect(isEqualBytes(Buffer.from('abc'), Buffer.from('ab'))).toBe(false)
  expect(isEqualBytes(Buffer.alloc(0), Buffer.alloc(0))).toBe(true)
})
