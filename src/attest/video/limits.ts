// The limits of a video, and the reason for each number. Times of a manifest are microseconds.

/** Per video. A signed list of 10,000 links is 2.5 MB; at two seconds a chunk it is five hours. */
export const MAX_CHUNKS = 10_000

/** Per chunk: five seconds of 100 Mbit/s, the most that phones record in 4K. */
export const MAX_CHUNK_BYTES = 64 * 1024 * 1024

/** The shortest chunk, except the last: more than ten links a second prove nothing more. */
export const MIN_CHUNK_US = 100_000

/** The longest chunk: what lies between two links could be prepared beforehand. */
export const MAX_CHUNK_US = 10_000_000

/** The longest video: claims are filmed in minutes, and 2 GiB hold an hour at 4.7 Mbit/s. */
export const MAX_VIDEO_US = 3_600_000_000

/**
 * Frames read of a container. An hour at 240 frames a second has 864,000 frames, and with its sound 1,050,000 blocks in
 * WebM.
 */
export const MAX_FRAMES = 1_000_000
export const MAX_ELEMENTS = 2_000_000
/** An hour at 60 frames a second in fragments of one frame. */
export const MAX_FRAGMENTS = 250_000
/** Video, sound, subtitles, metadata: phones write five. */
export const MAX_TRACKS = 64

/** Zero bytes after the last box or element, which recorders reserve on flash memory. */
export const MAX_PADDING_BYTES = 1024 * 1024

/** Frames per second over the whole video. Phones go down to 7 in the dark and up to 240 in slow motion. */
export const MIN_FRAME_RATE = 5
export const MAX_FRAME_RATE = 240

/**
 * How far the rate of one chunk may differ from that of the whole: phones halve it in low light. One frame more is
 * allowed.
 */
export const RATE_FACTOR = 2

/**
 * How far the frame count of a file, or of one chunk, may differ from the manifest: at the end of a recording, or at a
 * cut.
 */
export const FRAME_COUNT_TOLERANCE = 1

/** The sum of all gaps and overlaps between chunks, as a fraction of the duration; one frame is always allowed. */
export const GAP_BUDGET = 0.01

/**
 * How much earlier than its recorded time a chunk or a file may arrive: media clocks drift by 0.1 %, which is a second
 * in a quarter of an hour. Both ends are timed by Postgres's clock, so no skew is added.
 */
export const ARRIVAL_TOLERANCE_MS = 1_000

/** How far the device's clock may differ from the server's: the same five minutes as for its nonce. */
export const CLOCK_SKEW_MS = 5 * 60_000
