// The first lines of a document, as a person who decides about a claim reads them: none may contradict any other line.

import { describe, expect, it } from 'vitest'
import { describePosition } from '#src/attest/evidence/document-words.ts'
import { describeMissingPicture, meaningOf } from '#src/attest/evidence/sentences.ts'
import { countOf, describeResult, summarize } from '#src/attest/evidence/summary.ts'
import type { EvidencePacket, PacketAttestation } from '#src/attest/evidence/views.ts'

type Result = NonNullable<PacketAttestation['result']>
type Codes = { provenance?: string; factors?: string[]; advisory?: string[]; observed?: string[]; later?: string[] }

const evidence = { compared: '', expected: '', found: '' }
const codesOf = (codes: string[] = []) => codes.map((code) => ({ code, points: 10, evidence }))

function photo(
  { provenance = 'verified', factors = [], advisory = [], observed = [], later = [] }: Codes = {},
  metres?: number,
) {
  return {
    result: {
      provenance_status: provenance,
      risk_status: factors.length > 0 ? 'failed' : 'passed',
      risk_score: factors.length * 10,
      hardware_tier: 'none',
      factors: codesOf(factors),
      advisory_factors: codesOf(advisory),
      observations: codesOf(observed),
    },
    found_later: codesOf(later),
    distance: metres === undefined ? null : { metres, accuracy_metres: 5, mock: false },
  } as unknown as PacketAttestation
}
const waiting = () => ({ result: null, found_later: [], distance: null }) as unknown as PacketAttestation

/** A claim with the given photos; `total` counts those that the packet leaves out. */
function packetOf(
  attestations: PacketAttestation[],
  more: Partial<EvidencePacket['claim']> = {},
  total = attestations.length,
) {
  const results = attestations.flatMap(({ result }) => (result === null ? [] : [result]))
  const rank = ['verified', 'attested_unverified', 'unattested', 'broken']
  const claim = {
    erased_at: null,
    risk_status: results.length === 0 ? 'pending' : results.some((one) => one.risk_score > 0) ? 'failed' : 'passed',
    risk_score: results.length === 0 ? null : Math.max(...results.map(({ risk_score }) => risk_score)),
    provenance_status:
      results.map((one) => one.provenance_status).sort((a, b) => rank.indexOf(b) - rank.indexOf(a))[0] ?? null,
    factor_codes: [...new Set(results.flatMap(({ factors }) => factors.map(({ code }) => code)))],
    advisory_codes: [...new Set(results.flatMap((one) => one.advisory_factors.map(({ code }) => code)))],
    ...more,
  }
  const about = { attestations: { total, included: attestations.length, is_complete: total === attestations.length } }
  return { about, claim, attestations } as unknown as EvidencePacket
}
const textOf = (packet: EvidencePacket) => summarize(packet).join('\n')

