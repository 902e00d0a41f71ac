// What neurons react to: the words around the tokens that activated each one most in a committed corpus, computed offline by
// tools/trace-labels. A hint for people, no proof: the words are those of the corpus.

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { modelError } from '../gguf/model-error.ts'

export interface Labels {
  find(layer: number, neuron: number): string | undefined
}

// A thousand neurons have 60 kB.
const MAX_BYTES = 16_000_000
const MAX_LABEL = 120

const labelsFile = z.strictObject({
  format: z.literal('countersign-labels'),
  format_version: z.literal(1),
  model_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of the texts that were read, and the program that made them. */
  corpus: z.strictObject({
    generator: z.string(),
    transcripts: z.number().int(),
    sha256: z.string(),
  }),
  /** A list for each layer; an empty label where no token activates the neuron. */
  labels: z.array(z.array(z.string().max(MAX_LABEL))),
})

export const NO_LABELS: Labels = { find: () => undefined }

/** @throws {ModelError} when the file is none, or belongs to another model. */
export function loadLabels(path: string, sha256: string): Labels {
  const bytes = readFileSync(path)
  if (bytes.length > MAX_BYTES) throw modelError('model_file_invalid', `${path} is no file of labels.`)
  const { labels, model_sha256 } = labelsFile.parse(JSON.parse(bytes.toString('utf8')))
  if (model_sha256 !== sha256) throw modelError('model_file_invalid', `The labels at ${path} are of another model.`)
  return { find: (layer, neuron) => labels[layer]?.[neuron] || undefined }
}
