import 'reflect-metadata'
import { Extension, KeyUsageFlags } from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
import { type Certificate, type ChainVerdict, checkChain, parseCertificate } from '#src/platform/crypto/x509.ts'
import { AT, ED25519, type Issued, make, makeChain, P384, P521, rsa } from './pki.ts'
import { createDice, flipBit } from './seeded.ts'

const { root, intermediate, leaf } = await makeChain()
const stranger = await make({ name: 'Stranger', isCa: true })

describe('a path is found', () => {
  const path = [leaf, intermediate, root].map(({ certificate }) => certificate.fingerprint)
  it.each([
    ['without the root in the chain', [leaf, intermediate], [root]],
    ['with the root in the chain', [leaf, intermediate, root], [root]],
    ['in any order behind the leaf', [leaf, root, intermediate], [root]],
    ['among strangers', [leaf, stranger, intermediate], [stranger, root]],
  ])('%s', (_name, chain, anchors) => {
    expect(check(chain, anchors)).toEqual({ isTrusted: true, path, anchor: root.certificate.fingerprint })
  })

  it('that ends at an intermediate which is an anchor', () => {
    expect(check([leaf, intermediate, root], [intermediate])).toEqual({
      isTrusted: true,
      path: path.slice(0, 2),
      anchor: intermediate.certificate.fingerprint,
    })
  })

  it('with one certificate', async () => {
    const device = await make({ name: 'Device', issuer: root })
    expect(check([device], [root])).toMatchObject({ isTrusted: true })
  })

  it.each([
    ['P-384', P384],
    ['P-521', P521],
    ['RSA 2048', rsa(2048)],
    ['RSA 3072 with SHA-512', rsa(3072, 'SHA-512')],
    ['Ed25519', ED25519],
  ])('under %s', async (_name, algorithm) => {
    const chain = await makeChain({ root: { algorithm }, intermediate: { algorithm } })
    expect(check([chain.leaf, chain.intermediate], [chain.root])).toMatchObject({ isTrusted: true })
  })

  it('without keyUsage extensions', async () => {
    const chain = await makeChain({
      root: { usages: null },
      intermediate: { usages: null },
      leaf: { usages: null, isBare: true },
    })
    expect(check([chain.leaf, chain.intermediate], [chain.root])).toMatchObject({ isTrusted: true })
  })

  it('on the first and on the last second of a certificate', () => {
    for (const at of ['2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z']) {
      expect(check([leaf, intermediate], [root], new Date(at))).toMatchObject({ isTrusted: true })
    }
  })

  it('by the anchor that signed, among others of the same name', async () => {
    const others = await Promise.all([1, 2, 3].map(() => make({ name: 'Root', isCa: true })))
    expect(check([leaf, intermediate], [...others, root])).toMatchObject({ isTrusted: true, path })
  })

  it('around an expired cross-certificate', async () => {
    const old = await make({
      name: 'Intermediate',
      isCa: true,
      issuer: root,
      keys: intermediate.keys,
      until: '2026-02-01T00:00:00Z',
    })
    expect(check([leaf, old, intermediate], [root])).toMatchObject({ isTrusted: true, path })
  })
})

