// A video's manifest as it is sent. What is there must be of its kind; what is not there is a finding and no refusal, for the
// device has signed it like that.

import { z } from 'zod'
import { MAX_VIDEO_BYTES } from '../media/media.ts'
import { MAX_CHUNKS } from './limits.ts'

const digest = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 in hex')
const whole = z.number().int().min(0)
const us = whole.max(Number.MAX_SAFE_INTEGER)

const chunk = z.strictObject({
  index: whole.max(0xffffffff).optional().describe('From 0.'),
  sha256: digest.optional(),
  bytes: whole.max(MAX_VIDEO_BYTES).optional(),
  frames: whole.max(0xffffffff).optional(),
  first_pts_us: us.optional().describe('Microseconds.'),
  last_pts_us: us.optional().describe('The end, exclusive: where the next chunk begins.'),
  link: digest.optional(),
})

export const manifest = z.strictObject({
  chunk_count: whole.max(0xffffffff).optional(),
  total_bytes: us.optional(),
  duration_us: us.optional(),
  codec: z.string().min(1).max(64).optional(),
  timescale: z.number().int().min(1).max(0xffffffff).optional().describe('Units of the container’s time in a second.'),
  // Judged and not refused, as the nonce that it must be.
  chain_seed: z.string().min(1).max(256).optional().describe('The session’s nonce.'),
  chunks: z.array(chunk).max(MAX_CHUNKS).optional(),
  last_link: digest.optional(),
})
