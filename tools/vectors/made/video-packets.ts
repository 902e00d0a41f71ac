// Packets of videos: what the manifest and the original show must be what the result says, and nothing else.

import { RULES_VERSION } from '#src/attest/factors/table.ts'
import {
  joinChunks,
  makeVideoManifest,
  recordVideo,
  type VideoChunk,
  type VideoManifest,
} from '../../../capture-kit/video.ts'
import { ATTESTATION, BUNDLE, hexDigest, makeAttestation, makePacket, type Result, signPacket } from './packet-parts.ts'
import type { PacketCase, PacketFinding } from './packets.ts'

const PART = `attestations/${ATTESTATION}`
const NONCE = BUNDLE.session_nonce
const OTHER_NONCE = 'A'.repeat(43)
const HASH = '0'.repeat(64)
const RECORDING = recordVideo({ seed: 7, chunks: 5, chunkMs: 200 })
const FILE = joinChunks(RECORDING)
const MANIFEST = makeVideoManifest(NONCE, RECORDING)

/** What the signed result says of the video. */
interface Said {
  chain?: Record<string, { count: number; first_index: number }>
  /** Of the first wrong digest. */
  digest?: { first_bad_index: number; expected: string; found: string }
  manifest?: string[]
  nonce?: string[]
  times?: string[]
}

interface Filmed {
  /** As the device signed it; null: the bundle has none. */
  manifest?: object | null
  /** null: the bundle has none. */
  nonce?: string | null
  file?: Buffer
  says?: Said
  stream?: string
  rulesVersion?: string
}

function film(filmed: Filmed = {}): { packet: object; originals: string[] } {
  const { manifest = MANIFEST, nonce = NONCE, file = FILE, says = {} } = filmed
  const { session_nonce: _, ...statement } = BUNDLE
  const bundle = {
    ...statement,
    ...(nonce !== null && { session_nonce: nonce }),
    sensor_hash: hexDigest(file),
    ...(manifest !== null && { video_manifest: manifest }),
  }
  const factors = factorsOf(says)
  const one = makeAttestation({
    bundle,
    mediaType: 'video',
    media: { sha256: hexDigest(file), size: file.byteLength, content_type: 'video/mp4' },
    result: {
      factors,
      risk_score: factors.reduce((sum, { points }) => sum + points, 0),
      rules_version: filmed.rulesVersion ?? RULES_VERSION,
    },
  })
  if (filmed.stream !== undefined) one.submission.stream = filmed.stream
  return { packet: signPacket(makePacket([one])), originals: [file.toString('base64')] }
}

const withoutOriginal = (filmed: Filmed) => ({ ...film(filmed), originals: null })

function factorsOf({ chain, digest, manifest, nonce, times }: Said): Result['factors'] {
  const common = { compared: '', expected: '', found: '' }
  return [
    ...(nonce ? [{ code: 'session_nonce_mismatch', points: 70, evidence: { ...common, found: nonce } }] : []),
    ...(chain
      ? [{ code: 'frame_hash_mismatch', points: 50, evidence: { ...common, ...digest, problems: chain } }]
      : []),
    ...(times ? [{ code: 'liveness_check_failed', points: 40, evidence: { ...common, failed: times } }] : []),
    ...(manifest ? [{ code: 'video_manifest_incomplete', points: 40, evidence: { ...common, found: manifest } }] : []),
  ] as never
}

const failed = (...checks: string[]): PacketFinding[] => checks.map((check) => [PART, check, 'failed'])
const skipped = (...checks: string[]): PacketFinding[] => checks.map((check) => [PART, check, 'skipped'])
const NO_DIGEST = skipped('video digest')
const first = { count: 1, first_index: 0 }

/** The manifest with a changed chunk, or with other members. */
function listed(change: (manifest: VideoManifest) => unknown, of: VideoManifest = MANIFEST): VideoManifest {
  const copy = structuredClone(of)
  change(copy)
  return copy
}
const chunk = (index: number, members: object) => listed(({ chunks }) => Object.assign(chunks[index] ?? {}, members))
/** The manifest of other chunks, whose chain fits. */
const chained = (change: (chunks: VideoChunk[]) => VideoChunk[]) => makeVideoManifest(NONCE, change([...RECORDING]))
const shifted = (byUs: number, from = 3) =>
  chained((chunks) =>
    chunks.map((one, index) =>
      index < from ? one : { ...one, firstPtsUs: one.firstPtsUs + byUs, lastPtsUs: one.lastPtsUs + byUs },
    ),
  )

