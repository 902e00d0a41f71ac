// Makes seeds.json: certificates and one signed bundle, kept so that a case is the same in every run (keys and signatures are
// random). Only public parts are in it. `node hostile/make-seeds.ts` writes a new one.

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import 'reflect-metadata'
import { Extension } from '@peculiar/x509'
import { createAuthority } from '../capture-kit/authority.ts'
import { signedBytes } from '../capture-kit/device.ts'
import { ED25519, makeDer, P384, rsa } from '../test/platform/crypto/pki.ts'

const from = new Date('2026-01-01T00:00:00Z')
const authority = await createAuthority({ name: 'Hostile', now: () => from, notBefore: from })
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const chain = await authority.issue({
  publicKey,
  subject: 'Phone 1',
  notBefore: from,
  notAfter: new Date('2045-01-01T00:00:00Z'),
})
const bundle = {
  version: 1 as const,
  captured_at: '2026-06-01T10:00:00.000Z',
  sensor_hash: createHash('sha256').update('a photo').digest('hex'),
  gps: { lat: 52.5163, lng: 13.3777, accuracy_m: 5, mock: false },
  biometric: { gated: true, method: 'face' as const },
}
const signature = sign('sha256', signedBytes(bundle), { key: privateKey, dsaEncoding: 'ieee-p1363' })
const until = { from: '2026-01-01T00:00:00Z', until: '2045-01-01T00:00:00Z' }
const others = [
  await makeDer({ name: 'RSA', algorithm: rsa(2048), isCa: true, ...until }),
  await makeDer({ name: 'P-384', algorithm: P384, isCa: true, pathLength: 3, ...until }),
  await makeDer({ name: 'Ed25519', algorithm: ED25519, ...until }),
  await makeDer({ name: 'Bare', isBare: true, usages: null, ...until }),
  await makeDer({
    name: 'Critical',
    extensions: [new Extension('1.2.3.4.5', true, Buffer.from('0500', 'hex'))],
    ...until,
  }),
]
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const seeds = {
  root: base64(authority.rootDer),
  chain: chain.map(base64),
  others: others.map(({ der }) => base64(der)),
  bundle,
  signature: signature.toString('base64url'),
}
writeFileSync(new URL('seeds.json', import.meta.url), `${JSON.stringify(seeds, undefined, 2)}\n`)
