// Android Key Attestation proves that a key was made in hardware, for one of our apps, on a phone with its vendor's
// system.

import { isEqualBytes, sha256 } from '#src/platform/crypto/digest.ts'
import { quote } from '#src/platform/sanitize.ts'
import { type AndroidChain, checkAndroidChain } from './android-chain.ts'
import { type Authorizations, type KeyDescription, parseKeyDescription } from './key-description.ts'
import { isEvidenceCounted, lookUpRevocation, type RevocationSnapshot } from './revocations.ts'
import {
  type AndroidFacts,
  type EvidenceVerdict,
  isProven,
  type Reason,
  reason,
  type UserGate,
  unproven,
} from './verdict.ts'

export interface AndroidApp {
  packageName: string
  /** SHA-256 of the certificate that signs the app, lower-case hex. */
  signingDigest: string
}

export interface AndroidInput {
  /** DER, leaf first, the root last: as the phone's key store returns it. */
  chain: readonly Uint8Array[]
  /** SHA-256 of the vendor roots' SubjectPublicKeyInfo, lower-case hex. */
  rootDigests: ReadonlySet<string>
  /** The key to enroll (DER SubjectPublicKeyInfo). */
  spki: Uint8Array
  challenge: Uint8Array
  apps: readonly AndroidApp[]
  revocations: RevocationSnapshot
  at: Date
}

export function verifyKeyAttestation(input: AndroidInput): EvidenceVerdict {
  const { rootDigests, at, revocations } = input
  const path = checkAndroidChain({ ders: input.chain, rootDigests, at })
  if (!path.ok) return unproven('android-key', path.reason)
  const { chain } = path
  const description = readDescription(chain.description)
  if (description === undefined) {
    return unproven('android-key', reason('extension_malformed', 'the description of the key can’t be read'))
  }

  const reasons = [...bindingReasons(chain, description, input), ...hardwareReasons(chain, description, input)]
  if (!isProven(reasons)) return unproven('android-key', ...reasons)
  const serials = chain.certificates.map(({ serialNumberHex }) => serialNumberHex)
  const revocation = lookUpRevocation(serials, revocations, at)
  const provenTier = tierOf(description, reasons)
  if (!isEvidenceCounted(revocation)) {
    reasons.push(
      revocation.state === 'revoked'
        ? reason('revoked', `certificate ${revocation.serial} is ${revocation.status} by its vendor`)
        : reason('revocation_unknown', 'the vendor’s list of revoked keys was never fetched'),
    )
  }
  return {
    format: 'android-key',
    tier: isEvidenceCounted(revocation) ? provenTier : 'none',
    provenTier,
    reasons,
    facts: factsOf(chain, description, at),
    serials,
    revocation,
    attestKey: null,
  }
}

