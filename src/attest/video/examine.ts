// Measures a video against its manifest. Pure: manifest and received chunks in, numbers out.

import { type ChainedChunk, firstLink, nextLink, parseSeed } from './chain.ts'
import type {
  ChainFacts,
  ContainerFacts,
  ManifestChunk,
  ManifestFacts,
  Mismatch,
  ReceivedChunk,
  ReceivedFacts,
  ReceivedVideo,
  VideoFacts,
  VideoManifest,
} from './facts.ts'
import { type Footage, measureFootage } from './footage.ts'
import { measureTiming } from './timing.ts'

export interface Examination {
  manifest: VideoManifest | null
  received: ReceivedVideo
  /** The nonce of the bundle; null when it has none. */
  nonce: string | null
  container: ContainerFacts
  /** Null unless the container is sane. */
  footage: Footage | null
}

export function examineVideo(examination: Examination): VideoFacts {
  const steps = examineInSteps(examination)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same facts, with a yield after each few links: those of 10,000 chunks take 25 ms of hashing. */
export function* examineInSteps({
  manifest,
  received,
  nonce,
  container,
  footage,
}: Examination): Generator<void, VideoFacts> {
  const chunks = manifest?.chunks ?? []
  const byIndex = new Map(received.chunks.map((chunk) => [chunk.index, chunk]))
  return {
    source: received.source,
    streamNonce: received.streamNonce,
    manifest: manifest && measureManifest(manifest, chunks),
    received: measureReceived(chunks.length, received, byIndex),
    chain: manifest && (yield* measureChain(manifest, chunks, byIndex, nonce)),
    timing: measureTiming(manifest?.duration_us ?? null, chunks, byIndex),
    container,
    footage: manifest && footage && measureFootage(manifest, chunks, footage),
  }
}

const MANIFEST_FIELDS = [
  'chunk_count',
  'total_bytes',
  'duration_us',
  'codec',
  'timescale',
  'chain_seed',
  'chunks',
  'last_link',
] as const satisfies (keyof VideoManifest)[]
const CHUNK_FIELDS = [
  'index',
  'sha256',
  'bytes',
  'frames',
  'first_pts_us',
  'last_pts_us',
  'link',
] as const satisfies (keyof ManifestChunk)[]

function measureManifest(manifest: VideoManifest, chunks: readonly ManifestChunk[]): ManifestFacts {
  const absent: string[] = MANIFEST_FIELDS.filter((field) => manifest[field] === undefined).map((field) => `/${field}`)
  let misplaced: ManifestFacts['misplaced'] = null
  let listedBytes: number | null = 0
  chunks.forEach((chunk, place) => {
    for (const field of CHUNK_FIELDS) if (chunk[field] === undefined) absent.push(`/chunks/${place}/${field}`)
    if (chunk.index !== undefined && chunk.index !== place) {
      misplaced = {
        count: (misplaced?.count ?? 0) + 1,
        index: misplaced?.index ?? place,
        found: misplaced?.found ?? chunk.index,
      }
    }
    listedBytes = listedBytes === null || chunk.bytes === undefined ? null : listedBytes + chunk.bytes
  })
  const [first] = absent
  return {
    statedCount: manifest.chunk_count ?? null,
    listedCount: chunks.length,
    statedBytes: manifest.total_bytes ?? null,
    listedBytes,
    seed: manifest.chain_seed ?? null,
    missingFields: first === undefined ? null : { count: absent.length, first },
    misplaced,
  }
}

function measureReceived(
  listed: number,
  { bytes, chunks, looseBytes }: ReceivedVideo,
  byIndex: ReadonlyMap<number, ReceivedChunk>,
): ReceivedFacts {
  const missing: number[] = []
  for (let index = 0; index < listed; index += 1) if (!byIndex.has(index)) missing.push(index)
  const beyond = chunks.filter(({ index }) => index >= listed)
  const [first] = missing
  const [surplus] = beyond
  return {
    chunks: listed - missing.length,
    bytes,
    missing:
      first === undefined ? null : { count: missing.length, index: first, isTail: missing.length === listed - first },
    surplus: surplus === undefined ? null : { count: beyond.length, index: surplus.index },
    looseBytes,
  }
}

function* measureChain(
  manifest: VideoManifest,
  chunks: readonly ManifestChunk[],
  byIndex: ReadonlyMap<number, ReceivedChunk>,
  nonce: string | null,
): Generator<void, ChainFacts> {
  const { chain_seed: stated } = manifest
  // A seed that differs from the nonce is a separate finding. Whether chunks were changed as well shows only when the
  // links are computed from the seed that the sender states.
  const isNonce = stated === undefined || stated === nonce
  const seed = parseSeed((isNonce ? nonce : stated) ?? '')
  const links = seed === null ? null : yield* measureLinks(firstLink(seed), chunks)
  const end = links?.end
  const last = chunks.length - 1
  return {
    seed: seed === null ? 'none' : isNonce ? 'nonce' : 'stated',
    verifiedLinks: links?.verified ?? 0,
    digest: measureDigests(chunks, byIndex),
    link: links?.mismatch ?? null,
    lastLink:
      end === undefined || manifest.last_link === undefined || manifest.last_link.toLowerCase() === end
        ? null
        : { count: 1, index: last, expected: end, received: manifest.last_link.toLowerCase() },
    duplicate: measureDuplicates(chunks),
  }
}

function measureDigests(
  chunks: readonly ManifestChunk[],
  byIndex: ReadonlyMap<number, ReceivedChunk>,
): Mismatch | null {
  let found: Mismatch | null = null
  chunks.forEach(({ sha256 }, index) => {
    const received = byIndex.get(index)?.sha256
    const expected = sha256?.toLowerCase()
    if (received === undefined || expected === undefined || received === expected) return
    found = { ...(found ?? { index, expected, received }), count: (found?.count ?? 0) + 1 }
  })
  return found
}

/** Some 0.1 ms of hashing. */
const LINKS_AT_ONCE = 50

/** `end` is the last link, if all links could be computed and are right. */
function* measureLinks(
  first: Buffer,
  chunks: readonly ManifestChunk[],
): Generator<void, { verified: number; mismatch: Mismatch | null; end?: string }> {
  let link = first
  for (const [place, chunk] of chunks.entries()) {
    if (place % LINKS_AT_ONCE === 0) yield
    const chained = chainedOf(chunk, place)
    if (chained === null || chunk.link === undefined) return { verified: place, mismatch: null }
    link = nextLink(link, chained)
    const expected = link.toString('hex')
    const received = chunk.link.toLowerCase()
    // After the first wrong link no later one can be verified.
    if (received !== expected) {
      return { verified: place, mismatch: { count: chunks.length - place, index: place, expected, received } }
    }
  }
  if (chunks.length === 0) return { verified: 0, mismatch: null }
  return { verified: chunks.length, mismatch: null, end: link.toString('hex') }
}

// Chunks are compared by position in the list: a different stated index is a separate finding, and the chain covers the
// actual order.
function chainedOf({ sha256, bytes, first_pts_us, last_pts_us }: ManifestChunk, index: number): ChainedChunk | null {
  if (sha256 === undefined || bytes === undefined || first_pts_us === undefined || last_pts_us === undefined)
    return null
  return { index, firstPtsUs: first_pts_us, lastPtsUs: last_pts_us, bytes, sha256: Buffer.from(sha256, 'hex') }
}

function measureDuplicates(chunks: readonly ManifestChunk[]): ChainFacts['duplicate'] {
  const seen = new Map<string, number>()
  let found: ChainFacts['duplicate'] = null
  chunks.forEach((chunk, index) => {
    const sha256 = chunk.sha256?.toLowerCase()
    if (sha256 === undefined) return
    const of = seen.get(sha256)
    if (of === undefined) seen.set(sha256, index)
    else found = { ...(found ?? { index, of, sha256 }), count: (found?.count ?? 0) + 1 }
  })
  return found
}
