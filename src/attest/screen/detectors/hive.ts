// Hive's detection of generated and deepfaked content, version 3 of its API. `output` has one element per frame; a
// picture has one. The classes of each head sum to 1, and `deepfake` is a class of its own.

import { z } from 'zod'
import { callDetector, type Detector, type DetectorDeps, readScores, score } from './detector.ts'
import { buildForm } from './multipart.ts'

export const HIVE_URL = 'https://api.thehive.ai/api/v3/hive/ai-generated-and-deepfake-content-detection'

const classes = z.array(z.object({ class: z.string().max(100), value: score })).max(500)
const answer = z.object({
  task_id: z.string().optional(),
  output: z.array(z.object({ classes })).min(1).max(100),
})

const VERDICTS = new Set(['ai_generated', 'not_ai_generated', 'deepfake', 'not_deepfake'])
const NO_SOURCE = new Set(['none', 'inconclusive', 'inconclusive_video'])

export function createHive(deps: DetectorDeps & { secret: string }): Detector {
  const { secret, version } = deps
  return {
    name: 'hive',
    version,
    contentTypes: new Set(['image/jpeg', 'image/png', 'image/webp']),
    async detect({ contentType, bytes, signal }) {
      const form = buildForm({}, { name: 'media', contentType, bytes })
      const headers = { authorization: `Bearer ${secret}`, 'content-type': form.contentType }
      const called = await callDetector(deps, { headers, body: form.body, signal })
      if ('detection' in called) return called.detection
      return readScores(answer, called.json, ({ output, task_id: taskId }) => {
        const highest = new Map<string, number>()
        for (const { class: name, value } of output.flatMap((frame) => frame.classes)) {
          highest.set(name, Math.max(value, highest.get(name) ?? 0))
        }
        return {
          genai: highest.get('ai_generated') ?? null,
          deepfake: highest.get('deepfake') ?? null,
          models: [...highest]
            .filter(([name]) => !VERDICTS.has(name) && !NO_SOURCE.has(name))
            .map(([model, share]) => ({ model, score: share })),
          vendorId: taskId ?? null,
        }
      })
    },
  }
}
