// Hardware evidence as a caller sends it at enrollment, and its verdict. The caller states the format of the evidence,
// never its quality.

import { z } from 'zod'
import type { Environment } from '#src/platform/ids.ts'
import { verifyKeyAttestation } from './android.ts'
import { enrollmentHash, MAX_OBJECT_BYTES, verifyAppAttestation } from './apple.ts'
import type { ReadRevocations } from './lists.ts'
import type { RevocationSnapshot } from './revocations.ts'
import { type ExpectedApps, readVendorRoots, type VendorRoots } from './roots.ts'
import { type EvidenceVerdict, type HardwareFacts, isProven, type Reason, reason, unproven } from './verdict.ts'

// A certificate of 16 KiB, the longest accepted; App Attest objects have the same limit.
const encoded = z.base64().max(Math.ceil(MAX_OBJECT_BYTES / 3) * 4)
const challenge = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be a challenge of POST /v1/admin/devices/challenges')
  .describe('A challenge of this service, unused and not expired.')

export const evidenceRequest = z
  .discriminatedUnion('format', [
    z
      .strictObject({
        format: z.literal('android-key'),
        challenge,
        chain: z
          .array(encoded)
          .min(1)
          .max(8)
          .describe(
            'Certificates as DER in base64: the key’s certificate first, the root last, as the key store returns ' +
              'them.',
          ),
      })
      .meta({ id: 'AndroidEvidence' }),
    z
      .strictObject({
        format: z.literal('apple-appattest'),
        challenge,
        object: encoded.describe('The attestation object, for SHA-256(SubjectPublicKeyInfo || challenge).'),
        app_attest_key_id: encoded.optional(),
      })
      .meta({ id: 'AppleEvidence' }),
  ])
  .meta({ id: 'HardwareEvidence' })

export type HardwareEvidence = z.infer<typeof evidenceRequest>

/** The vendors and apps that this deployment trusts. */
export interface Trust {
  roots: VendorRoots
  apps: ExpectedApps
  revocations: ReadRevocations
}

/** Trusts no app and knows no revocation list: no evidence verifies with it. */
export const NO_TRUST: Trust = {
  roots: readVendorRoots(),
  apps: { android: [], apple: [] },
  revocations: async () => 'never_fetched',
}

export interface EvidenceContext {
  trust: Pick<Trust, 'roots' | 'apps'>
  revocations: RevocationSnapshot
  environment: Environment
  at: Date
}

/** Whether the evidence is about this key, and what it says of the hardware. The challenge is checked elsewhere. */
export function judgeEvidence(request: HardwareEvidence, spki: Buffer, context: EvidenceContext): EvidenceVerdict {
  const { trust, revocations, environment, at } = context
  const challenge = Buffer.from(request.challenge, 'base64url')
  if (request.format === 'android-key') {
    return verifyKeyAttestation({
      chain: request.chain.map((der) => Buffer.from(der, 'base64')),
      rootDigests: trust.roots.android,
      spki,
      challenge,
      apps: trust.apps.android,
      revocations,
      at,
    })
  }
  return verifyAppAttestation({
    object: Buffer.from(request.object, 'base64'),
    roots: trust.roots.apple,
    clientDataHash: enrollmentHash(spki, challenge),
    keyId: request.app_attest_key_id === undefined ? undefined : Buffer.from(request.app_attest_key_id, 'base64'),
    apps: trust.apps.apple,
    // Apps from Xcode are development builds, and so are their captures.
    isDevelopmentAllowed: environment === 'sandbox',
    at,
  })
}

/** What a device keeps of a verdict. Revocation lists are consulted each time, so nothing of theirs is kept. */
export interface KeptEvidence {
  format: EvidenceVerdict['format']
  /** Empty: it proved the tier. */
  reasons: Reason[]
  facts: HardwareFacts | null
  /** ISO 8601. */
  verifiedAt: string
}

/** Evidence to be stored with a device. */
export interface NewEvidence {
  challenge: string
  verdict: EvidenceVerdict
}

export type ChallengeState = 'fresh' | 'unknown' | 'expired' | 'used'

/** The verdict combined with the state of its challenge. */
export function withChallenge(verdict: EvidenceVerdict, state: ChallengeState): EvidenceVerdict {
  if (state === 'fresh') return verdict
  const problem = reason(`challenge_${state}`, CHALLENGE_DETAILS[state])
  return unproven(verdict.format, problem, ...verdict.reasons.filter((one) => !isProven([one])))
}

export function keptOf({ format, reasons, facts }: EvidenceVerdict, at: Date): KeptEvidence {
  const lasting = reasons.filter(({ code }) => code !== 'revoked' && code !== 'revocation_unknown')
  return { format, reasons: lasting, facts, verifiedAt: at.toISOString() }
}

const CHALLENGE_DETAILS = {
  unknown: 'its challenge was never issued to this account',
  expired: 'its challenge has expired',
  used: 'its challenge was used before',
}
