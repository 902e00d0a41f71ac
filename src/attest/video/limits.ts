// Every bound that a video is held to, and why it is that number. Times of a manifest are microseconds.

/** Of one video. A signed list of 10,000 links is 2.5 MB; at two seconds a chunk it is five hours. */
export const MAX_CHUNKS = 10_000

/** Of one chunk: five seconds of 100 Mbit/s, the most that phones record in 4K. */
export const MAX_CHUNK_BYTES = 64 * 1024 * 1024

/** A chunk is at least this long, but for the last: more links than ten a second prove nothing more. */
export const MIN_CHUNK_US = 100_000

/** A chunk is at most this long: what lies between two links could be prepared beforehand. */
export const MAX_CHUNK_US = 10_000_000

/** A video is at most this long: claims are filmed in minutes, and 2 GiB hold an hour at 4.7 Mbit/s. */
export const MAX_VIDEO_US = 3_600_000_000

/** What is read of a container. An hour at 240 frames a second has 864,000 frames, and with its sound 1,050,000 blocks in WebM. */
export const MAX_FRAMES = 1_000_000
export const MAX_ELEMENTS = 2_000_000
/** An hour at 60 frames a second in fragments of one frame. */
export const MAX_FRAGMENTS = 250_000
/** Video, sound, subtitles, metadata: phones write five. */
export const MAX_TRACKS = 64

/** Zero bytes after the last box or element: what recorders reserve on flash memory and leave behind. */
export const MAX_PADDING_BYTES = 1024 * 1024

/** Frames per second over the whole. Phones go down to 7 in the dark and up to 240 in slow motion. */
export const MIN_FRAME_RATE = 5
export const MAX_FRAME_RATE = 240

/** How far the rate of one chunk may be from that of the whole: phones halve it when the light goes. One frame comes on top. */
export const RATE_FACTOR = 2

/** How far the frames of a file, or of one chunk, may be from what the manifest says: where a recorder is stopped, or a chunk cut. */
export const FRAME_COUNT_TOLERANCE = 1

/** All gaps and overlaps between chunks together, as a part of the duration; one frame is always allowed. */
export const GAP_BUDGET = 0.01

/**
 * How much earlier than its recorded time a chunk may be here, or a file: clocks of media drift by 0.1 %, which is a second
 * in a quarter of an hour. Both ends are timed by Postgres's clock, so no skew comes on top.
 */
export const ARRIVAL_TOLERANCE_MS = 1_000

/** How far the device's clock may be off the server's: the same five minutes as for its nonce. */
export const CLOCK_SKEW_MS = 5 * 60_000