describe('a path is refused', () => {
  const SHORT = { until: '2026-11-20T11:59:59Z' }
  const LATE = { from: '2026-11-20T12:00:01Z' }
  const critical = { extensions: [new Extension('1.3.6.1.4.1.55555.1', true, Buffer.from('0500', 'hex'))] }
  const noncritical = { extensions: [new Extension('1.3.6.1.4.1.55555.1', false, Buffer.from('0500', 'hex'))] }
  const nameConstraints = { extensions: [new Extension('2.5.29.30', true, Buffer.from('3000', 'hex'))] }

  it.each<[string, Parameters<typeof makeChain>[0], string, number]>([
    ['an expired leaf', { leaf: SHORT }, 'expired', 0],
    ['an expired intermediate', { intermediate: SHORT }, 'expired', 1],
    ['an expired root', { root: SHORT }, 'expired', 2],
    ['a leaf of tomorrow', { leaf: LATE }, 'not_yet_valid', 0],
    ['an intermediate of tomorrow', { intermediate: LATE }, 'not_yet_valid', 1],
    ['a root of tomorrow', { root: LATE }, 'not_yet_valid', 2],
    ['an intermediate that is no CA', { intermediate: { isCa: false } }, 'not_a_ca', 1],
    ['an intermediate without basicConstraints', { intermediate: { isBare: true } }, 'not_a_ca', 1],
    ['a root that is no CA', { root: { isCa: false } }, 'not_a_ca', 2],
    [
      'an intermediate that may only sign data',
      { intermediate: { usages: KeyUsageFlags.digitalSignature } },
      'key_usage',
      1,
    ],
    ['a root that may only sign lists', { root: { usages: KeyUsageFlags.cRLSign } }, 'key_usage', 2],
    ['a leaf that may only agree on keys', { leaf: { usages: KeyUsageFlags.keyAgreement } }, 'key_usage', 0],
    ['a root whose path length is zero', { root: { pathLength: 0 } }, 'path_length', 2],
    ['an RSA root of 1024 bits', { root: { algorithm: rsa(1024) } }, 'weak_key', 2],
    ['an RSA intermediate of 1024 bits', { intermediate: { algorithm: rsa(1024) } }, 'weak_key', 1],
    ['a leaf with a P-384 key', { leaf: { algorithm: P384 } }, 'weak_key', 0],
    ['a leaf with an RSA key', { leaf: { algorithm: rsa(2048) } }, 'weak_key', 0],
    ['a leaf with an Ed25519 key', { leaf: { algorithm: ED25519 } }, 'weak_key', 0],
    ['a leaf signed with SHA-1', { leaf: { signatureHash: 'SHA-1' } }, 'weak_key', 0],
    ['an intermediate signed with SHA-1 and RSA', { root: { algorithm: rsa(2048, 'SHA-1') } }, 'weak_key', 1],
    ['an unknown critical extension of the leaf', { leaf: critical }, 'key_usage', 0],
    ['an unknown critical extension of the intermediate', { intermediate: critical }, 'key_usage', 1],
    ['an unknown critical extension of the root', { root: critical }, 'key_usage', 2],
    ['name constraints', { intermediate: nameConstraints }, 'key_usage', 1],
    [
      'a leaf that names another issuer than the one which signed',
      { leaf: { issuerName: 'Somebody' } },
      'name_mismatch',
      0,
    ],
  ])('for %s', async (_name, change, code, index) => {
    const made = await makeChain(change)
    const expected = { isTrusted: false, code, index }
    expect(check([made.leaf, made.intermediate], [made.root])).toMatchObject(expected)
    expect(check([made.leaf, made.intermediate, made.root], [made.root])).toMatchObject(expected)
  })

  it('but not for an unknown extension that is not critical', async () => {
    const made = await makeChain({ root: noncritical, intermediate: noncritical, leaf: noncritical })
    expect(check([made.leaf, made.intermediate], [made.root])).toMatchObject({ isTrusted: true })
  })

  it("but not for the SHA-1 in the anchor's own signature, which is not checked", async () => {
    const made = await makeChain({ root: { signatureHash: 'SHA-1' } })
    expect(check([made.leaf, made.intermediate], [made.root])).toMatchObject({ isTrusted: true })
  })

  it('when a certificate is missing', () => {
    expect(check([leaf], [root])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 0 })
    expect(check([leaf, root], [root])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 0 })
  })

  it('when the issuer is another one of the same name', async () => {
    const impostor = await make({ name: 'Intermediate', isCa: true, issuer: root })
    expect(check([leaf, impostor], [root])).toMatchObject({ isTrusted: false, code: 'bad_signature', index: 0 })
  })

  it('when the root is another one of the same name', async () => {
    const impostor = await make({ name: 'Root', isCa: true })
    expect(check([leaf, intermediate], [impostor])).toMatchObject({ isTrusted: false, code: 'bad_signature', index: 1 })
    expect(check([leaf, intermediate, root], [impostor])).toMatchObject({
      isTrusted: false,
      code: 'unknown_ca',
      index: 2,
    })
  })

  it('when there is no anchor, no chain, or only unrelated certificates', () => {
    expect(check([leaf, intermediate, root], [])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 2 })
    expect(check([leaf, intermediate], [stranger])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 1 })
    expect(check([], [root])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 0 })
  })

  it('when the leaf signed itself, also as an anchor', async () => {
    const self = await make({ name: 'Self', isCa: true, usages: null })
    expect(check([self], [root])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 0 })
    expect(check([self], [self])).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 0 })
  })

  it('when a device signs another device', async () => {
    const second = await make({ name: 'Device 2', issuer: leaf })
    expect(check([second, leaf, intermediate], [root])).toMatchObject({ isTrusted: false, code: 'not_a_ca', index: 1 })
  })

  it('at an invalid time', () => {
    expect(check([leaf, intermediate], [root], new Date(Number.NaN))).toMatchObject({ isTrusted: false })
  })
})

