// Canary readings: one score for each family of behaviour, with the threshold from which on it trips.

import { z } from 'zod'
import type { ProbeStatus } from '../probes/probe-set.ts'
import { shownNumber } from './judge.ts'

/** From which score on a client's reading trips that names no threshold. */
const DEFAULT_THRESHOLD = 0.5
const MAX_READINGS = 100

export const canaryName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, 'must have 1 to 64 characters of a-z, 0-9, dot, underscore and hyphen')
// A threshold of 0 would trip always.
export const threshold = z.number().gt(0).max(1)

/** A reading as it is stored and compared: numbers have all digits. `shownReading` makes what callers see. */
export interface Reading {
  family: string
  score: number
  raw: number | null
  threshold: number
  /** Whether the score reaches the probe's own threshold. */
  tripped: boolean
  probe_version: string | null
  layer: number | null
  aggregator: string | null
  n_tokens: number | null
  /** Status in the card of the probe. Absent in a client's readings. */
  probe_status?: ProbeStatus
}

const label = z.string().min(1).max(100)
const count = z.number().int().min(0).max(10_000_000)

export const readingsBody = z
  .array(
    z
      .strictObject({
        family: canaryName,
        score: z.number().min(0).max(1),
        threshold: threshold.default(DEFAULT_THRESHOLD),
        raw: z.number().nullable().optional().describe('Value before it was converted to a score.'),
        probe_version: label.nullable().optional(),
        layer: count.nullable().optional(),
        aggregator: label.nullable().optional(),
        n_tokens: count.nullable().optional(),
      })
      .meta({ id: 'ClientCanaryReading' }),
  )
  .min(1)
  .max(MAX_READINGS)
  .superRefine((readings, context) => {
    readings.forEach(({ family }, index) => {
      if (readings.findIndex((one) => one.family === family) === index) return
      context.addIssue({
        code: 'custom',
        path: [index, 'family'],
        message: 'is read twice',
        params: { code: 'duplicate' },
      })
    })
  })

export type ReadingsBody = z.output<typeof readingsBody>

/** The form that is stored: sorted, so that equal readings have equal hashes. */
export function toReadings(body: ReadingsBody): Reading[] {
  return body
    .map((one) => ({
      family: one.family,
      score: one.score,
      raw: one.raw ?? null,
      threshold: one.threshold,
      tripped: one.score >= one.threshold,
      probe_version: one.probe_version ?? null,
      layer: one.layer ?? null,
      aggregator: one.aggregator ?? null,
      n_tokens: one.n_tokens ?? null,
    }))
    .toSorted((a, b) => (a.family < b.family ? -1 : 1))
}

/** The form that is shown and hashed. */
export function shownReading(reading: Reading): Reading {
  const { score, raw, threshold } = reading
  return {
    ...reading,
    score: shownNumber(score),
    raw: raw === null ? null : shownNumber(raw),
    threshold: shownNumber(threshold),
  }
}
