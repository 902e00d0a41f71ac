// Checks an evidence packet part by part and without the service: the file, its signature, and each attestation from
// the packet's own data. The file is untrusted: nothing in it is used before it is checked.

import { digestOf, jsonOf, PACKET_TYP, PDF_TYP, partDigests } from '#src/attest/evidence/digests.ts'
import { isPdf, readAttachment, splitSeal } from '#src/attest/evidence/pdf-file.ts'
import { type EvidencePacket, type SignedPacket, signedPacketView } from '#src/attest/evidence/views.ts'
import { canonicalize, parseJson } from '#src/platform/crypto/canonical.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import type { KeySet, PublishedKey, RecordVerdict } from '#src/platform/crypto/signing-keys.ts'
import { checkAttestation } from './check-attestation.ts'
import type { OpenMedia } from './check-video.ts'
import { type CheckFinding, doubtsOf, finding, isRecord, skipped, verifyStrictly, wordsOf } from './findings.ts'

export interface CheckOptions {
  /** Keys known to be the service's. Without them the packet's own keys are used, and their origin is unproven. */
  keys?: KeySet | undefined
  /** Whether the given originals include this one; undefined when none were given. */
  findMedia?:
    | ((media: { sha256: string; size: number; mediaId: string }) => 'found' | 'differs' | 'missing')
    | undefined
  /** Opens one of the given originals; returns undefined when it is missing. */
  openMedia?: OpenMedia | undefined
}

export interface CheckReport {
  findings: CheckFinding[]
  /** Undefined when it can't be read. */
  packet: EvidencePacket | undefined
}

const LIMITS = { maxBytes: 64 * 1024 * 1024, maxDepth: 64 }

/** Never throws, whatever the file contains. */
export async function checkFile(file: Buffer, options: CheckOptions = {}): Promise<CheckReport> {
  const findings: CheckFinding[] = []
  const isDocument = isPdf(file)
  const bytes = isDocument ? readAttachment(file) : file
  if (bytes === undefined) {
    const detail = 'the packet that is attached can not be read'
    return { findings: [finding('file', 'attachment', false, detail), ...pagesUnchecked()], packet: undefined }
  }
  const read = readSigned(bytes)
  findings.push(...read.findings)
  const { raw } = read
  if (raw === undefined) {
    return { findings: [...findings, ...(isDocument ? pagesUnchecked() : [])], packet: undefined }
  }
  const own = ownKeys(raw.packet)
  const keys = withDoubtsOf(own, options.keys ?? { keys: own })
  const verdict = await verifyStrictly(raw.signature, keys)
  findings.push(keysFinding(own, options.keys))
  if (isDocument) findings.push(...(await checkSeal(file, raw, keys)))
  findings.push(...checkSignature(raw, verdict))
  const isVouched = verdict.isValid && verdict.revoked === undefined
  const { signed } = read
  if (signed === undefined) return { findings, packet: undefined }
  for (const attestation of signed.packet.attestations) {
    const { findMedia, openMedia } = options
    findings.push(...(await checkAttestation(attestation, signed.packet, { keys, isVouched, findMedia, openMedia })))
  }
  findings.push(...checkClaim(signed.packet))
  return { findings, packet: signed.packet }
}

interface Raw {
  packet: Record<string, unknown>
  packet_sha256: string
  signature: string
}

function readSigned(bytes: Buffer): { findings: CheckFinding[]; raw?: Raw; signed?: SignedPacket } {
  let value: unknown
  try {
    value = parseJson(bytes, LIMITS)
  } catch (error) {
    return { findings: [finding('file', 'JSON', false, error instanceof Error ? error.message : 'is no JSON')] }
  }
  const raw = rawOf(value)
  if (raw === undefined) {
    return { findings: [finding('file', 'shape', false, 'is not an evidence packet')] }
  }
  const parsed = signedPacketView.safeParse(value)
  // Members that the view drops are not checked below, so they must not pass for a part of the packet.
  const isWhole = parsed.success && canonicalize(jsonOf(parsed.data)) === canonicalize(jsonOf(value))
  if (parsed.success && isWhole) return { findings: [finding('file', 'shape', true)], raw, signed: parsed.data }
  const issue = parsed.error?.issues[0]
  const place =
    issue === undefined ? 'it has members that a packet has not' : `/${issue.path.join('/')}: ${issue.message}`
  return { findings: [finding('file', 'shape', false, place)], raw }
}

function rawOf(value: unknown): Raw | undefined {
  if (!isRecord(value) || !isRecord(value.packet)) return undefined
  const { packet, packet_sha256, signature } = value
  if (typeof packet_sha256 !== 'string' || typeof signature !== 'string') return undefined
  return { packet, packet_sha256, signature }
}

// A packet's own keys prove nothing: a forger of a packet would include forged keys.
function keysFinding(own: readonly PublishedKey[], given: KeySet | undefined): CheckFinding {
  if (given === undefined) {
    return {
      part: 'keys',
      check: 'whose they are',
      outcome: 'unproven',
      detail: 'the keys are the packet’s own word: give the service’s (--keys or --url)',
    }
  }
  const forged = own.find((key) => given.keys.some((known) => known.kid === key.kid && !isSameKey(known, key)))
  if (forged !== undefined)
    return finding('keys', 'whose they are', false, `${forged.kid} is another key than the one given`)
  // A key published after the given keys were saved. What it signed can't be verified.
  const later = own.find((key) => !given.keys.some((known) => known.kid === key.kid))
  if (later !== undefined) return skipped('keys', 'whose they are', `${later.kid} is not among the keys given`)
  return finding('keys', 'whose they are', true)
}

