// Packets of videos: what the manifest and the original show must be what the result says, and nothing else.

import { joinChunks, makeVideoManifest, type VideoChunk } from '../../../capture-kit/video.ts'
import type { PacketCase } from './packets.ts'

import {
  CHANGED_DIGEST,
  CHANGED_FILE,
  chained,
  chunk,
  FILE,
  failed,
  film,
  first,
  HASH,
  HURRIED,
  listed,
  MANIFEST,
  NO_DIGEST,
  NONCE,
  OTHER_NONCE,
  plainVideo,
  RECORDING,
  type Said,
  shifted,
  skipped,
  withoutOriginal,
} from './video-parts.ts'

const HONEST: PacketCase[] = [
  [
    'queued',
    'a video is queued: nothing is said of it yet',
    film({ edit: (one) => Object.assign(one, { status: 'queued', evaluated_at: null, result: null }) }),
    skipped('result'),
  ],
  ['no-statement', 'a video without a statement of a device', plainVideo(), skipped('certificates')],
  [
    'found-streamed-cut-of-same-size',
    'the service received fewer chunks than listed, which together have the listed size: nothing tells where they begin',
    film({ stream: 'cap_test_1', says: { manifest: ['chunk_missing'] } }),
    skipped('video digest', 'video bytes'),
  ],
  [
    'streamed-count',
    'the result says that the count of a streamed video differs, and a chunk has another digest than listed',
    film({
      stream: 'cap_test_1',
      manifest: listed((manifest) => Object.assign(manifest, { chunk_count: 9 })),
      file: CHANGED_FILE,
      says: { manifest: ['count_differs'] },
    }),
    [...NO_DIGEST, ...failed('video chunks')],
  ],
  [
    'found-container-no-original',
    'the result says that the container is faulty, which the original would show',
    withoutOriginal({ says: { times: ['container'] } }),
    skipped('original', 'video digest', 'video bytes'),
  ],
  [
    'found-nonce-no-text',
    'the result says that the nonce is missing, as it is a number, and that the chain begins otherwise',
    film({ nonce: 7, says: { nonce: ['missing', 'other_seed'] } }),
    NO_DIGEST,
  ],
  [
    'found-end-in-future',
    'the result says that the recording ends after it was received, and it does',
    film({ capturedAt: '2026-11-20T12:30:00.000Z', says: { times: ['end'] } }),
    NO_DIGEST,
  ],
  [
    'time-no-text',
    'the time of the capture is a number: it can not be compared',
    film({ capturedAt: 1_800_000_000_000 }),
    NO_DIGEST,
  ],
  [
    'time-unreadable',
    'the time of the capture can not be read, and the nonce is missing',
    film({ capturedAt: 'yesterday', nonce: null, says: { nonce: ['missing', 'other_seed'] } }),
    NO_DIGEST,
  ],
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
    'streamed-longer',
    'bytes follow the last chunk of a video that was sent chunk by chunk',
    film({ stream: 'cap_test_1', file: Buffer.concat([FILE, Buffer.alloc(8)]) }),
    [...failed('video manifest'), ...skipped('video digest', 'video bytes')],
  ],
  [
    'digest-without-expected',
    'the result found the digest of a chunk wrong that is not listed, and expected none',
    film({
      file: CHANGED_FILE,
      says: { chain: { digest: { count: 1, first_index: 9 } }, digest: { first_bad_index: 9, found: HASH } },
    }),
    failed('video digest', 'video chunks'),
  ],
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