function readDescription(extension: Buffer): KeyDescription | undefined {
  try {
    return parseKeyDescription(extension)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Whether the evidence is about this key and answers our challenge. */
function bindingReasons({ leaf }: AndroidChain, { challenge }: KeyDescription, input: AndroidInput): Reason[] {
  const reasons: Reason[] = []
  if (!isEqualBytes(leaf.spkiDigest, sha256(input.spki))) {
    reasons.push(reason('key_mismatch', 'is about another key than the key of the certificate'))
  }
  if (!isEqualBytes(challenge, input.challenge)) {
    reasons.push(reason('challenge_mismatch', 'answers another challenge'))
  }
  return reasons
}

function hardwareReasons(chain: AndroidChain, description: KeyDescription, { apps }: AndroidInput): Reason[] {
  const { attestationSecurityLevel: level, keyMintSecurityLevel, hardwareEnforced, softwareEnforced } = description
  const reasons: Reason[] = []
  if (level !== keyMintSecurityLevel) {
    reasons.push(reason('levels_differ', `attested in ${level}, the key is in ${keyMintSecurityLevel}`))
  } else if (level === 'software') {
    reasons.push(reason('software_only', 'the key is in software'))
  }
  const named = levelOfName(chain.attester.subject)
  if (level === 'strongbox' ? named !== 'strongbox' : named === 'strongbox') {
    reasons.push(reason('issuer_level_differs', `${level} is attested by a key of ${named ?? 'no named hardware'}`))
  }
  // Software can claim this too; it counts only in the hardware-enforced list.
  if (hardwareEnforced.origin !== 0) {
    reasons.push(reason('key_not_generated', 'the key was not made in the hardware that holds it'))
  }
  const { rootOfTrust } = hardwareEnforced
  if (rootOfTrust === undefined) {
    reasons.push(reason('root_of_trust_missing', 'says nothing about the system that was started'))
  } else {
    if (!rootOfTrust.isDeviceLocked) reasons.push(reason('device_unlocked', 'the bootloader is unlocked'))
    if (rootOfTrust.bootState !== 'verified') {
      reasons.push(reason('boot_not_verified', `the system that was started is ${rootOfTrust.bootState}`))
    }
  }
  if (!isOurApp(softwareEnforced, apps)) reasons.push(reason('app_unknown', 'was made by none of the expected apps'))
  return reasons
}

// A remotely provisioned certificate names TEE or StrongBox as its organisation, a factory one as its title; the oldest
// name neither.
function levelOfName(subject: string): 'tee' | 'strongbox' | undefined {
  if (/(?:^|, )(?:O|title)=StrongBox(?:,|$)/.test(subject)) return 'strongbox'
  return /(?:^|, )(?:O|title)=TEE(?:,|$)/.test(subject) ? 'tee' : undefined
}

// Apps that share a user id are listed together; all of them have one signer.
function isOurApp({ application }: Authorizations, apps: readonly AndroidApp[]): boolean {
  const signers = new Set(application?.signatures.map((digest) => digest.toString('hex')))
  return apps.some(
    ({ packageName, signingDigest }) =>
      signers.size === 1 &&
      signers.has(signingDigest) &&
      application?.packages.some(({ name }) => name === packageName) === true,
  )
}

function tierOf(
  { attestationSecurityLevel: level }: KeyDescription,
  reasons: readonly Reason[],
): EvidenceVerdict['tier'] {
  if (reasons.length === 0) return level
  return reasons.every(({ code }) => code === 'software_only') ? 'software' : 'none'
}

// The facts to keep. Not the identifiers (serial number, IMEI) that a phone may attest: nothing here needs them.
function factsOf(chain: AndroidChain, description: KeyDescription, at: Date): AndroidFacts {
  const { hardwareEnforced: hardware, softwareEnforced: software } = description
  const osPatchLevel = patchLevel(hardware.osPatchLevel)
  return {
    format: 'android-key',
    securityLevel: description.attestationSecurityLevel,
    attestationVersion: description.attestationVersion,
    keyMintVersion: description.keyMintVersion,
    provisioning: chain.provisioning,
    bootState: hardware.rootOfTrust?.bootState ?? null,
    isDeviceLocked: hardware.rootOfTrust?.isDeviceLocked ?? null,
    osVersion: hardware.osVersion ?? null,
    osPatchLevel,
    vendorPatchLevel: patchLevel(hardware.vendorPatchLevel),
    bootPatchLevel: patchLevel(hardware.bootPatchLevel),
    osPatchAgeDays: osPatchLevel === null ? null : ageDays(osPatchLevel, at),
    userGate: gateOf(hardware),
    authTimeoutSeconds: hardware.authTimeoutSeconds ?? null,
    packages: (software.application?.packages ?? [])
      .slice(0, MAX_NAMES)
      .map(({ name, version }) => ({ name: quote(name), version })),
    signingDigests: (software.application?.signatures ?? [])
      .slice(0, MAX_NAMES)
      .map((digest) => digest.subarray(0, 32).toString('hex')),
    brand: quote(hardware.brand ?? ''),
    model: quote(hardware.model ?? ''),
  }
}

// Apps that share a user id; more names would add no information.
const MAX_NAMES = 8
const PASSWORD = 1
const BIOMETRIC = 2
// A key that stays unlocked for longer was not unlocked for this capture. Zero, or no time-out: each use is gated.
const MAX_GATE_SECONDS = 300

function gateOf({ noAuthRequired, userAuthType = 0, authTimeoutSeconds = 0 }: Authorizations): UserGate {
  if (noAuthRequired || authTimeoutSeconds > MAX_GATE_SECONDS) return 'none'
  const hasBiometric = Math.floor(userAuthType / BIOMETRIC) % 2 === 1
  const hasPassword = userAuthType % 2 === PASSWORD
  if (hasBiometric) return hasPassword ? 'either' : 'biometric'
  return hasPassword ? 'credential' : 'none'
}

function patchLevel(level: number | undefined): string | null {
  const [, year, month, day] = /^(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?$/.exec(String(level ?? '')) ?? []
  if (year === undefined) return null
  return day === undefined ? `${year}-${month}` : `${year}-${month}-${day}`
}

function ageDays(level: string, at: Date): number {
  const since = Date.parse(level.length === 7 ? `${level}-01` : level)
  return Math.max(0, Math.floor((at.getTime() - since) / 86_400_000))
}