function isSameKey(a: PublishedKey, b: PublishedKey): boolean {
  return a.kid === b.kid && a.x === b.x && a.y === b.y && a.env === b.env && a.family === b.family
}

function checkSignature(raw: Raw, verdict: RecordVerdict): CheckFinding[] {
  if (!verdict.isValid) return [finding('packet', 'signature', false, wordsOf(verdict.reason))]
  const { payload, typ, environment } = verdict
  const about = isRecord(raw.packet.about) ? raw.packet.about : {}
  const signed = isRecord(payload) ? payload : {}
  const sha256 = digestOf(raw.packet)
  const findings = [
    finding('packet', 'signature', typ === PACKET_TYP, `it signs a ${typ}, not a packet`),
    finding('packet', 'digest', sha256 === signed.packet_sha256, 'the packet is not the one that was signed'),
    finding('packet', 'stated digest', sha256 === raw.packet_sha256, 'packet_sha256 is not that of the packet'),
    finding(
      'about',
      'names',
      environment === about.environment &&
        ['packet_id', 'claim_id', 'account_id', 'environment', 'issued_at'].every(
          (name) => signed[name] === about[name],
        ),
      'the signature names another packet',
    ),
    ...doubtsOf({ part: 'packet', what: 'packet', verdict, statedAt: signed.issued_at }),
  ]
  return [...findings, ...checkParts(raw.packet, isRecord(signed.parts) ? signed.parts : {})]
}

function checkParts(packet: Record<string, unknown>, signed: Record<string, unknown>): CheckFinding[] {
  const found = partDigests(packet)
  const names = new Set([...Object.keys(signed), ...Object.keys(found)])
  return [...names].map((name) => {
    const detail = !Object.hasOwn(found, name)
      ? 'was taken out'
      : Object.hasOwn(signed, name)
        ? 'was changed'
        : 'was added'
    return finding(
      name,
      'digest',
      Object.hasOwn(found, name) && found[name] === signed[name],
      `it ${detail} after it was signed`,
    )
  })
}

async function checkSeal(file: Buffer, { packet, packet_sha256 }: Raw, keys: KeySet): Promise<CheckFinding[]> {
  const split = splitSeal(file)
  if (split === undefined) {
    return [finding('pages', 'seal', false, 'the last line of the file is no seal: it was saved again, or changed')]
  }
  const verdict = await verifyStrictly(split.jws, keys)
  if (!verdict.isValid) return [finding('pages', 'seal', false, wordsOf(verdict.reason))]
  const payload = isRecord(verdict.payload) ? verdict.payload : {}
  const isSame =
    verdict.typ === PDF_TYP && payload.pdf_sha256 === sha256Hex(split.sealed) && payload.packet_sha256 === packet_sha256
  const about = isRecord(packet.about) ? packet.about : {}
  return [
    finding('pages', 'seal', isSame, 'the pages are not the ones that were sealed'),
    ...doubtsOf({ part: 'pages', what: 'seal', verdict, statedAt: about.issued_at }),
  ]
}

function pagesUnchecked(): CheckFinding[] {
  return [skipped('pages', 'seal', 'without its packet a document can not be checked')]
}

function ownKeys({ keys }: Record<string, unknown>): PublishedKey[] {
  const parsed = signedPacketView.shape.packet.shape.keys.safeParse(keys)
  return parsed.success ? parsed.data : []
}

// A packet may be newer than the keys that were saved. What it says against a key can only raise doubts.
function withDoubtsOf(own: readonly PublishedKey[], { keys }: KeySet): KeySet {
  return {
    keys: keys.map((key) => {
      const doubts = [key, ...own.filter((one) => isSameKey(one, key))].flatMap(({ revoked }) => revoked ?? [])
      const earliest = doubts.toSorted((a, b) => Date.parse(a.doubted_since) - Date.parse(b.doubted_since))[0]
      return earliest === undefined ? key : { ...key, revoked: earliest }
    }),
  }
}

// Best first.
const PROVENANCE = ['verified', 'attested_unverified', 'unattested', 'broken']

// A claim's standing against its attestations. Only a packet that holds all of them allows the check.
function checkClaim({ about, claim, attestations }: EvidencePacket): CheckFinding[] {
  const part = 'claim'
  if (!about.attestations.is_complete) {
    return [skipped(part, 'standing', 'the packet does not hold all attestations')]
  }
  const results = attestations.flatMap(({ result }) => (result === null ? [] : [result]))
  if (results.length === 0) {
    return [finding(part, 'standing', claim.risk_score === null, 'it has a score, and no attestation has a result')]
  }
  const highest = results.reduce((most, { risk_score }) => Math.max(most, risk_score), 0)
  const worst = results.reduce(
    (most, { provenance_status }) => Math.max(most, PROVENANCE.indexOf(provenance_status)),
    0,
  )
  const isScore = claim.risk_score === highest
  const isProvenance = claim.provenance_status === PROVENANCE[worst]
  const codes = new Set(results.flatMap(({ factors }) => factors.map(({ code }) => code)))
  const isCodes = codes.size === claim.factor_codes.length && claim.factor_codes.every((code) => codes.has(code))
  return [
    finding(part, 'score', isScore, `it says ${claim.risk_score}, its attestations say ${highest}`),
    finding(
      part,
      'provenance',
      isProvenance,
      `it says ${claim.provenance_status}, its attestations say ${PROVENANCE[worst]}`,
    ),
    finding(part, 'findings', isCodes, 'its findings are not those of its attestations'),
  ]
}
