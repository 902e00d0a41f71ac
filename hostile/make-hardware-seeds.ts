// Makes hardware-seeds.json anew: evidence of simulated vendors that verifies, stored so that a case stays the same.

import { createHash, generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVendor, enrollmentHash } from '../capture-kit/vendor.ts'

const at = new Date('2026-11-20T12:00:00.000Z')
const challenge = Buffer.alloc(32, 5)
const bundleHash = createHash('sha256').update('a bundle').digest()
const vendor = await createVendor({ now: () => at })
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const forms = ['ios14', 'ios27', 'webauthn'] as const
const keys = await Promise.all(
  forms.map((form) => vendor.attestApple({ clientDataHash: enrollmentHash(publicKey, challenge), form })),
)
const chain = await vendor.attestAndroid({ publicKey, challenge, userAuthType: 3, provisioning: 'remote' })
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

const seeds = {
  at: at.toISOString(),
  roots: vendor.roots,
  apps: vendor.apps,
  challenge: base64(challenge),
  spki: base64(publicKey.export({ type: 'spki', format: 'der' })),
  chain: chain.map(base64),
  /** One of each form. */
  objects: keys.map(({ object }) => base64(object)),
  assertions: keys.map((key) => base64(key.assert(bundleHash))),
  bundleHash: base64(bundleHash),
}
writeFileSync(join(import.meta.dirname, 'hardware-seeds.json'), `${JSON.stringify(seeds, null, 2)}\n`)