describe('the path length', () => {
  it('counts intermediates below, and not self-issued ones', async () => {
    const limited = await make({ name: 'Limited', isCa: true, pathLength: 1 })
    const first = await make({ name: 'First', isCa: true, issuer: limited })
    const renewed = await make({ name: 'First', isCa: true, issuer: first })
    const second = await make({ name: 'Second', isCa: true, issuer: renewed })
    const device = await make({ name: 'Device', issuer: renewed })
    const deeper = await make({ name: 'Device', issuer: second })
    expect(check([device, renewed, first], [limited])).toMatchObject({ isTrusted: true })
    expect(check([deeper, second, renewed, first], [limited])).toMatchObject({
      isTrusted: false,
      code: 'path_length',
      index: 4,
    })
  })

  it('uses the shorter of two paths', async () => {
    const limited = await make({ name: 'Limited', isCa: true, pathLength: 1 })
    const upper = await make({ name: 'Upper', isCa: true, issuer: limited })
    const long = await make({ name: 'Lower', isCa: true, issuer: upper })
    const short = await make({ name: 'Lower', isCa: true, issuer: limited, keys: long.keys })
    const device = await make({ name: 'Device', issuer: long })
    expect(check([device, long, upper], [limited])).toMatchObject({ isTrusted: false, code: 'path_length' })
    expect(check([device, long, upper, short], [limited])).toMatchObject({ isTrusted: true })
  })

  it('uses the path with fewer names, though it has more certificates', async () => {
    const anchor = await make({ name: 'Anchor', isCa: true, pathLength: 2 })
    const top = await make({ name: 'Top', isCa: true, issuer: anchor })
    const upper = await make({ name: 'Upper', isCa: true, issuer: top })
    const near = await make({ name: 'Near', isCa: true, issuer: upper })
    const device = await make({ name: 'Device', issuer: near })
    expect(check([device, near, upper, top], [anchor])).toMatchObject({
      isTrusted: false,
      code: 'path_length',
      index: 4,
    })
    const oldest = await make({ name: 'Near', isCa: true, issuer: top })
    const older = await make({ name: 'Near', isCa: true, issuer: oldest })
    const renewed = await make({ name: 'Near', isCa: true, issuer: older, keys: near.keys })
    expect(check([device, near, upper, renewed, older, oldest, top], [anchor])).toMatchObject({ isTrusted: true })
  })
})

