// Findings as an attestation's observations. They are found after its result and are not part of the signed record.

import type { Observation } from '../factors/judge.ts'
import type { NotComparable } from './rows.ts'
import { type Other, RADIUS_BITS } from './search.ts'

export interface Findings {
  notComparable: NotComparable | null
  exactCount: number
  similarCount: number
  /** Nearest first. */
  findings: Other[]
}

/**
 * A column of `attestations`: its `Findings`, null until compared. What was found stays while it is compared anew. One primary key lookup in each table.
 */
export const FINDINGS = `(SELECT jsonb_build_object('notComparable', f.not_comparable, 'exactCount', f.exact_count,
    'similarCount', f.similar_count, 'findings', coalesce((
      SELECT jsonb_agg(jsonb_build_object('claimId', other_claim_id, 'attestationId', other_attestation_id,
        'distanceBits', distance_bits) ORDER BY distance_bits NULLS FIRST, other_attestation_id)
      FROM duplicate_findings d WHERE d.attestation_id = f.attestation_id), '[]'))
  FROM fingerprints f WHERE f.attestation_id = attestations.id
    AND (f.state IN ('compared', 'recheck') OR f.exact_count + f.similar_count > 0)) AS duplicates`

const WHY: Record<NotComparable, string> = {
  video: 'a video is not a single picture',
  no_decoder: 'its pixels can’t be decoded here',
  too_large: 'it has more pixels than are decoded',
  unreadable: 'its pixels are damaged',
  timeout: 'decoding took too long',
  crashed: 'the decoder crashed',
  flat: 'it has no visible content',
  failed: 'comparing it failed repeatedly',
}

export function observationsOf(findings: Findings | null | undefined): Observation[] {
  if (findings === null || findings === undefined) return []
  const exact = findings.findings.filter(({ distanceBits }) => distanceBits === null)
  const similar = findings.findings.filter(({ distanceBits }) => distanceBits !== null)
  const found: Observation[] = []
  if (exact.length > 0) {
    found.push({
      code: 'duplicate_media',
      evidence: {
        compared: 'SHA-256 of the media with those of earlier claims',
        expected: 'other bytes in each claim',
        found: `the same bytes in ${countOf(findings.exactCount, exact.length)}`,
        distance_bits: 0,
        others: exact.map(toOther),
        more: Math.max(0, findings.exactCount - exact.length),
      },
    })
  }
  const [nearest] = similar
  if (nearest !== undefined) {
    found.push({
      code: 'similar_media',
      evidence: {
        compared: 'perceptual hash (64-bit DCT) with those of earlier claims, and the greys of those that match',
        expected: `more than ${RADIUS_BITS} differing bits`,
        found: `${nearest.distanceBits} differing bits, and no more than ${RADIUS_BITS} in ${countOf(findings.similarCount, similar.length)}`,
        distance_bits: nearest.distanceBits,
        others: similar.map(toOther),
        more: Math.max(0, findings.similarCount - similar.length),
      },
    })
  }
  if (findings.notComparable !== null) {
    found.push({
      code: 'not_comparable',
      evidence: {
        compared: 'perceptual hash (64-bit DCT) with those of earlier claims',
        expected: 'a picture that can be decoded and shows something',
        found: WHY[findings.notComparable],
        why: findings.notComparable,
      },
    })
  }
  return found
}

function toOther({ claimId, attestationId, distanceBits }: Other) {
  return { claim_id: claimId, attestation_id: attestationId, distance_bits: distanceBits ?? 0 }
}

function countOf(counted: number, named: number): string {
  const count = Math.max(counted, named)
  return count === 1 ? 'one other claim' : `${count} other claims`
}
