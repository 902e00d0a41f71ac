// Canary readings: one score for each family of behaviour, with the threshold from which on it trips.

import { z } from 'zod'
import type { ProbeStatus } from '../probes/probe-set.ts'

/** From which score on a client's reading trips that names no threshold. */
const DEFAULT_THRESHOLD = 0.5
const MAX_READINGS = 100

export const canaryName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, 'must have 1 to 64 characters of a-z, 0-9, dot, underscore and hyphen')
// A threshold of 0 would trip always.
export const threshold = z.number().gt(0).max(1)

/** As stored, as hashed and as shown. */
export interface Reading {
  family: string
  score: number
  raw: number | null
  threshold: number
  /** By its own threshold. */
  tripped: boolean
  probe_version: string | null
  layer: number | null
  aggregator: string | null
  n_tokens: number | null
  /** As the card of the probe says. Absent of a client's readings. */
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
        raw: z.number().nullable().optional().describe('Before it was made a score.'),
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

/** The form that is stored and hashed: rounded to 1e-6 and sorted, so that equal readings have equal hashes. */
export function toReadings(body: ReadingsBody): Reading[] {
  return body
    .map((one) => {
      const [score, limit] = [rounded(one.score), rounded(one.threshold)]
      return {
        family: one.family,
        score,
        raw: one.raw === undefined || one.raw === null ? null : rounded(one.raw),
        threshold: limit,
        tripped: score >= limit,
        probe_version: one.probe_version ?? null,
        layer: one.layer ?? null,
        aggregator: one.aggregator ?? null,
        n_tokens: one.n_tokens ?? null,
      }
    })
    .toSorted((a, b) => (a.family < b.family ? -1 : 1))
}

const MILLION = 1e6

function rounded(value: number): number {
  const result = Math.round(value * MILLION) / MILLION
  // A number beyond 1e302 has no digits there.
  return Number.isFinite(result) ? result : value
}
