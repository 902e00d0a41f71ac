// A video's manifest as sent. A present member must have its type; an absent member is a finding and no refusal,
// because the device has signed the manifest without it.

import { z } from 'zod'
import { DEFAULT_BODY_VALUES } from '#src/platform/http/body.ts'
import { createSlice } from '#src/platform/slices.ts'
import { MAX_VIDEO_BYTES } from '../media/media.ts'
import { MAX_CHUNKS } from '../video/limits.ts'

const digest = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 in hex')
const whole = z.number().int().min(0)
const us = whole.max(Number.MAX_SAFE_INTEGER)

const chunk = z.strictObject({
  index: whole.max(0xffffffff).optional().describe('Index from 0.'),
  sha256: digest.optional(),
  bytes: whole.max(MAX_VIDEO_BYTES).optional(),
  frames: whole.max(0xffffffff).optional(),
  first_pts_us: us.optional().describe('Start in microseconds.'),
  last_pts_us: us.optional().describe('End in microseconds, exclusive: the next chunk begins there.'),
  link: digest.optional(),
})

// A schema reports every wrong value, and 70,000 reports blocked the event loop for 0.4 s.
const MAX_WRONG_CHUNKS = 10
const CHUNKS_AT_ONCE = 50

const { $schema: _, ...chunkSchema } = z.toJSONSchema(chunk)

const chunks = z
  .array(z.unknown())
  .max(MAX_CHUNKS)
  .transform((values, context) => {
    const parser = createChunkParser(context)
    if (values.length > DEFAULT_BODY_VALUES) return parseInSlices(values, parser)
    for (const [index, value] of values.entries()) if (!parser.add(index, value)) break
    return parser.parsed
  })
  .meta({ type: 'array', maxItems: MAX_CHUNKS, items: chunkSchema })

interface ChunkParser {
  parsed: z.infer<typeof chunk>[]
  /** false once enough chunks are wrong. */
  add(index: number, value: unknown): boolean
}

function createChunkParser(context: z.core.$RefinementCtx): ChunkParser {
  const parsed: z.infer<typeof chunk>[] = []
  let wrong = 0
  return {
    parsed,
    add(index, value) {
      const one = chunk.safeParse(value)
      if (one.success) {
        parsed.push(one.data)
        return true
      }
      wrong += 1
      for (const issue of one.error.issues) {
        // A reported issue can be reported again; the types keep the two kinds apart.
        context.issues.push({ ...issue, input: value, path: [index, ...issue.path] } as z.core.$ZodRawIssue)
      }
      return wrong < MAX_WRONG_CHUNKS
    },
  }
}

// A body with more than DEFAULT_BODY_VALUES is parsed by `safeParseAsync`.
async function parseInSlices(values: readonly unknown[], { add, parsed }: ChunkParser) {
  const slice = createSlice()
  for (const [index, value] of values.entries()) {
    if (!add(index, value)) break
    if (index % CHUNKS_AT_ONCE === 0 && slice.isOver()) await slice.next()
  }
  return parsed
}

export const manifest = z
  .strictObject({
    chunk_count: whole.max(0xffffffff).optional(),
    total_bytes: us.optional(),
    duration_us: us.optional(),
    codec: z.string().min(1).max(64).optional(),
    timescale: z.number().int().min(1).max(0xffffffff).optional().describe('Units of the container’s time per second.'),
    // Evaluated, not refused, like the nonce that it must equal.
    chain_seed: z.string().min(1).max(256).optional().describe('The session’s nonce.'),
    chunks: chunks.optional(),
    last_link: digest.optional(),
  })
  .meta({ id: 'VideoManifest', verbatim: true })
