// Evidence of simulated vendors, and its verification with the defaults of the tests.

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type AndroidInput, verifyKeyAttestation } from '#src/attest/hardware/android.ts'
import { type AppleInput, enrollmentHash, verifyAppAttestation } from '#src/attest/hardware/apple.ts'
import { readExpectedApps, readVendorRoots } from '#src/attest/hardware/roots.ts'
import type { EvidenceVerdict } from '#src/attest/hardware/verdict.ts'
import { createVendor } from '../../../capture-kit/vendor.ts'

export const NOW = new Date('2026-11-20T12:00:00.000Z')
export const CHALLENGE = Buffer.alloc(32, 5)
export const vendor = await createVendor({ now: () => NOW })
export const roots = readVendorRoots(vendor.roots.split(','))
export const apps = readExpectedApps(vendor.apps.split(','))
export const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const spki = spkiOf(key.publicKey)

export function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' })
}

export function verifyAndroid(chain: readonly Uint8Array[], changes: Partial<AndroidInput> = {}): EvidenceVerdict {
  return verifyKeyAttestation({
    chain,
    rootDigests: roots.android,
    spki,
    challenge: CHALLENGE,
    apps: apps.android,
    revocations: 'off',
    at: NOW,
    ...changes,
  })
}

export function verifyApple(object: Uint8Array, changes: Partial<AppleInput> = {}): EvidenceVerdict {
  return verifyAppAttestation({
    object,
    roots: roots.apple,
    clientDataHash: enrollmentHash(spki, CHALLENGE),
    apps: apps.apple,
    isDevelopmentAllowed: false,
    at: NOW,
    ...changes,
  })
}

export function codesOf({ reasons }: Pick<EvidenceVerdict, 'reasons'>): string[] {
  return reasons.map(({ code }) => code)
}

/** The bytes with one bit flipped. */
export function flip(bytes: Uint8Array, bit: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return flipped
}
