// Makes rsa-seeds.json anew: certificates whose keys cost their verifier too much. Stored, so that a case stays the
// same. `node hostile/make-rsa-seeds.ts` writes a new one.

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { make, makeDer, makeSlowRsa, rsa, rsaPublicKey } from '../test/platform/crypto/pki.ts'

const until = { from: '2026-01-01T00:00:00Z', until: '2045-01-01T00:00:00Z' }
const root = await make({ name: 'Root', isCa: true, ...until })
const CHAIN_LENGTH = 4

const chain: Buffer[] = []
for (let level = 0; level < CHAIN_LENGTH; level += 1) {
  const keys = await makeSlowRsa()
  const issuer = { name: `Slow ${level}`, keys, algorithm: rsa(3072) }
  // Each signed by a key of its own, so that no signature is the same.
  chain.push(
    (await makeDer({ name: `Slow ${level - 1}`, isCa: level > 0, keys, algorithm: rsa(3072), issuer, ...until })).der,
  )
}
const wide: Buffer[] = []
for (const [modulusBytes, exponentBytes] of [
  [256, 256],
  [1_024, 8],
  [1_025, 3],
  [2_048, 3],
] as const) {
  const exponent = randomBytes(exponentBytes)
  exponent[0] = (exponent[0] ?? 0) & 0x7f
  exponent[exponentBytes - 1] = (exponent[exponentBytes - 1] ?? 0) | 1
  const modulus = Buffer.alloc(modulusBytes, 0xa5)
  const publicKey = await rsaPublicKey(modulus, exponent)
  wide.push(
    (await makeDer({ name: 'Wide', isCa: true, keys: { ...root.keys, publicKey }, issuer: root, ...until })).der,
  )
}
const base64 = (der: Buffer) => der.toString('base64')
const seeds = { chain: chain.map(base64), wide: wide.map(base64) }
writeFileSync(new URL('rsa-seeds.json', import.meta.url), `${JSON.stringify(seeds, undefined, 2)}\n`)
