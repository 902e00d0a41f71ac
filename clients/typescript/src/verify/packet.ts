// Checks an evidence packet part by part and without the service: the file, its signature, and each attestation from the packet's own
// data. The file is untrusted: nothing in it is used before it is checked.

import { encodeHex, utf8 } from './bytes.ts'
import { canonicalize } from './canonicalize.ts'
import { checkAttestation } from './packet-attestation.ts'
import { isPdf, readAttachment, splitSeal } from './packet-file.ts'
import { type CheckFinding, doubtsOf, finding, skipped, wordsOf } from './packet-findings.ts'
import { isPacket, type Packet, type PacketAttestation } from './packet-shape.ts'
import { isObject, type RecordKey, type RecordKeys, type RecordVerdict, verifyRecord } from './records.ts'
import { sha256 } from './sha256.ts'
import { type Json, parseJson } from './strict-json.ts'

export const PACKET_TYP = 'evidence-packet+jwt'
export const PDF_TYP = 'evidence-pdf+jwt'

export interface PacketOptions {
  /** Keys known to be the service's. Without them the packet's own keys are used, and their origin is unproven. */
  keys?: RecordKeys | undefined
  /** A stricter check of the form of the whole file: what is wrong with it. */
  findWrong?: ((file: Json) => string | undefined) | undefined
  /** Further checks of an attestation, with what this library leaves out: certificates, originals, chains of videos. */
  checkMore?: ((attestation: PacketAttestation, packet: Packet) => Promise<CheckFinding[]> | CheckFinding[]) | undefined
}

export interface PacketReport {
  findings: CheckFinding[]
  /** Undefined when it can't be read. */
  packet: Packet | undefined
  /** Nothing failed and nothing is unproven. */
  holds: boolean
}

const MAX_BYTES = 64 * 1024 * 1024

/** Never throws, whatever the file contains. */
export async function verifyEvidencePacket(
  file: Uint8Array | string,
  options: PacketOptions = {},
): Promise<PacketReport> {
  const report = await check(typeof file === 'string' ? utf8(file) : file, options)
  const holds = report.findings.every(({ outcome }) => outcome === 'ok' || outcome === 'skipped')
  return { ...report, holds }
}

async function check(file: Uint8Array, options: PacketOptions): Promise<Omit<PacketReport, 'holds'>> {
  const findings: CheckFinding[] = []
  const isDocument = isPdf(file)
  const bytes = isDocument ? await readAttachment(file) : file
  if (bytes === undefined) {
    const detail = 'the packet that is attached can not be read'
    return { findings: [finding('file', 'attachment', false, detail), ...pagesUnchecked()], packet: undefined }
  }
  const read = readSigned(bytes, options.findWrong)
  findings.push(...read.findings)
  const { raw, packet } = read
  if (raw === undefined) {
    return { findings: [...findings, ...(isDocument ? pagesUnchecked() : [])], packet: undefined }
  }
  const own = ownKeys(raw.packet)
  const keys = withDoubtsOf(own, options.keys ?? { keys: own })
  const verdict = await verifyRecord(raw.signature, keys)
  findings.push(keysFinding(own, options.keys))
  if (isDocument) findings.push(...(await checkSeal(file, raw, keys)))
  findings.push(...checkSignature(raw, verdict))
  if (packet === undefined) return { findings, packet: undefined }
  const isVouched = verdict.isValid && verdict.revoked === undefined
  for (const attestation of packet.attestations) {
    findings.push(...(await checkAttestation(attestation, packet, { keys, isVouched })))
    findings.push(...((await options.checkMore?.(attestation, packet)) ?? leftOut(attestation)))
  }
  findings.push(...checkClaim(packet))
  return { findings, packet }
}

function leftOut({ attestation_id }: PacketAttestation): CheckFinding[] {
  return [
    skipped(`attestations/${attestation_id}`, 'certificates', 'npm run evidence compares them, originals and videos'),
  ]
}

interface Raw {
  packet: { [name: string]: Json }
  packet_sha256: string
  signature: string
}

function readSigned(
  bytes: Uint8Array,
  findWrong: PacketOptions['findWrong'],
): { findings: CheckFinding[]; raw?: Raw; packet?: Packet } {
  let value: Json
  try {
    if (bytes.length > MAX_BYTES) throw new Error(`it has ${bytes.length} bytes; at most ${MAX_BYTES} are read`)
    value = parseJson(bytes, { maxDepth: 64 })
  } catch (error) {
    return { findings: [finding('file', 'JSON', false, error instanceof Error ? error.message : 'is no JSON')] }
  }
  const raw = rawOf(value)
  if (raw === undefined) return { findings: [finding('file', 'shape', false, 'is not an evidence packet')] }
  const { packet } = raw
  if (!isPacket(packet)) {
    return { findings: [finding('file', 'shape', false, 'it has not the members of a packet')], raw }
  }
  const wrong = findWrong?.(value)
  if (wrong !== undefined) return { findings: [finding('file', 'shape', false, wrong)], raw }
  return { findings: [finding('file', 'shape', true)], raw, packet }
}

function rawOf(value: Json): Raw | undefined {
  if (!isObject(value) || !isObject(value.packet)) return undefined
  const { packet, packet_sha256, signature } = value
  if (typeof packet_sha256 !== 'string' || typeof signature !== 'string') return undefined
  return { packet: packet as Raw['packet'], packet_sha256, signature }
}

