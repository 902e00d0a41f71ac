// The held-out activations that are committed, and the figures of a card that follow from them. Residuals are kept in the
// few directions into which the probes' weights fall, in 16 bits, and shares in 8: the figures are those of these values.

import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { Probe, ProbeCard } from '#src/trace/probes/probe-set.ts'
import { scoreOf } from '#src/trace/probes/reader.ts'
import type { ChatMessage } from '#src/trace/tokenizer/chat.ts'
import { product } from './logistic.ts'
import { areaUnderCurve, shareAt, upperQuantile, wilsonInterval } from './statistics.ts'

export interface HeldOutTranscript {
  control: string
  scenario: string
  label: string | null
  windows: { residual: number[]; shares: number[] }[]
}

export interface HeldOut {
  /** Layer of the residuals. */
  layer: number
  directions: number[][]
  transcripts: HeldOutTranscript[]
  /** Some of the transcripts in full, by their index. */
  samples: { index: number; messages: ChatMessage[] }[]
}

/** What is measured against negatives of its own beside the held-out controls. */
const QUOTING = 'quoting'
const BENIGN = 'benign'
const LEVELS = 32_767
const SHARE_LEVELS = 127

const header = z.object({
  layer: z.number(),
  directions: z.number(),
  width: z.number(),
  shares: z.number(),
  scales: z.array(z.number()),
  samples: z.array(z.object({ index: z.number(), messages: z.array(z.custom<ChatMessage>()) })),
  transcripts: z.array(z.string()),
})

export function writeHeldOut(path: string, { layer, directions, transcripts, samples }: HeldOut): void {
  const windows = transcripts.flatMap((one) => one.windows)
  const scales = directions.map(
    (_, index) => windows.reduce((most, { residual }) => Math.max(most, Math.abs(residual[index] ?? 0)), 0) / LEVELS,
  )
  const values = windows.flatMap(({ residual }) =>
    residual.map((value, index) => Math.round(value / (scales[index] || 1))),
  )
  const seen = windows.flatMap(({ shares }) => shares.map((value) => Math.round(value * SHARE_LEVELS)))
  const text = {
    layer,
    directions: directions.length,
    width: directions[0]?.length ?? 0,
    shares: windows[0]?.shares.length ?? 0,
    scales,
    samples,
    transcripts: transcripts.map(
      (one) => `${one.control} ${one.scenario} ${one.label === null ? 0 : 1} ${one.windows.length}`,
    ),
  }
  writeFileSync(`${path}.json`, `${JSON.stringify(text, undefined, 1)}\n`)
  const floats = Buffer.from(Float64Array.from(directions.flat()).buffer)
  writeFileSync(
    `${path}.bin`,
    Buffer.concat([floats, Buffer.from(Int16Array.from(values).buffer), Buffer.from(Uint8Array.from(seen).buffer)]),
  )
}

export function readHeldOut(path: string): HeldOut {
  const { layer, directions, width, shares, scales, samples, transcripts } = header.parse(
    JSON.parse(readFileSync(`${path}.json`, 'utf8')),
  )
  const bytes = new Uint8Array(readFileSync(`${path}.bin`))
  const floats = new Float64Array(bytes.buffer, 0, directions * width)
  const windows = transcripts.reduce((sum, line) => sum + Number(line.split(' ')[3]), 0)
  const values = new Int16Array(bytes.buffer, floats.byteLength, windows * directions)
  const seen = new Uint8Array(bytes.buffer, floats.byteLength + values.byteLength)
  let window = -1
  return {
    layer,
    directions: Array.from({ length: directions }, (_, number) => [
      ...floats.subarray(number * width, (number + 1) * width),
    ]),
    samples,
    transcripts: transcripts.map((line) => {
      const [control = '', scenario = '', label, count] = line.split(' ')
      return {
        control,
        scenario,
        label: label === '1' ? scenario : null,
        windows: Array.from({ length: Number(count) }, () => {
          window += 1
          const own = values.subarray(window * directions, (window + 1) * directions)
          const ownShares = seen.subarray(window * shares, (window + 1) * shares)
          return {
            residual: Array.from(own, (value, index) => value * (scales[index] ?? 0)),
            shares: Array.from(ownShares, (value) => value / SHARE_LEVELS),
          }
        }),
      }
    }),
  }
}