const CHANGED = [...RECORDING].with(2, { ...(RECORDING[2] as VideoChunk), data: changedData(2) })
const CHANGED_FILE = joinChunks(CHANGED)
const CHANGED_DIGEST = {
  first_bad_index: 2,
  expected: MANIFEST.chunks[2]?.sha256 ?? '',
  found: hexDigest(changedData(2)),
}
const TWO_SECONDS = recordVideo({ seed: 7, chunks: 5, chunkMs: 2_000 })
/** Frames of two seconds, listed as if they were of a fifth of one. */
const HURRIED = TWO_SECONDS.map((one, index) => ({ ...(RECORDING[index] as VideoChunk), data: one.data }))

function changedData(index: number): Buffer {
  const data = Buffer.from(RECORDING[index]?.data ?? '')
  data[data.length - 1] = (data[data.length - 1] ?? 0) ^ 1
  return data
}

const HONEST: PacketCase[] = [
  ['whole', 'a video whose manifest fits, with its original', film(), NO_DIGEST],
  [
    'no-original',
    'without the original its bytes are not compared',
    { ...film(), originals: null },
    [...skipped('original', 'video digest', 'video bytes')],
  ],
  ['streamed', 'a video that was sent chunk by chunk', film({ stream: 'cap_test_1' }), NO_DIGEST],
  [
    'rules-of-other-version',
    'the container was judged by other rules',
    film({ rulesVersion: 'attest-rules/1' }),
    [...NO_DIGEST, ...skipped('video container')],
  ],
  [
    'hashes-in-capitals',
    'hashes in capitals are the same',
    film({
      manifest: listed((manifest) => {
        for (const one of manifest.chunks)
          Object.assign(one, { sha256: one.sha256.toUpperCase(), link: one.link.toUpperCase() })
        manifest.last_link = manifest.last_link.toUpperCase()
      }),
    }),
    NO_DIGEST,
  ],
  [
    'found-wrong-digest',
    'the result says that a chunk has another digest than listed, and the original has',
    film({
      file: CHANGED_FILE,
      says: { chain: { digest: { count: 1, first_index: 2 } }, digest: CHANGED_DIGEST },
    }),
  ],
  [
    'found-other-link',
    'the result says that the links break at a chunk, and they do',
    film({
      manifest: chunk(3, { link: HASH }),
      says: { chain: { link: { count: 2, first_index: 3 } } },
    }),
    NO_DIGEST,
  ],
  [
    'found-other-seed',
    'the result says that the chain begins with another seed, and it does',
    film({
      manifest: makeVideoManifest(OTHER_NONCE, RECORDING),
      says: { nonce: ['other_seed'] },
    }),
    NO_DIGEST,
  ],
  [
    'found-server-problems',
    'what only the service can know of a nonce is left to the signed result',
    film({
      says: { nonce: ['reused', 'out_of_time', 'other_device', 'other_claim', 'other_stream', 'unknown'] },
    }),
    NO_DIGEST,
  ],
  [
    'found-arrival',
    'what only the service can know of times is left to the signed result',
    film({
      says: { times: ['arrival', 'elapsed'] },
    }),
    NO_DIGEST,
  ],
  [
    'found-other-count',
    'the result says that the count differs, and it does',
    film({
      manifest: listed((manifest) => Object.assign(manifest, { chunk_count: 9 })),
      says: { manifest: ['count_differs'] },
    }),
    NO_DIGEST,
  ],
  [
    'found-no-manifest',
    'the result says that there is no manifest, and there is none',
    film({
      manifest: null,
      says: { manifest: ['no_video_manifest'] },
    }),
    NO_DIGEST,
  ],
  [
    'found-gap',
    'the result says that times have a gap, and they have',
    withoutOriginal({
      manifest: shifted(90_000),
      says: { times: ['gap', 'gap_budget'] },
    }),
    skipped('original', 'video digest', 'video bytes'),
  ],
  [
    'found-cut',
    'the result says that the end is missing, and it is',
    film({
      file: FILE.subarray(0, -5),
      says: { manifest: ['chunk_missing'] },
    }),
    NO_DIGEST,
  ],
  [
    'found-streamed-cut',
    'the service received fewer chunks than listed: the packet can not show which',
    film({
      file: joinChunks(RECORDING.slice(0, 4)),
      stream: 'cap_test_1',
      says: { manifest: ['chunk_missing'] },
    }),
    skipped('video digest', 'video bytes'),
  ],
  [
    'found-streamed-digest',
    'the service received a chunk with another digest: its length is not known',
    film({
      file: joinChunks([...RECORDING.slice(0, 4), { data: Buffer.alloc(900, 1) } as VideoChunk]),
      stream: 'cap_test_1',
      says: {
        chain: { digest: { count: 1, first_index: 4 } },
        digest: { first_bad_index: 4, expected: MANIFEST.chunks[4]?.sha256 ?? '', found: HASH },
      },
    }),
    skipped('video bytes'),
  ],
]

