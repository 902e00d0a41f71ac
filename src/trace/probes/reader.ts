// Takes the canary readings of a completion while it is made. Pure: the same internals and probes give the same readings.

import { modelError } from '../gguf/model-error.ts'
import type { Probe, ProbeSet, ProbeStatus } from './probe-set.ts'
import {
  type Completion,
  endsWindow,
  readAttentionShares,
  readResidual,
  type TokenWindow,
  windowUpTo,
} from './windows.ts'

/** Reading as it is stored, with all digits: a threshold is compared with these. */
export interface ProbeReading {
  family: string
  /** Score of the window with the highest one. */
  score: number
  /** Before it was made a score: the logarithm of the odds. */
  raw: number
  threshold: number
  tripped: boolean
  probe_version: string
  layer: number | null
  aggregator: string
  n_tokens: number
  /** Status in the probe's card. */
  probe_status: ProbeStatus
}

/** Scores as they are stored and shown, to a millionth: nothing is decided by them. */
export interface WindowScores {
  /** The window ends with this token of the completion. */
  n_tokens: number
  scores: { family: string; score: number }[]
}

export interface ProbeReader {
  /** Called when a token was chosen, with the number of tokens so far. Returns whether its window was read. */
  advance(tokens: number): boolean
  /** Called when the completion has ended. */
  finish(tokens: number): void
  /** Returns the readings of all windows so far, by family. */
  readings(): ProbeReading[]
  /** Each window that was read, in order. */
  windows(): WindowScores[]
}

export function createProbeReader({ version, probes }: Pick<ProbeSet, 'version' | 'probes'>, completion: Completion) {
  const highest = new Map<string, number>()
  const windows: WindowScores[] = []

  function read(window: TokenWindow): void {
    const raws = readWindow(probes, completion, window)
    probes.forEach(({ family }, index) => {
      highest.set(family, Math.max(highest.get(family) ?? Number.NEGATIVE_INFINITY, raws[index] ?? 0))
    })
    const scores = probes.map(({ family }, index) => ({ family, score: rounded(scoreOf(raws[index] ?? 0)) }))
    windows.push({ n_tokens: window.end, scores })
  }

  const reader: ProbeReader = {
    advance(tokens) {
      if (!endsWindow(tokens)) return false
      read(windowUpTo(tokens))
      return true
    },
    finish(tokens) {
      const end = Math.max(tokens, 1)
      if (windows.at(-1)?.n_tokens !== end) read(windowUpTo(end))
    },
    readings: () => {
      const tokens = windows.at(-1)?.n_tokens ?? 0
      return probes.map((probe) => toReading(probe, version, highest.get(probe.family) ?? 0, tokens))
    },
    windows: () => windows,
  }
  return reader
}

/** What each probe reads of one window, in their order. */
function readWindow(probes: readonly Probe[], completion: Completion, window: TokenWindow): number[] {
  const features = new Map<string, Float64Array>()
  return probes.map((probe) => {
    const key = probe.kind === 'residual' ? `residual ${probe.layer}` : probe.kind
    const known = features.get(key)
    const values = known ?? readFeatures(probe, completion, window)
    if (known === undefined) features.set(key, values)
    const raw = rawOf(probe, values)
    // No score would be below every threshold.
    if (!Number.isFinite(raw)) throw modelError('model_file_invalid', `The probe of ${probe.family} reads no number.`)
    return raw
  })
}

function readFeatures(probe: Pick<Probe, 'kind' | 'layer'>, completion: Completion, window: TokenWindow) {
  return probe.kind === 'residual'
    ? readResidual(completion, probe.layer ?? 0, window)
    : readAttentionShares(completion, window)
}

export function rawOf({ bias, weights }: Pick<Probe, 'bias' | 'weights'>, features: ArrayLike<number>): number {
  let raw = bias
  for (let index = 0; index < weights.length; index += 1) raw += (weights[index] ?? 0) * (features[index] ?? 0)
  return raw
}

export const scoreOf = (raw: number): number => 1 / (1 + Math.exp(-raw))

function toReading(probe: Probe, version: string, raw: number, tokens: number): ProbeReading {
  const score = scoreOf(raw)
  return {
    family: probe.family,
    score,
    raw,
    threshold: probe.threshold,
    tripped: score >= probe.threshold,
    probe_version: version,
    layer: probe.layer,
    aggregator: probe.aggregator,
    n_tokens: tokens,
    probe_status: probe.card.status,
  }
}

const MILLION = 1e6

// Adding 0 turns -0 into 0, which JSON could not tell apart.
const rounded = (value: number): number => Math.round(value * MILLION) / MILLION + 0