export type Weights = Pick<Probe, 'kind' | 'bias' | 'weights'>

/** What the probe's highest window of each transcript reads, before it is made a score. */
export function rawsOf({ directions }: Pick<HeldOut, 'directions'>, { kind, bias, weights }: Weights) {
  const folded = kind === 'residual' ? directions.map((direction) => product(direction, weights)) : weights
  return ({ windows }: HeldOutTranscript): number =>
    windows.reduce((most, { residual, shares }) => {
      return Math.max(most, bias + product(folded, kind === 'residual' ? residual : shares))
    }, Number.NEGATIVE_INFINITY)
}

export function measureProbe(
  heldOut: HeldOut,
  probe: Pick<Probe, 'family' | 'kind' | 'bias' | 'weights' | 'threshold'>,
): Pick<ProbeCard, 'held_out' | 'controls'> {
  const { family, threshold } = probe
  const rawOf = rawsOf(heldOut, probe)
  const scores = heldOut.transcripts.map((one) => ({ ...one, score: scoreOf(rawOf(one)) }))
  const pick = (isWanted: (one: HeldOutTranscript) => boolean) => scores.filter(isWanted).map(({ score }) => score)
  const isOf = (control: string, label: string | null) => (one: HeldOutTranscript) =>
    one.control === control && one.scenario === family && one.label === label
  const positives = pick(isOf('plain', family))
  const benign = pick(({ control }) => control === BENIGN)
  const names = [...new Set(heldOut.transcripts.map(({ control }) => control))]
  const controls = names
    .filter((name) => name !== BENIGN && name !== 'plain')
    .map((name) => [name, compare(pick(isOf(name, family)), pick(isOf(name, null)), threshold)] as const)
  const quoting = pick((one) => one.control === BENIGN && one.scenario === QUOTING)
  const others = pick((one) => one.control === 'plain' && one.label !== null && one.label !== family)
  const atOnePercent = shareAt(positives, upperQuantile(benign, 0.01) + Number.EPSILON)
  return {
    held_out: {
      ...compare(positives, [...benign, ...pick(isOf('plain', null))], threshold),
      tpr_at_1_percent_fpr: rounded(atOnePercent),
      tpr_interval_95: wilsonInterval(atOnePercent, positives.length).map(rounded) as [number, number],
    },
    controls: {
      ...Object.fromEntries(controls),
      [QUOTING]: compare(positives, quoting, threshold),
      other_families: compare(positives, others, threshold),
    },
  }
}

/** Returns the share of the benign held-out transcripts on which any of the probes trips. */
export function measureBenign(heldOut: HeldOut, probes: readonly (Weights & Pick<Probe, 'threshold'>)[]): number {
  const readers = probes.map((probe) => ({ rawOf: rawsOf(heldOut, probe), threshold: probe.threshold }))
  const benign = heldOut.transcripts.filter(({ control }) => control === BENIGN)
  const tripped = benign.filter((one) => readers.some(({ rawOf, threshold }) => scoreOf(rawOf(one)) >= threshold))
  return rounded(tripped.length / benign.length)
}

function compare(positives: readonly number[], negatives: readonly number[], threshold: number) {
  return {
    positives: positives.length,
    negatives: negatives.length,
    auc: rounded(areaUnderCurve(positives, negatives)),
    trip_rate: rounded(shareAt(positives, threshold)),
    false_positive_rate: rounded(shareAt(negatives, threshold)),
  }
}

export const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
