// What neurons react to: the words around the tokens that activated each one most in a committed corpus, computed offline by
// tools/trace-labels. A hint for people, no proof: the words are those of the corpus.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
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
  /** Texts that were read, and the program that made them. */
  corpus: z.strictObject({
    generator: z.string(),
    transcripts: z.number().int(),
    sha256: z.string(),
  }),
  /** A list for each layer; an empty label where no token activates the neuron. */
  labels: z.array(z.array(z.string().max(MAX_LABEL))),
})

const NO_LABELS: Labels = { find: () => undefined }

/** The labels of a folder, by the hash of the model that they are of. A folder is read once. */
export function createFindLabels(folder: URL): (sha256: string) => Labels {
  let files: Map<string, string> | undefined
  const loaded = new Map<string, Labels>()
  return (sha256) => {
    files ??= new Map(listLabels(folder).map(({ path, of }) => [of, path]))
    const path = files.get(sha256)
    const labels = loaded.get(sha256) ?? (path === undefined ? NO_LABELS : loadLabels(path, sha256))
    if (path !== undefined) loaded.set(sha256, labels)
    return labels
  }
}

function listLabels(folder: URL): { path: string; of: string }[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.labels.json'))
  return names.map((name) => {
    const path = fileURLToPath(new URL(name, folder))
    return { path, of: readLabels(path).model_sha256 }
  })
}

/** @throws {ModelError} when the file has no labels, or belongs to another model. */
export function loadLabels(path: string, sha256: string): Labels {
  const { labels, model_sha256 } = readLabels(path)
  if (model_sha256 !== sha256) throw modelError('model_file_invalid', `The labels at ${path} are of another model.`)
  return { find: (layer, neuron) => labels[layer]?.[neuron] || undefined }
}

function readLabels(path: string): z.output<typeof labelsFile> {
  const bytes = readFileSync(path)
  if (bytes.length > MAX_BYTES) throw modelError('model_file_invalid', `${path} is no file of labels.`)
  return labelsFile.parse(JSON.parse(bytes.toString('utf8')))
}
