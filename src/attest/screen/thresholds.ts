// Turns scores into factors. Pure: the same scores and thresholds give the same factors.

import { type AdvisoryFactor, advisory } from '../factors/table.ts'

/** Scores from 0 to 1: from `review` on a person should check, from `likely` on it is a factor. */
export interface Threshold {
  review: number
  likely: number
}

export interface Thresholds {
  genai: Threshold
  deepfake: Threshold
}

export const DEFAULT_THRESHOLDS: Thresholds = {
  genai: { review: 0.5, likely: 0.8 },
  deepfake: { review: 0.5, likely: 0.8 },
}

export interface Scores {
  /** Null: the detector gave no such score. Never a made-up number. */
  genai: number | null
  deepfake: number | null
}

export interface ScoredBy {
  detector: string
  version: string
  screeningId: string
}

export type ScreeningCode = 'ai_generated_likely' | 'deepfake_likely'
export const SCREENING_CODES = ['ai_generated_likely', 'deepfake_likely'] as const satisfies ScreeningCode[]

const MODELS = [
  { model: 'genai', code: 'ai_generated_likely' },
  { model: 'deepfake', code: 'deepfake_likely' },
] as const satisfies { model: keyof Scores; code: ScreeningCode }[]

/** Advisory, whatever the score: a detector's opinion is no proof, and a low score does not prove the opposite. */
export function judgeScores(scores: Scores, thresholds: Thresholds, by: ScoredBy): AdvisoryFactor<ScreeningCode>[] {
  return MODELS.flatMap(({ model, code }) => {
    const score = scores[model]
    const { likely } = thresholds[model]
    if (score === null || score < likely) return []
    return advisory(code, {
      compared: `${model} score of the detector with the threshold of the account`,
      expected: `below ${likely}`,
      found: score,
      detector: by.detector,
      detector_version: by.version,
      screening_id: by.screeningId,
    })
  })
}

/** Whether a person should check; null without a score. */
export function needsReview(scores: Scores, thresholds: Thresholds): boolean | null {
  const known = MODELS.flatMap(({ model }) => scores[model] ?? []).length
  if (known === 0) return null
  return MODELS.some(({ model }) => (scores[model] ?? -1) >= thresholds[model].review)
}
