// The first sentences of a document, which many people read alone. A claim's standing combines several photos, so each
// sentence states for how many photos it is true; otherwise two true sentences contradict each other ("a device signed
// it", "nothing is signed"). Pure.

import { MAX_FIX_ACCURACY_METRES } from '../factors/gps.ts'
import { dateOf, metresOf } from './document-words.ts'
import { meaningOf, PROVENANCE_MEANINGS, RISK_MEANINGS } from './sentences.ts'
import type { EvidencePacket, PacketAttestation } from './views.ts'

type Part = Pick<EvidencePacket, 'about' | 'claim' | 'attestations'>

/** A short description of a claim, a sentence or two per line. */
export function summarize(packet: Part): string[] {
  const { claim } = packet
  return [
    ...(claim.erased_at === null
      ? []
      : [`This claim was erased at ${dateOf(claim.erased_at)}: photos and positions are gone.`]),
    riskOf(packet),
    ...originOf(packet),
    ...unexaminedOf(packet),
    ...distanceOf(packet),
    findingsOf(packet),
    ...remarksOf(packet),
  ]
}

/** How many photos have a finding. A claim's findings may come from photos that this packet leaves out. */
export function countOf({ about, attestations }: Pick<EvidencePacket, 'about' | 'attestations'>, code: string): string {
  const among = attestations.filter((one) => codesOf(one).has(code)).length
  if (among === 0) return 'not in this packet'
  return `${among} of ${attestations.length}${about.attestations.is_complete ? '' : ' here'}`
}

/** Risk and origin of one photo. */
export function describeResult({
  risk_status,
  risk_score,
  provenance_status,
}: NonNullable<PacketAttestation['result']>) {
  return `Risk: ${risk_status}, ${pointsOf(risk_score)}. ${RISK_MEANINGS[risk_status] ?? ''} Origin: ${wordsOf(provenance_status)}. ${PROVENANCE_MEANINGS[provenance_status] ?? ''}`
}

function riskOf({ about, claim }: Part): string {
  const meaning = RISK_MEANINGS[claim.risk_status] ?? ''
  if (claim.risk_score === null) return `Risk: ${claim.risk_status}. ${meaning}`
  const points =
    about.attestations.total === 1
      ? `with ${pointsOf(claim.risk_score)}`
      : `as its worst photo, which has ${pointsOf(claim.risk_score)}`
  return `Risk: ${claim.risk_status}, ${points}. ${meaning}`
}

function originOf({ about, claim, attestations }: Part): string[] {
  const status = claim.provenance_status
  if (status === null) return []
  if (about.attestations.total === 1) return [`Origin: ${wordsOf(status)}. ${PROVENANCE_MEANINGS[status] ?? ''}`]
  const counted = Map.groupBy(
    attestations.flatMap(({ result }) => (result === null ? [] : [result.provenance_status])),
    (one) => one,
  )
  const each = [...counted].map(
    ([one, { length }]) => `${photos(length)} ${wordsOf(one)}: ${lowered(PROVENANCE_MEANINGS[one] ?? '')}`,
  )
  return [`Origin: ${wordsOf(status)}, as its worst photo. In this packet: ${each.join(' ')}`]
}

function unexaminedOf({ about, claim, attestations }: Part): string[] {
  const waiting = attestations.filter(({ result }) => result === null).length
  if (waiting === 0 || claim.risk_score === null) return []
  return [`${waiting} of ${photos(about.attestations.included)} here: no result yet, so the above says nothing of it.`]
}

// Excludes positions that the device calls simulated, that are too inaccurate to be a fix, or that no signature covers
// that was checked and is valid.
function distanceOf({ attestations }: Part): string[] {
  const metres = attestations.flatMap((one) =>
    one.result === null ||
    one.distance === null ||
    one.distance.mock ||
    one.distance.accuracy_metres > MAX_FIX_ACCURACY_METRES ||
    codesOf(one).has('signature_invalid')
      ? []
      : [one.distance.metres],
  )
  if (metres.length === 0) return []
  const range = [...new Set([metresOf(Math.min(...metres)), metresOf(Math.max(...metres))])].join(' to ')
  return [`Signed positions lie ${range} from the place of the loss.`]
}

function findingsOf(packet: Part): string {
  const { claim } = packet
  if (claim.risk_score === null) return 'Findings that count: none yet.'
  if (claim.factor_codes.length === 0) return 'No finding counts against the claim.'
  return `Findings that count: ${listOf(packet, claim.factor_codes)}.`
}

function remarksOf(packet: Part): string[] {
  const { claim, attestations } = packet
  const observed = attestations.flatMap(({ result, found_later }) => [...(result?.observations ?? []), ...found_later])
  const codes = new Set([...claim.advisory_codes, ...observed.map(({ code }) => code)])
  return codes.size === 0 ? [] : [`Further remarks, which do not count: ${listOf(packet, [...codes])}.`]
}

function listOf(packet: Part, codes: readonly string[]): string {
  const { total } = packet.about.attestations
  const titles = codes.map((code) => {
    const title = lowered(meaningOf(code).title)
    return total === 1 ? title : `${title} (${countOf(packet, code)})`
  })
  return titles.join('; ')
}

function codesOf({ result, found_later }: PacketAttestation): Set<string> {
  const found = [...(result?.factors ?? []), ...(result?.advisory_factors ?? []), ...(result?.observations ?? [])]
  return new Set([...found, ...found_later].map(({ code }) => code))
}

const photos = (count: number): string => (count === 1 ? '1 photo' : `${count} photos`)
const pointsOf = (points: number): string => (points === 1 ? '1 point' : `${points} points`)
const wordsOf = (status: string): string => status.replaceAll('_', ' ')
const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