const SHOWN: PacketCase[] = [
  [
    'link',
    'a link does not follow from the one before',
    film({ manifest: chunk(3, { link: HASH }) }),
    [...failed('video chain'), ...NO_DIGEST],
  ],
  [
    'last-link',
    'the last link is another one',
    film({ manifest: listed((manifest) => Object.assign(manifest, { last_link: HASH })) }),
    [...failed('video chain'), ...NO_DIGEST],
  ],
  [
    'duplicate',
    'two chunks are the same',
    withoutOriginal({
      manifest: chained((chunks) => chunks.with(3, { ...(chunks[3] as VideoChunk), data: chunks[2]?.data ?? FILE })),
      file: joinChunks([...RECORDING].with(3, { ...(RECORDING[3] as VideoChunk), data: RECORDING[2]?.data ?? FILE })),
    }),
    [...skipped('original'), ...failed('video chain'), ...skipped('video digest', 'video bytes')],
  ],
  [
    'seed',
    'the chain begins with another seed than the nonce',
    film({ manifest: makeVideoManifest(OTHER_NONCE, RECORDING) }),
    [...failed('video nonce'), ...NO_DIGEST],
  ],
  ['nonce-missing', 'the statement has no nonce', film({ nonce: null }), [...failed('video nonce'), ...NO_DIGEST]],
  [
    'count',
    'the manifest states another number of chunks',
    film({ manifest: listed((manifest) => Object.assign(manifest, { chunk_count: 6 })) }),
    [...failed('video manifest'), ...NO_DIGEST],
  ],
  [
    'bytes',
    'the manifest states another number of bytes',
    film({ manifest: listed((manifest) => Object.assign(manifest, { total_bytes: 6 })) }),
    [...failed('video manifest'), ...NO_DIGEST],
  ],
  [
    'index',
    'a chunk has the index of another',
    film({ manifest: chunk(1, { index: 2 }) }),
    [...failed('video manifest'), ...NO_DIGEST],
  ],
  [
    'field-missing',
    'the manifest does not state its codec',
    film({ manifest: listed((manifest) => Reflect.deleteProperty(manifest, 'codec')) }),
    [...failed('video manifest'), ...NO_DIGEST],
  ],
  [
    'file-shorter',
    'the file ends within the last chunk',
    film({ file: FILE.subarray(0, -5) }),
    [...failed('video manifest'), ...NO_DIGEST],
  ],
  [
    'file-longer',
    'bytes follow the last chunk',
    film({ file: Buffer.concat([FILE, Buffer.alloc(8)]) }),
    [...failed('video manifest'), ...NO_DIGEST],
  ],
  ['manifest-missing', 'there is no manifest', film({ manifest: null }), [...failed('video manifest'), ...NO_DIGEST]],
  [
    'manifest-no-object',
    'the manifest can not be read',
    film({ manifest: listed((manifest) => Object.assign(manifest, { chunks: 'none' })) }),
    failed('video manifest'),
  ],
  [
    'gap',
    'the times of the chunks have a gap',
    withoutOriginal({ manifest: shifted(90_000) }),
    [...skipped('original'), ...failed('video times'), ...skipped('video digest', 'video bytes')],
  ],
  [
    'duration',
    'the manifest states another duration',
    film({ manifest: listed((manifest) => Object.assign(manifest, { duration_us: 1 })) }),
    [...failed('video times'), ...NO_DIGEST],
  ],
  [
    'digest-of-original',
    'a chunk of the original has another digest than listed',
    film({ file: CHANGED_FILE }),
    [...NO_DIGEST, ...failed('video chunks')],
  ],
  [
    'digest-expected-other',
    'the digest that the result expected is not the listed one',
    film({
      file: CHANGED_FILE,
      says: { chain: { digest: { count: 1, first_index: 2 } }, digest: { ...CHANGED_DIGEST, expected: HASH } },
    }),
    failed('video digest'),
  ],
  [
    'digest-found-as-listed',
    'the digest that the result found wrong is the listed one',
    film({
      file: CHANGED_FILE,
      says: {
        chain: { digest: { count: 1, first_index: 2 } },
        digest: { ...CHANGED_DIGEST, found: CHANGED_DIGEST.expected },
      },
    }),
    failed('video digest'),
  ],
  [
    'digest-of-unlisted-chunk',
    'the result found the digest of a chunk wrong that is not listed',
    film({
      file: CHANGED_FILE,
      says: { chain: { digest: { count: 1, first_index: 9 } }, digest: { ...CHANGED_DIGEST, first_bad_index: 9 } },
    }),
    failed('video digest', 'video chunks'),
  ],
  [
    'digest-count-other',
    'the result found more digests wrong than the original has',
    film({
      file: CHANGED_FILE,
      says: { chain: { digest: { count: 2, first_index: 2 } }, digest: CHANGED_DIGEST },
    }),
    failed('video chunks'),
  ],
  [
    'container-duration',
    'the file lasts longer than its manifest says',
    film({
      manifest: makeVideoManifest(NONCE, HURRIED),
      file: joinChunks(HURRIED),
    }),
    [...NO_DIGEST, ...failed('video container')],
  ],
  [
    'link-place-other',
    'the result says that the links break at another chunk',
    film({
      manifest: chunk(3, { link: HASH }),
      says: { chain: { link: { count: 3, first_index: 2 } } },
    }),
    [...failed('video chain'), ...NO_DIGEST],
  ],
]

