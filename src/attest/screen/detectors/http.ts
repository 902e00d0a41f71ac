// The operator's own detector behind a small HTTP interface: bytes in, scores out. docs/attest/screening.md describes it.

import { z } from 'zod'
import { callDetector, type Detector, type DetectorDeps, readScores, score } from './detector.ts'

const answer = z.object({
  id: z.string().nullish(),
  genai_score: score.nullish(),
  deepfake_score: score.nullish(),
  models: z
    .array(z.object({ model: z.string().min(1).max(100), score }))
    .max(500)
    .nullish(),
})

export function createHttpDetector(deps: DetectorDeps & { secret?: string | undefined }): Detector {
  const { secret, version } = deps
  return {
    name: 'http',
    version,
    contentTypes: new Set(['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/avif', 'image/tiff']),
    async detect({ sha256, contentType, bytes, signal }) {
      const headers = {
        'content-type': contentType,
        'content-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      }
      const called = await callDetector(deps, { headers, body: bytes, signal })
      if ('detection' in called) return called.detection
      return readScores(answer, called.json, ({ id, genai_score, deepfake_score, models }) => ({
        genai: genai_score ?? null,
        deepfake: deepfake_score ?? null,
        models: models ?? [],
        vendorId: id ?? null,
      }))
    },
  }
}
