// The readers of video containers: each input in one piece and split anywhere, compared with a manifest of the
// unchanged file.

import { readFileSync } from 'node:fs'
import { createWalker } from '#src/attest/video/container.ts'
import { examineVideo } from '#src/attest/video/examine.ts'
import { MAX_FRAMES } from '#src/attest/video/limits.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { joinChunks, makeVideoManifest, recordVideo, VIDEO_TYPES, type VideoContainer } from '../capture-kit/video.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { corpusFiles } from './seeds.ts'

const NONCE = 'A'.repeat(43)
const { cases }: { cases: { content_type: string; data: string }[] } = JSON.parse(
  readFileSync(new URL('../vectors/attest/video-container.json', import.meta.url), 'utf8'),
)
const STRUCTURE = [
  'bad_box_type',
  'bad_box_size',
  'box_beyond_parent',
  'second_box',
  'second_movie',
  'fragment_before_movie',
  'fragments_out_of_order',
  'no_fragment_header',
  'sample_counts_differ',
  'no_movie',
  'no_frames',
  'bad_element',
  'element_beyond_parent',
  'unknown_size',
  'second_segment',
  'second_element',
  'second_timestamp',
  'second_timescale',
  'clusters_out_of_order',
  'track_timestamp_scale',
  'bad_block',
  'block_before_track',
  'block_before_timestamp',
  'no_segment',
  'no_track_id',
  'no_codec',
  'mixed_codecs',
  'bad_timescale',
  'bad_time',
  'second_video_track',
  'no_video_track',
  'no_media_data',
  'bad_padding',
  'padding_too_long',
  'truncated',
  'too_many_elements',
  'too_many_frames',
  'too_many_fragments',
  'too_many_tracks',
]

export function videoParsers(): Parser[] {
  return [parserOf('mp4', /\.mp4$/i), parserOf('mov', /\.mov$/i), parserOf('webm', /\.webm$/i)]
}

function parserOf(container: VideoContainer, ending: RegExp): Parser {
  const type = VIDEO_TYPES[container]
  const recording = recordVideo({ seed: 9, chunks: 3, chunkMs: 200, container })
  const manifest = makeVideoManifest(NONCE, recording, container)
  // Tables and fragments occur in files of both kinds.
  const vectors = cases.filter((one) => (one.content_type === 'video/webm') === (container === 'webm'))
  const seeds = [
    joinChunks(recording),
    ...vectors.map(({ data }) => Buffer.from(data, 'hex')),
    ...corpusFiles('.', ending, 200_000),
  ]
  let end = 0
  const cuts = recording.map(({ data }) => {
    end += data.length
    return end
  })
  return {
    name: `video container: ${container}`,
    source: 'attest/video/container, footage',
    limit: { kind: 'thread', ms: 100 },
    refusals: STRUCTURE,
    make: (dice: Dice) => mutateBytes(seeds, dice),
    run(input) {
      const walk = (parts: readonly Buffer[]) => {
        const walker = createWalker(type, cuts)
        for (const part of parts) walker.push(part)
        return walker.end()
      }
      const walked = walk([input])
      const middle = Math.max(1, input.length >> 1)
      const again = walk([input.subarray(0, 1), input.subarray(1, middle), input.subarray(middle)])
      hold(JSON.stringify(again) === JSON.stringify(walked), 'it is told the same however it is cut')
      const { container: facts, footage } = walked
      hold((facts.state === 'sane') === (footage !== null), 'what is sane has times, and nothing else has')
      if (footage !== null) {
        const { frames, durationUs, fragments } = footage
        hold(frames > 0 && frames <= MAX_FRAMES, 'frames are bounded')
        hold(Number.isSafeInteger(durationUs) && durationUs >= 0, 'a duration is a number')
        hold(
          fragments.every(({ from, at }) => from <= at && at <= input.length),
          'fragments stand in the file',
        )
      }
      const received = { source: 'upload' as const, bytes: end, chunks: [], looseBytes: 0, streamNonce: null }
      const measured = examineVideo({ ...walked, manifest, received, nonce: NONCE })
      canonicalize(JSON.parse(JSON.stringify(measured)))
      return facts.reason ?? 'accepted'
    },
  }
}