describe('a flipped bit', () => {
  it('in leaf or intermediate is never trusted (200 seeded)', () => {
    const dice = createDice(20_261_120)
    const outcomes = new Set<string>()
    for (let i = 0; i < 200; i += 1) {
      const victim = i % 2
      const ders = [leaf.der, intermediate.der]
      const chain: Certificate[] = []
      for (const [index, der] of ders.entries()) {
        const parsed = parseCertificate(index === victim ? flipBit(der, dice(der.length * 8)) : der)
        if (parsed.ok) chain.push(parsed.certificate)
        else outcomes.add(parsed.code)
      }
      if (chain.length < 2) continue
      const verdict = checkChain({ chain, anchors: [root.certificate], at: AT })
      if (verdict.isTrusted) throw new Error(`trusted with a bit flipped in run ${i}`)
      outcomes.add(verdict.code)
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['not_a_certificate', 'bad_signature']))
  })
})

describe('a hostile mesh', () => {
  it('of issuers that sign each other in a loop ends', async () => {
    const a = await make({ name: 'A', isCa: true })
    const b = await make({ name: 'B', isCa: true, issuer: a })
    const looped = await make({ name: 'A', isCa: true, issuer: b, keys: a.keys })
    const device = await make({ name: 'Device', issuer: looped })
    expect(check([device, looped, b], [root])).toMatchObject({ isTrusted: false, code: 'unknown_ca' })
  })

  it('of equal names, cross-signed, under a hundred anchors of that name, ends', async () => {
    const first = await make({ name: 'Same', isCa: true })
    const keys = [first, ...(await Promise.all(Array.from({ length: 6 }, () => make({ name: 'Same', isCa: true }))))]
    const mesh: Issued[] = []
    for (const [i, authority] of keys.entries()) {
      mesh.push(
        await make({ name: 'Same', isCa: true, keys: authority.keys, issuer: keys[(i + 1) % keys.length] ?? first }),
      )
    }
    const device = await make({ name: 'Device', issuer: mesh[0] ?? first })
    const anchors = await Promise.all(Array.from({ length: 100 }, () => make({ name: 'Same', isCa: true })))
    expect(check([device, ...mesh], anchors)).toMatchObject({ isTrusted: false, code: 'unknown_ca', index: 0 })
  })

  it('without a valid signature, under hundreds of anchors of one name, is given up', async () => {
    const missing = await make({ name: 'Missing', isCa: true })
    const below = await make({ name: 'Below', isCa: true, issuer: missing, issuerName: 'Same' })
    const device = await make({ name: 'Device', issuer: below })
    const keys = Array.from({ length: 300 }, () => make({ name: 'Same', isCa: true, keys: root.keys, issuer: missing }))
    expect(check([device, below], await Promise.all(keys))).toMatchObject({
      isTrusted: false,
      code: 'unknown_ca',
      index: 0,
    })
  })

  it('does not hide an existing path', async () => {
    const authority = await make({ name: 'Same', isCa: true })
    const mesh = await Promise.all(
      Array.from({ length: 6 }, () => make({ name: 'Same', isCa: true, keys: authority.keys, issuer: authority })),
    )
    const anchor = await make({ name: 'Anchor', isCa: true })
    const bridge = await make({ name: 'Same', isCa: true, keys: authority.keys, issuer: anchor })
    const device = await make({ name: 'Device', issuer: authority })
    expect(check([device, ...mesh, bridge], [anchor])).toMatchObject({ isTrusted: true })
  })

  it('does not hide a long path', async () => {
    const authority = await make({ name: 'Same', isCa: true })
    const mesh = await Promise.all(
      Array.from({ length: 4 }, () => make({ name: 'Same', isCa: true, keys: authority.keys, issuer: authority })),
    )
    const upper = await make({ name: 'Upper', isCa: true, issuer: root })
    const bridge = await make({ name: 'Same', isCa: true, keys: authority.keys, issuer: upper })
    const device = await make({ name: 'Device', issuer: authority })
    expect(check([device, ...mesh, bridge, upper], [root])).toMatchObject({ isTrusted: true })
  })
})

function check(chain: Issued[], anchors: Issued[], at = AT): ChainVerdict {
  return checkChain({
    chain: chain.map(({ certificate }) => certificate),
    anchors: anchors.map(({ certificate }) => certificate),
    at,
  })
}
