// Sightengine's check of one image with its models genai and deepfake. Credentials are sent in the form, never in the
// URL.

import { z } from 'zod'
import { callDetector, type Detection, type Detector, type DetectorDeps, readScores, score } from './detector.ts'
import { buildForm } from './multipart.ts'

export const SIGHTENGINE_URL = 'https://api.sightengine.com/1.0/check.json'

const success = z.object({
  status: z.literal('success'),
  request: z.object({ id: z.string() }).optional(),
  type: z.object({
    ai_generated: score.optional(),
    deepfake: score.optional(),
    ai_generators: z.record(z.string().max(100), score).optional(),
  }),
})

const failure = z.object({ status: z.literal('failure'), error: z.object({ type: z.string() }) })

const TYPES: Readonly<Record<string, Detection['kind']>> = {
  credentials_error: 'refused',
  plan_error: 'refused',
  usage_limit: 'refused',
  media_error: 'unsupported',
}

export function createSightengine(deps: DetectorDeps & { user: string; secret: string }): Detector {
  const { user, secret, version } = deps
  return {
    name: 'sightengine',
    version,
    contentTypes: new Set(['image/jpeg', 'image/png', 'image/webp']),
    async detect({ contentType, bytes, signal }) {
      const form = buildForm(
        { models: 'genai,deepfake', api_user: user, api_secret: secret },
        { name: 'media', contentType, bytes },
      )
      const called = await callDetector(
        deps,
        { headers: { 'content-type': form.contentType }, body: form.body, signal },
        judgeFailure,
      )
      if ('detection' in called) return called.detection
      return readScores(success, called.json, ({ type, request }) => ({
        genai: type.ai_generated ?? null,
        deepfake: type.deepfake ?? null,
        models: Object.entries(type.ai_generators ?? {}).map(([model, share]) => ({ model, score: share })),
        vendorId: request?.id ?? null,
      }))
    },
  }
}

// A failure may have any status; its type says more than the status does.
function judgeFailure(json: unknown): Detection | undefined {
  const parsed = failure.safeParse(json)
  if (!parsed.success) return undefined
  const { type } = parsed.data.error
  const detail = /^[a-z_]{1,40}$/.test(type) ? type : 'a failure of an unknown type'
  const kind = TYPES[type]
  if (kind === 'refused' || kind === 'unsupported') return { kind, detail }
  return { kind: 'failed', detail }
}
