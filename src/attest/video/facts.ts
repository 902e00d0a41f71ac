// The measurements of a video against its manifest. They contain no verdicts: the factors hold the limits. However long
// the video, only these few numbers are kept.

/**
 * Members as signed; a missing one is a finding. Numbers are integers from 0 to 2^53 - 1, hashes 64 hexadecimal digits.
 */
export interface VideoManifest {
  chunk_count?: number | undefined
  total_bytes?: number | undefined
  duration_us?: number | undefined
  codec?: string | undefined
  timescale?: number | undefined
  chain_seed?: string | undefined
  chunks?: ManifestChunk[] | undefined
  last_link?: string | undefined
}

export interface ManifestChunk {
  index?: number | undefined
  sha256?: string | undefined
  bytes?: number | undefined
  frames?: number | undefined
  first_pts_us?: number | undefined
  last_pts_us?: number | undefined
  link?: string | undefined
}

/** One object as stored. */
export interface ReceivedChunk {
  index: number
  bytes: number
  /** Hash of the stored bytes, lower-case hex. */
  sha256: string
  /** Arrival time by the server's clock; null where the chunks came as one file. */
  arrivedAtMs: number | null
}

/** Everything that was received. */
export interface ReceivedVideo {
  source: 'upload' | 'stream'
  bytes: number
  /** Chunks in the order of their index. A file is divided by the manifest's sizes, as far as its bytes reach. */
  chunks: readonly ReceivedChunk[]
  /** Bytes that belong to no whole chunk: the file ends within one, or continues after the last. */
  looseBytes: number
  /** The nonce of the session that the chunks were sent to; null for a file. */
  streamNonce: string | null
}

/** Repeated faults: their count, and the first one. `index` counts chunks from 0. */
export interface Mismatch {
  count: number
  index: number
  expected: string
  received: string
}

export interface VideoFacts {
  source: 'upload' | 'stream'
  streamNonce: string | null
  /** Null: the bundle has none. */
  manifest: ManifestFacts | null
  received: ReceivedFacts
  chain: ChainFacts | null
  /** Null when the manifest lacks a time or a frame count. */
  timing: TimingFacts | null
  container: ContainerFacts
  /** Null without a manifest, and where the container is not sane. */
  footage: FootageFacts | null
}

export interface ManifestFacts {
  statedCount: number | null
  listedCount: number
  statedBytes: number | null
  /** Null when a chunk does not state its bytes. */
  listedBytes: number | null
  seed: string | null
  /** Missing fields; `first` is a JSON pointer into the manifest. */
  missingFields: { count: number; first: string } | null
  /** Chunks whose index differs from their position in the list. */
  misplaced: { count: number; index: number; found: number } | null
}

export interface ReceivedFacts {
  /** How many chunks the manifest lists. */
  chunks: number
  bytes: number
  /** Listed and not received. `isTail`: no chunk listed after the first of them was received either. */
  missing: { count: number; index: number; isTail: boolean } | null
  /** Received and not listed. */
  surplus: { count: number; index: number } | null
  looseBytes: number
}

export interface ChainFacts {
  /** What the links were computed from; `none`: no value that can seed a chain. */
  seed: 'nonce' | 'stated' | 'none'
  /** How many links are correct, counted from the first. */
  verifiedLinks: number
  /** Chunks whose bytes don't match the manifest's digest. */
  digest: Mismatch | null
  link: Mismatch | null
  lastLink: Mismatch | null
  /** Chunks with the digest of an earlier one. */
  duplicate: { count: number; index: number; of: number; sha256: string } | null
}

export interface TimingFacts {
  /** From the first chunk's start to the last one's end. */
  spanUs: number
  statedUs: number | null
  frames: number
  /** Chunks that end where they start, or before. */
  reversed: { count: number; index: number } | null
  /** The largest gap (or, below 0, overlap) before a chunk. */
  gap: { us: number; index: number } | null
  gapsUs: number
  /** Excludes the last chunk. */
  shortest: { us: number; index: number } | null
  longest: { us: number; index: number } | null
  /** The chunk whose frame rate differs most from that of the whole. */
  rate: { factor: number; index: number } | null
  /**
   * The latest possible start of the recording: for each chunk, its arrival less its time in the recording; the
   * earliest of these.
   */
  beganByMs: { ms: number; index: number } | null
}

export interface ContainerFacts {
  /** `unverified`: the file exceeds a limit of the check. */
  state: 'sane' | 'broken' | 'unverified'
  /** Why not sane. */
  reason: string | null
  /** Where, in bytes from the start. */
  offset: number | null
}

/** The container's statements about its video compared with the manifest's. */
export interface FootageFacts {
  /** The mean frame length of the file, at most the longest allowed frame. */
  frameUs: number
  /** Fragments or clusters compared with chunks; 0: a single table dates all frames. */
  fragments: number
  codec: { stated: string | null; found: string; isSame: boolean }
  timescale: { stated: number | null; found: number }
  /** `stated`: from the first chunk's start to the last one's end; null when the manifest does not state it. */
  durationUs: { stated: number | null; found: number }
  /** `stated`: the sum over all chunks. */
  frames: { stated: number | null; found: number }
  /**
   * Chunks that begin more than a frame off the fragment in which, or with which, they begin. Microseconds from the
   * first frame.
   */
  chunkStart: { count: number; index: number; stated: number; found: number } | null
  /** Chunks of whole fragments whose stated frames differ from those of the fragments. */
  chunkFrames: { count: number; index: number; stated: number; found: number } | null
}
