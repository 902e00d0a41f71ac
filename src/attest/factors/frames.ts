import type { ChainFacts } from '../video/facts.ts'
import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

type Problem = 'digest' | 'link' | 'last_link' | 'duplicate'

interface Finding {
  problem: Problem
  count: number
  index: number
  expected: string
  received: string
}

/**
 * `frame_hash_mismatch`: chunks whose bytes don't match the manifest, links that do not follow from the seed, duplicate
 * chunks. `expected` and `found` are of the first bad chunk.
 */
export function judgeFrames({ media, video }: CapturedFacts): ScoredFactor<'frame_hash_mismatch'> | null {
  if (media.mediaType !== 'video' || video == null || video.chain === null) return null
  const { chain, manifest } = video
  const findings = findingsOf(chain)
  // At the same chunk the digest comes first: changed bytes explain more than the link over them.
  const first = findings.reduce<Finding | undefined>(
    (best, one) => (best && best.index <= one.index ? best : one),
    undefined,
  )
  if (first === undefined) return null
  return scored('frame_hash_mismatch', {
    compared: COMPARED[first.problem],
    expected: first.expected,
    found: first.received,
    verdict: 'tampered',
    first_bad_index: first.index,
    problems: Object.fromEntries(findings.map(({ problem, count, index }) => [problem, { count, first_index: index }])),
    links_computed_from: chain.seed,
    verified_links: chain.verifiedLinks,
    chunks: manifest?.listedCount ?? null,
  })
}

const COMPARED: Readonly<Record<Problem, string>> = {
  digest: 'SHA-256 of the chunk as received',
  link: 'link of the chunk, recomputed',
  last_link: 'last link of the manifest, recomputed',
  duplicate: 'digests of the chunks: no two alike',
}

function findingsOf({ digest, link, lastLink, duplicate }: ChainFacts): Finding[] {
  return [
    ...(digest === null ? [] : [{ problem: 'digest' as const, ...digest }]),
    ...(link === null ? [] : [{ problem: 'link' as const, ...link }]),
    ...(lastLink === null ? [] : [{ problem: 'last_link' as const, ...lastLink }]),
    ...(duplicate === null
      ? []
      : [
          {
            problem: 'duplicate' as const,
            count: duplicate.count,
            index: duplicate.index,
            expected: 'a digest that no other chunk has',
            received: `${duplicate.sha256}, as chunk ${duplicate.of}`,
          },
        ]),
  ]
}