describe('the summary of a packet', () => {
  it('states for how many photos each sentence is true', () => {
    const mixed = packetOf([
      photo({ advisory: ['c2pa_present_valid'] }),
      photo({ provenance: 'unattested', factors: ['no_manifest'], advisory: ['c2pa_absent'] }),
      photo({ provenance: 'broken', factors: ['sensor_hash_mismatch', 'gps_absent'] }),
    ])
    const text = textOf(mixed)
    for (const count of ['1 photo verified', '1 photo unattested', '1 photo broken']) expect(text).toContain(count)
    for (const code of ['no_manifest', 'sensor_hash_mismatch', 'c2pa_present_valid', 'c2pa_absent']) {
      expect(text.toLowerCase()).toContain(`${meaningOf(code).title.toLowerCase()} (1 of 3)`)
    }
    expect(text).toContain('as its worst photo')
    // What is true of one of three is not stated about the claim.
    expect(text).not.toMatch(/Origin: \w+\. /)
  })

  it('speaks of the one photo of a claim without counting', () => {
    const text = textOf(packetOf([photo({ factors: ['gps_absent'] })]))
    expect(text).toMatch(/^Risk: failed, with 10 points\./)
    expect(text).toContain('Origin: verified. ')
    expect(text).not.toContain(' of 1')
  })

  it('does not call a photo with advisory factors clean, and names later comparisons', () => {
    const clean = textOf(packetOf([photo()]))
    expect(clean).toContain('No finding counts')
    expect(clean).not.toContain('remarks')
    const text = textOf(packetOf([photo({ observed: ['declared_ai_generated'], later: ['duplicate_media'] })]))
    for (const code of ['declared_ai_generated', 'duplicate_media']) {
      expect(text.toLowerCase()).toContain(meaningOf(code).title.toLowerCase())
    }
  })

  it('says which findings belong to photos that are left out', () => {
    const packet = packetOf([photo()], { factor_codes: ['gps_absent'], risk_score: 30, risk_status: 'review' }, 2)
    expect(countOf(packet, 'gps_absent')).toBe('not in this packet')
    expect(textOf(packet)).toContain('(not in this packet)')
  })

  it('says that no photo was evaluated, and that one could not be', () => {
    expect(textOf(packetOf([waiting()]))).toBe(
      'Risk: pending. Nothing has been examined yet.\nFindings that count: none yet.',
    )
    expect(textOf(packetOf([photo(), waiting()]))).toContain('1 of 2 photos here: no result yet')
    expect(textOf(packetOf([photo(), photo()]))).not.toContain('no result')
  })

  it('calls no position signed without a valid signature over it', () => {
    const forged = photo({ provenance: 'broken', factors: ['signature_invalid'] }, 5)
    expect(textOf(packetOf([forged]))).not.toContain('Signed positions')
    expect(textOf(packetOf([forged, photo({}, 120), photo({}, 120)]))).toContain('Signed positions lie 120 m from')
    expect(textOf(packetOf([photo({}, 120), photo({}, 20_000)]))).toContain('lie 120 m to 20 km from')
    // Whose signature nothing has checked.
    expect(textOf(packetOf([{ ...waiting(), distance: photo({}, 5).distance }]))).not.toContain('Signed positions')
  })

  it('says of an erased capture that its position was erased only when it had one', () => {
    const erased = { erased_at: '2026-11-20T15:11:04Z', submission: { bundle: {} } }
    const absent = (found: string | null) => [{ code: 'gps_absent', points: 30, evidence: { found } }]
    const position = (one: object, factors?: object[]) => {
      const result = factors === undefined ? null : { factors }
      return describePosition({ ...erased, ...one, result } as unknown as PacketAttestation)
    }
    expect(position({}, [])).toBe('erased')
    expect(position({}, absent('mock location'))).toBe('erased')
    expect(position({}, absent(null))).toBe('none')
    expect(position({ erased_at: null }, absent(null))).toBe('none')
    // Erased before it was examined: neither is known.
    expect(position({})).toMatch(/^erased, if/)
  })

  it('does not call a photo both verified and unreliable', () => {
    const { result } = photo({ factors: ['gps_absent', 'hardware_backing_absent'] })
    const text = describeResult(result as Result)
    expect(text).toMatch(/^Risk: failed, 20 points\. .* Origin: verified\. /)
    expect(text).not.toMatch(/can ?not be relied/)
  })

  it('says of an unverified origin only what is known', () => {
    const { result } = photo({ provenance: 'attested_unverified', factors: ['device_not_enrolled'] })
    expect(describeResult(result as Result)).toMatch(/not registered, or no authority/)
  })

  it('does not say that a file has content credentials when that is not known', () => {
    expect(meaningOf('c2pa_not_read').sentence).toMatch(/may/)
  })

  it('says why a picture is missing', () => {
    const reasons = (['unreadable', 'too_costly', 'not_tried', 'gone'] as const).map((why) =>
      describeMissingPicture(why, false),
    )
    expect(new Set(reasons).size).toBe(4)
    expect(describeMissingPicture('unreadable', true)).toContain('video')
  })
})
