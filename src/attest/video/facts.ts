// What was measured of a video against its manifest. Measures and not verdicts: what is too much stands with the judges, and
// however long the video, these few numbers are all that is kept of it.

/** As it is signed; what is missing is a finding. Numbers are integers from 0 to 2^53 - 1, hashes 64 hexadecimal digits. */
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

/** One object as it is in the store. */
export interface ReceivedChunk {
  index: number
  bytes: number
  /** Of the stored bytes, lower-case hex. */
  sha256: string
  /** By the server's clock; null where the chunks came as one file. */
  arrivedAtMs: number | null
}

/** Everything that arrived. */
export interface ReceivedVideo {
  source: 'upload' | 'stream'
  bytes: number
  /** By their index. Of a file: as the manifest divides it, as far as the bytes reach. */
  chunks: readonly ReceivedChunk[]
  /** Bytes that belong to no whole chunk: of a file that ends within one, or goes on after the last. */
  looseBytes: number
  /** The nonce of the session that the chunks were sent to; null for a file. */
  streamNonce: string | null
}

/** What is wrong more than once is told by the first. `index` counts chunks from 0. */
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
  /** Null when the manifest does not say all times and frames. */
  timing: TimingFacts | null
  container: ContainerFacts
  /** Null without a manifest, and where the container is not sane. */
  footage: FootageFacts | null
}

export interface ManifestFacts {
  statedCount: number | null
  listedCount: number
  statedBytes: number | null
  /** Null when a chunk does not say its bytes. */
  listedBytes: number | null
  seed: string | null
  /** Fields that are not there; `first` is a JSON pointer into the manifest. */
  missingFields: { count: number; first: string } | null
  /** Chunks whose index is not their place in the list. */
  misplaced: { count: number; index: number; found: number } | null
}

export interface ReceivedFacts {
  /** Of the chunks that the manifest lists. */
  chunks: number
  bytes: number
  /** Listed and not received. `isTail`: nothing that is listed after the first of them was received either. */
  missing: { count: number; index: number; isTail: boolean } | null
  /** Received and not listed. */
  surplus: { count: number; index: number } | null
  looseBytes: number
}

export interface ChainFacts {
  /** What the links were computed from; `none`: nothing that could seed a chain. */
  seed: 'nonce' | 'stated' | 'none'
  /** Links that are what they must be, from the first on. */
  verifiedLinks: number
  /** Chunks whose bytes are not those that the manifest says. */
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
  /** Not of the last chunk. */
  shortest: { us: number; index: number } | null
  longest: { us: number; index: number } | null
  /** The chunk whose rate is furthest from that of the whole. */
  rate: { factor: number; index: number } | null
  /** When the recording began at the latest, as each chunk's arrival and its place in time tell: the earliest of those. */
  beganByMs: { ms: number; index: number } | null
}

export interface ContainerFacts {
  /** `unverified`: more than is looked at. */
  state: 'sane' | 'broken' | 'unverified'
  /** Why not sane. */
  reason: string | null
  /** Where, in bytes from the start. */
  offset: number | null
}

/** What the container says of its video beside what the manifest says of it. */
export interface FootageFacts {
  /** One mean frame of the file, as far as a frame may be long. */
  frameUs: number
  /** Fragments or clusters that were compared with chunks; 0: one table dates all frames. */
  fragments: number
  codec: { stated: string | null; found: string; isSame: boolean }
  timescale: { stated: number | null; found: number }
  /** `stated`: from the first chunk's start to the last one's end; null when the manifest does not say it. */
  durationUs: { stated: number | null; found: number }
  /** `stated`: those of all chunks. */
  frames: { stated: number | null; found: number }
  /** Chunks that begin more than a frame off the fragment in which, or with which, they begin. Microseconds from the first frame. */
  chunkStart: { count: number; index: number; stated: number; found: number } | null
  /** Chunks of whole fragments which say other frames than these have. */
  chunkFrames: { count: number; index: number; stated: number; found: number } | null
}