// One for each problem that a packet can show: a result may not say more than it.
const saidOnly = (check: string, says: (name: string) => Said, names: readonly string[]): PacketCase[] =>
  names.map((name) => [
    `only-said-${name.replaceAll('_', '-')}`,
    `the result says ${name}, and the packet does not show it`,
    film({ says: says(name) }),
    check === 'video chunks' || check === 'video container'
      ? [...NO_DIGEST, ...failed(check)]
      : [...failed(check), ...NO_DIGEST],
  ])

const SAID: PacketCase[] = [
  ...saidOnly('video chain', (name) => ({ chain: { [name]: first } }), ['link', 'last_link', 'duplicate']),
  ...saidOnly('video nonce', (name) => ({ nonce: [name] }), ['missing', 'other_seed']),
  ...saidOnly('video manifest', (name) => ({ manifest: [name] }), [
    'no_video_manifest',
    'no_chunks',
    'missing_field',
    'index_gap',
    'count_differs',
    'bytes_differ',
    'chunk_missing',
    'chunk_surplus',
  ]),
  ...saidOnly('video times', (name) => ({ times: [name] }), [
    'presentation_times',
    'gap',
    'gap_budget',
    'chunk_too_short',
    'chunk_too_long',
    'video_too_long',
    'stated_duration',
    'frame_rate',
    'chunk_rate',
    'end',
  ]),
  ...saidOnly('video chunks', (name) => ({ chain: { [name]: first } }), ['digest']),
  ...saidOnly('video container', (name) => ({ times: [name] }), [
    'container',
    'container_limits',
    'container_duration',
    'container_frames',
    'fragment_times',
    'fragment_frames',
    'codec',
    'timescale',
  ]),
]

export const VIDEOS: PacketCase[] = [...HONEST, ...SHOWN, ...SAID]
