import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAuthority, openAuthority } from '../../capture-kit/authority.ts'

const NOW = new Date('2026-11-20T15:11:00.000Z')
const now = () => NOW
const DAY_MS = 86_400_000

const request = () => ({
  publicKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
  subject: 'Phone 01',
  notBefore: new Date(NOW.getTime() - DAY_MS),
  notAfter: new Date(NOW.getTime() + DAY_MS),
})

test('the authority issues a chain that ends in its root, each certificate signed by the next', async () => {
  const authority = await createAuthority({ name: 'Test Phones', now })
  const asked = request()
  const [leaf, intermediate] = (await authority.issue(asked)).map((der) => new X509Certificate(der))
  const root = new X509Certificate(authority.rootDer)

  expect(leaf?.verify(intermediate?.publicKey ?? asked.publicKey)).toBe(true)
  expect(intermediate?.verify(root.publicKey)).toBe(true)
  expect(root.verify(root.publicKey)).toBe(true)
  expect(intermediate?.checkIssued(root)).toBe(true)
  expect([leaf?.ca, intermediate?.ca, root.ca]).toEqual([false, true, true])
  expect(leaf?.publicKey.equals(asked.publicKey)).toBe(true)
  expect(leaf?.subject).toBe('CN=Phone 01')
  expect(leaf?.validFromDate.getTime()).toBe(asked.notBefore.getTime())
  expect(leaf?.validToDate.getTime()).toBe(asked.notAfter.getTime())
  expect(new X509Certificate(authority.rootPem).raw.equals(authority.rootDer)).toBe(true)
})

test('the authority issues under the same root after export and import', async () => {
  const authority = await createAuthority({ name: 'Test Phones', now })
  const again = openAuthority(JSON.parse(JSON.stringify(authority.export())))
  const [leaf, intermediate] = (await again.issue(request())).map((der) => new X509Certificate(der))

  expect(again.rootDer.equals(authority.rootDer)).toBe(true)
  expect(leaf?.verify(intermediate?.publicKey ?? request().publicKey)).toBe(true)
  expect(intermediate?.verify(new X509Certificate(authority.rootDer).publicKey)).toBe(true)
})

test('the authority takes serial numbers from the given source, and makes them positive', async () => {
  const authority = await createAuthority({ name: 'Test Phones', now, random: (bytes) => Buffer.alloc(bytes, 0xff) })
  const [leaf] = await authority.issue(request())
  expect(new X509Certificate(leaf ?? '').serialNumber).toBe(`7F${'FF'.repeat(15)}`)
})

test('the authority refuses a name that would be parsed as more than a name', async () => {
  const authority = await createAuthority({ name: 'Test Phones', now })
  for (const subject of ['', 'A, O=Bank', 'A + B', '"quoted"', '#0401', 'x'.repeat(65), 'a\0b']) {
    await expect(authority.issue({ ...request(), subject })).rejects.toThrow(TypeError)
  }
})