// A packet's own keys prove nothing: a forger of a packet would include forged keys.
function keysFinding(own: readonly RecordKey[], given: RecordKeys | undefined): CheckFinding {
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

function isSameKey(a: RecordKey, b: RecordKey): boolean {
  return a.kid === b.kid && a.x === b.x && a.y === b.y && a.env === b.env && a.family === b.family
}

function checkSignature(raw: Raw, verdict: RecordVerdict): CheckFinding[] {
  if (!verdict.isValid) return [finding('packet', 'signature', false, wordsOf(verdict.reason))]
  const { payload, typ, environment } = verdict
  const about = isObject(raw.packet.about) ? raw.packet.about : {}
  const signed = isObject(payload) ? payload : {}
  const digest = digestOf(raw.packet)
  const findings = [
    finding('packet', 'signature', typ === PACKET_TYP, `it signs a ${typ}, not a packet`),
    finding('packet', 'digest', digest === signed.packet_sha256, 'the packet is not the one that was signed'),
    finding('packet', 'stated digest', digest === raw.packet_sha256, 'packet_sha256 is not that of the packet'),
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
  return [...findings, ...checkParts(raw.packet, isObject(signed.parts) ? signed.parts : {})]
}

function checkParts(packet: Raw['packet'], signed: Record<string, unknown>): CheckFinding[] {
  const found = partDigests(packet)
  const names = new Set([...Object.keys(signed), ...Object.keys(found)])
  return [...names].map((name) => {
    const since = Object.hasOwn(signed, name) ? 'it was changed' : 'it was added'
    const detail = Object.hasOwn(found, name) ? since : 'it was taken out'
    return finding(name, 'digest', found[name] === signed[name], `${detail} after it was signed`)
  })
}

async function checkSeal(file: Uint8Array, { packet, packet_sha256 }: Raw, keys: RecordKeys): Promise<CheckFinding[]> {
  const split = splitSeal(file)
  if (split === undefined) {
    return [finding('pages', 'seal', false, 'the last line of the file is no seal: it was saved again, or changed')]
  }
  const verdict = await verifyRecord(split.jws, keys)
  if (!verdict.isValid) return [finding('pages', 'seal', false, wordsOf(verdict.reason))]
  const payload = isObject(verdict.payload) ? verdict.payload : {}
  const isSame =
    verdict.typ === PDF_TYP &&
    payload.pdf_sha256 === encodeHex(sha256(split.sealed)) &&
    payload.packet_sha256 === packet_sha256
  const about = isObject(packet.about) ? packet.about : {}
  return [
    finding('pages', 'seal', isSame, 'the pages are not the ones that were sealed'),
    ...doubtsOf({ part: 'pages', what: 'seal', verdict, statedAt: about.issued_at }),
  ]
}

function pagesUnchecked(): CheckFinding[] {
  return [skipped('pages', 'seal', 'without its packet a document can not be checked')]
}

function ownKeys({ keys }: Raw['packet']): RecordKey[] {
  const isKey = (one: unknown): one is RecordKey =>
    isObject(one) && ['kty', 'crv', 'x', 'y', 'kid', 'env', 'family'].every((name) => typeof one[name] === 'string')
  const list: unknown[] = Array.isArray(keys) ? keys : []
  return list.every(isKey) ? list : []
}

// A packet may be newer than the keys that were saved. What it says against a key can only raise doubts.
function withDoubtsOf(own: readonly RecordKey[], { keys }: RecordKeys): RecordKeys {
  return {
    keys: keys.map((key) => {
      const doubts = [key, ...own.filter((one) => isSameKey(one, key))].flatMap(({ revoked }) => revoked ?? [])
      const [earliest] = [...doubts].sort((a, b) => Date.parse(a.doubted_since) - Date.parse(b.doubted_since))
      return earliest === undefined ? key : { ...key, revoked: earliest }
    }),
  }
}

/** SHA-256 (hex) of the canonical form (RFC 8785). */
export function digestOf(value: Json): string {
  return encodeHex(sha256(utf8(canonicalize(value))))
}

const LISTS: Record<string, string | undefined> = { attestations: 'attestation_id', devices: 'device_id' }

/** The digest of each part by its name: a member of the packet, or `attestations/<id>`, `devices/<id>`. */
export function partDigests(packet: { [name: string]: Json }): Record<string, string> {
  const digests = new Map<string, string>()
  for (const [name, part] of Object.entries(packet)) {
    const idName = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined
    if (idName === undefined || !Array.isArray(part)) digests.set(name, digestOf(part))
    else {
      for (const [index, one] of part.entries()) {
        const id = isObject(one) ? one[idName] : undefined
        const place = `${name}/${typeof id === 'string' ? id : index}`
        // A duplicate part must not hide behind the other.
        digests.set(digests.has(place) ? `${place} (again, at ${index})` : place, digestOf(one))
      }
    }
  }
  return Object.fromEntries(digests)
}

// Best first.
const PROVENANCE = ['verified', 'attested_unverified', 'unattested', 'broken']

// A claim's standing against its attestations. Only a packet that holds all of them allows the check.
function checkClaim({ about, claim, attestations }: Packet): CheckFinding[] {
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
  const isProvenance = claim.provenance_status === PROVENANCE[worst]
  const codes = new Set(results.flatMap(({ factors }) => factors.map(({ code }) => code)))
  const isCodes = codes.size === claim.factor_codes.length && claim.factor_codes.every((code) => codes.has(code))
  const said = `it says ${claim.provenance_status}, its attestations say ${PROVENANCE[worst]}`
  return [
    finding(
      part,
      'score',
      claim.risk_score === highest,
      `it says ${claim.risk_score}, its attestations say ${highest}`,
    ),
    finding(part, 'provenance', isProvenance, said),
    finding(part, 'findings', isCodes, 'its findings are not those of its attestations'),
  ]
}
