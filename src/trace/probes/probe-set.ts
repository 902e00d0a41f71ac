// The probes of a model and their card, as one file beside the model. The card says what each probe was measured to do; a
// set is only valid for the model whose hash it names.

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { modelError } from '../gguf/model-error.ts'
import type { LlamaShape } from '../llama/shape.ts'

export const PROBE_KINDS = ['residual', 'attention_provenance'] as const
export type ProbeKind = (typeof PROBE_KINDS)[number]
export const PROBE_STATUSES = ['measured', 'experimental'] as const
export type ProbeStatus = (typeof PROBE_STATUSES)[number]
export const AGGREGATOR = 'max_mean_8'
const MAX_FILE_BYTES = 8_000_000
/** A probe counts by default where it trips on at most this share of benign completions that the model made itself. */
export const MAX_GENERATED_RATE = 0.015

const name = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const share = z.number().min(0).max(1)
const count = z.number().int().min(0)

const measured = z.strictObject({
  positives: count,
  negatives: count,
  auc: share,
  /** Of the positives, at the threshold. */
  trip_rate: share,
  /** Of the negatives, at the threshold. */
  false_positive_rate: share,
})

const runsTripped = z.strictObject({ runs: count.min(1), trips: count })

const probeCard = z.strictObject({
  /** `experimental` where an AUC is below the bar of its family, or the probe fails on a control or on generated runs. */
  status: z.enum(PROBE_STATUSES),
  bar_auc: share,
  /** `held_out` and `controls` are of completions that a script wrote. */
  held_out: measured.extend({
    tpr_at_1_percent_fpr: share,
    tpr_interval_95: z.tuple([share, share]),
  }),
  controls: z.record(name, measured),
  /** The same probe, trained on one order of user and tool, and on both as it is here. */
  compared: z.array(
    z.strictObject({
      kind: z.enum(PROBE_KINDS),
      trained_on: z.enum(['one_order', 'both_orders']),
      held_out_auc: share,
      order_swapped_auc: share,
    }),
  ),
  known_failures: z.array(z.string().max(300)).max(10),
  /** Of benign completions that the model made itself. Absent: they were not measured. */
  generated: runsTripped.extend({ false_positive_rate: share, by_kind: z.record(name, runsTripped) }).optional(),
})

const probe = z.strictObject({
  family: name,
  kind: z.enum(PROBE_KINDS),
  /** null where it reads all layers. */
  layer: count.nullable(),
  aggregator: z.literal(AGGREGATOR),
  bias: z.number(),
  weights: z.array(z.number()).min(1).max(100_000),
  /** 0 would trip always. */
  threshold: z.number().gt(0).max(1),
  card: probeCard,
})

const probeSet = z.strictObject({
  set: name,
  version: name,
  model: z.strictObject({ name: z.string().max(120), sha256 }),
  /** Transcripts, as the SHA-256 of their lines. */
  datasets: z.record(name, z.strictObject({ transcripts: count, sha256 })),
  benign: z.strictObject({
    calibration: count,
    held_out: count,
    /** Of the held-out ones, those on which any family trips. */
    false_positive_rate_any_family: share,
  }),
  /** The runs that `generated` of each card counts. */
  generated: z
    .strictObject({
      prompts: z.strictObject({ runs: count.min(1), sha256 }),
      max_tokens: count.min(1),
      sampling: z.literal('greedy'),
      /** The share of these runs on which any family trips. */
      false_positive_rate_any_family: share,
    })
    .optional(),
  probes: z
    .array(probe)
    .min(1)
    .max(100)
    .refine(
      (probes) => probes.every(({ family }, index) => index === 0 || (probes[index - 1]?.family ?? '') < family),
      'the families must be sorted, and each there once',
    ),
})

export type ProbeSet = z.output<typeof probeSet>
export type Probe = ProbeSet['probes'][number]
export type ProbeCard = Probe['card']

/** @throws {ModelError} when the file is no set of probes, or one of another model. */
export function loadProbeSet(path: string, model: { sha256: string; shape: LlamaShape }): ProbeSet {
  const set = parseProbeSet(readText(path))
  if (set.model.sha256 !== model.sha256) throw invalid(`The probes in ${path} are those of another model file.`)
  const { layers, width, heads } = model.shape
  for (const { family, kind, layer, weights } of set.probes) {
    const isResidual = kind === 'residual'
    const expected = isResidual ? width : layers * heads
    const hasLayer = isResidual ? layer !== null && layer <= layers : layer === null
    if (weights.length === expected && hasLayer) continue
    throw invalid(`The probe of ${family} does not fit the model: ${expected} weights and a layer of it are needed.`)
  }
  return set
}

/**
 * A set as it is used: a card without figures of generated runs is experimental, whatever it says.
 * @throws {ModelError} naming the first member that is wrong.
 */
export function parseProbeSet(text: string): ProbeSet {
  const set = readProbeSet(text)
  return { ...set, probes: set.probes.map((probe) => ({ ...probe, card: judgedByGenerated(probe.card) })) }
}

function judgedByGenerated(card: ProbeCard): ProbeCard {
  const { status, generated, known_failures: failures } = card
  if (status === 'experimental') return card
  if (generated === undefined) {
    const failure = 'generated: it was not measured on completions of the model itself'
    return { ...card, status: 'experimental', known_failures: [...failures, failure] }
  }
  const isFailed = generated.trips / generated.runs > MAX_GENERATED_RATE
  return isFailed ? { ...card, status: 'experimental' } : card
}

/** The file as it is. @throws {ModelError} naming the first member that is wrong. */
export function readProbeSet(text: string): ProbeSet {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw modelError('model_file_invalid', 'The file of probes is not JSON.', error)
  }
  const parsed = probeSet.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(`The file of probes is wrong at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'unknown'}.`)
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path)
    if (bytes.length > MAX_FILE_BYTES) throw invalid(`The file of probes ${path} has more than 8 MB.`)
    return bytes.toString('utf8')
  } catch (error) {
    throw modelError('model_file_invalid', `The file of probes ${path} can not be read.`, error)
  }
}

const invalid = (sentence: string) => modelError('model_file_invalid', sentence)
