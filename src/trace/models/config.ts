import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { count, defineConfig, list, number, readableBy, type SettingsOf } from '#src/platform/config-keys.ts'
import { isModelId } from './model-files.ts'

export type ModelSettings = SettingsOf<typeof modelsConfig>

/** One of `TRACE_MODELS`: a model of the folder, or with `path` a file elsewhere. */
export interface ModelEntry {
  id: string
  path: string | undefined
}

const MAX_MODELS = 32

const megabytes = (least: number, most: number, fallback: number) =>
  number.min(least, `must be ${least} to ${most}`).max(most, `must be ${least} to ${most}`).default(fallback)

export const modelsConfig = defineConfig({
  keys: {
    TRACE_MODELS: readableBy(list, parseModelEntries).describe(
      'Models that run, separated by commas: names of the folder, or name=/path/to/file.gguf. The first is the default. Without it all of the folder, and the one of the service.',
    ),
    TRACE_MODEL_DIR: z.string().optional().describe('Folder of language models. `npm start` uses `.data/models`.'),
    TRACE_QUEUE_DEPTH: count(100).describe('Requests that may wait for one model in a process; more are answered 503.'),
    TRACE_QUEUE_DEPTH_EACH: count(20).describe('Of them, how many may be of one account.'),
    TRACE_LIMIT_SECONDS: count(120).describe('How long one inference may take, its wait not included.'),
    TRACE_IDLE_SECONDS: count(600).describe('A model that nobody asks gives its memory back after this time.'),
    TRACE_CONTEXT_TOKENS: number
      .min(64, 'must be 64 to 32768')
      .max(32_768, 'must be 64 to 32768')
      .default(2_048)
      .describe('The longest text of a model, prompt and completion together. Its memory is reserved.'),
    TRACE_MODEL_MEGABYTES: megabytes(64, 16_000, 1_000).describe(
      'Memory for the weights and the context of one model.',
    ),
    TRACE_PROCESS_MEGABYTES: megabytes(128, 32_000, 1_600).describe(
      'Memory of one model’s process; above that it ends itself, and its request is answered 503.',
    ),
  },
})

/** @throws {Error} naming the entry that is wrong. */
export function parseModelEntries(entries: readonly string[]): ModelEntry[] {
  if (entries.length > MAX_MODELS) throw new Error(`must have at most ${MAX_MODELS} models`)
  const parsed = entries.map((entry) => {
    const [id = '', ...rest] = entry.split('=')
    const path = rest.length === 0 ? undefined : rest.join('=')
    if (!isModelId(id)) throw new Error(`${entry}: names no model; use 1 to 64 of a-z, 0-9, ".", "_" and "-"`)
    if (path !== undefined && !isAbsolute(path)) throw new Error(`${entry}: must name an absolute path`)
    return { id, path }
  })
  const twice = parsed.find(({ id }, index) => parsed.findIndex((one) => one.id === id) !== index)
  if (twice !== undefined) throw new Error(`${twice.id}: is named twice`)
  return parsed
}
