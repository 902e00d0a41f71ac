// The verifiers of the library against the service's own code and the vectors.

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase64url, encodeBase64url, encodeHex, isEqual } from '#client/verify/bytes.ts'
import { nodeHash } from '#client/verify/ledger.ts'
import { appendLeaf, rootOfFrontier, rootOfInclusion } from '#client/verify/merkle.ts'
import { timeOfId } from '#client/verify/removed.ts'
import { sha256 } from '#client/verify/sha256.ts'
import { verifyWebhookSignature } from '#client/verify/webhook.ts'
import { timeOfId as timeByService } from '#src/platform/ids.ts'
import merkle from '../../../vectors/ledger/merkle.json' with { type: 'json' }
import signatures from '../../../vectors/webhooks/signatures.json' with { type: 'json' }

describe('bytes', () => {
  it('are hashed as Node hashes them, at every length of a block', () => {
    for (let length = 0; length < 200; length += 1) {
      const data = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256)
      expect(encodeHex(sha256(data))).toBe(createHash('sha256').update(data).digest('hex'))
    }
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 5_000 }),
        (data) => encodeHex(sha256(data)) === createHash('sha256').update(data).digest('hex'),
      ),
    )
  })

  it('of a part of a buffer are hashed alone', () => {
    const part = new Uint8Array(100).fill(3).subarray(10, 90)
    expect(encodeHex(sha256(part))).toBe(createHash('sha256').update(part).digest('hex'))
  })

  it('are base64url and back', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        const text = encodeBase64url(data)
        expect(text).toBe(Buffer.from(data).toString('base64url'))
        expect(decodeBase64url(text)).toEqual(data)
      }),
    )
  })

  it('are equal only as a whole', () => {
    expect(isEqual(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true)
    for (const other of [[1], [1, 2, 0], [1, 3], []])
      expect(isEqual(Uint8Array.of(1, 2), Uint8Array.from(other))).toBe(false)
  })
})

describe('the tree', () => {
  const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
  const leafOf = (data: Uint8Array) => sha256(Uint8Array.from([0, ...data]))
  const { leaves, roots, inclusion } = merkle.transparency

  it('has the roots of the vectors at every size', () => {
    const frontier: Uint8Array<ArrayBuffer>[] = []
    for (const [size, leaf] of leaves.entries()) {
      appendLeaf({ size, frontier }, leafOf(bytes(leaf)), nodeHash)
      expect(encodeHex(rootOfFrontier(frontier, nodeHash) ?? new Uint8Array())).toBe(roots[size])
    }
  })

  it.each(inclusion)('proves leaf $leaf of $size, and no other', ({ leaf, size, path }) => {
    const claim = { index: leaf, size, leaf: leafOf(bytes(leaves[leaf] ?? '')), proof: path.map(bytes) }
    expect(encodeHex(rootOfInclusion(claim, nodeHash) ?? new Uint8Array())).toBe(roots[size - 1])
    const elsewhere = rootOfInclusion({ ...claim, index: (leaf + 1) % (size + 1) }, nodeHash)
    expect(encodeHex(elsewhere ?? new Uint8Array())).not.toBe(roots[size - 1])
  })
})

describe('verifyWebhookSignature', () => {
  it.each(signatures.verify)('$name', async (vector) => {
    const { headers, secrets, now, verdict, ...given } = vector as unknown as {
      headers: Record<string, string>
      body?: string
      body_base64?: string
      secrets: string[]
      now: number
      tolerance?: number
      verdict: object
    }
    const rawBody = given.body ?? Uint8Array.from(Buffer.from(given.body_base64 ?? '', 'base64'))
    const options = { now, ...(given.tolerance !== undefined && { toleranceSeconds: given.tolerance }) }
    expect(await verifyWebhookSignature(rawBody, headers, secrets, options)).toEqual(verdict)
  })

  it('takes the headers of fetch', async () => {
    const [{ body, headers, secrets, now } = { body: '', headers: {}, secrets: [], now: 0 }] = signatures.sign
    expect(await verifyWebhookSignature(body, new Headers(headers), secrets, { now })).toEqual({ valid: true })
  })

  it.each([[[]], [['']], [['whsec_a', '']]])(
    'throws for the secrets %j, by which anybody could sign',
    async (secrets) => {
      await expect(verifyWebhookSignature('{}', {}, secrets)).rejects.toThrow(TypeError)
    },
  )
})

describe('what the library knows of the service', () => {
  it.each(['dec_test_01m7x7k0kweezv2g6agvqmrk2v', 'acc_01m7x7k0kweezv2g6agvqmrk2v', 'dec_test_x', ''])(
    'is the time of %s',
    (id) => {
      expect(timeOfId(id)).toBe(timeByService(id))
    },
  )
})
