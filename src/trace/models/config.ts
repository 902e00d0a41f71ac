import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { count, defineConfig, list, number, readableBy, type SettingsOf } from '#src/platform/config-keys.ts'
import { isModelId } from './model-files.ts'

export type ModelSettings = SettingsOf<typeof modelsConfig>

// How the configuration names models that run elsewhere.
const REMOTE_KINDS = ['openai', 'neuronpedia'] as const
export type RemoteKind = (typeof REMOTE_KINDS)[number]

/** One of `TRACE_MODELS`: `name=openai+https://host/v1#model`. */
export interface RemoteModel {
  kind: RemoteKind
  /** Without a slash at its end, and without user name, query and fragment. */
  address: string
  /** As the server calls it. */
  model: string
}

/** One of `TRACE_MODELS`: a model of the folder, or with `path` a file elsewhere. */
export interface ModelEntry {
  id: string
  path: string | undefined
  /** One that runs elsewhere. */
  remote: RemoteModel | undefined
}

const ACCELERATORS = ['none', 'onnxruntime'] as const

const MAX_MODELS = 32
const ENTRY = /^(openai|neuronpedia)\+(https?:\/\/[^#]+)#([\w.:@/-]{1,128})$/

const megabytes = (least: number, most: number, fallback: number) =>
  number.min(least, `must be ${least} to ${most}`).max(most, `must be ${least} to ${most}`).default(fallback)

export const modelsConfig = defineConfig({
  title: 'Models',
  keys: {
    TRACE_MODELS: readableBy(list, parseModelEntries).describe(
      'Models that run, separated by commas: names of the folder, name=/path/to/file.gguf, exported decoders name=/path/to/model.onnx, or elsewhere (docs/trace/backends.md) name=openai+https://host/v1#model. The first is the default. Without it all of the folder, and the one of the service.',
    ),
    TRACE_MODEL_KEYS: readableBy(list, parseModelKeys).describe(
      'Keys of the servers of models elsewhere, separated by commas: name=key.',
    ),
    TRACE_MODEL_DIR: z
      .string()
      .optional()
      .describe('Folder of language models. `npm start` uses `.data/models`. See docs/trace/trace.md.'),
    TRACE_QUEUE_DEPTH: count(100).describe(
      'Requests that may wait for one model in a process; beyond that the newest of the account with most is answered 503.',
    ),
    TRACE_QUEUE_DEPTH_EACH: count(20).describe(
      'Requests of one account that may wait for one model, of TRACE_QUEUE_DEPTH.',
    ),
    TRACE_LIMIT_SECONDS: count(120).describe('How long one inference may take, its wait not included.'),
    TRACE_IDLE_SECONDS: count(600).describe('A model that nobody asks gives its memory back after this time.'),
    TRACE_CONTEXT_TOKENS: number
      .min(64, 'must be 64 to 32768')
      .max(32_768, 'must be 64 to 32768')
      .default(2_048)
      .describe('The longest text of a model, prompt and completion together. Its memory is reserved.'),
    TRACE_ACCELERATOR: z
      .enum(ACCELERATORS, 'must be none or onnxruntime')
      .default('none')
      .describe(
        '`onnxruntime`: attribution and interventions run in the optional package onnxruntime-node, in half the time and with other last bits (docs/trace/attribution.md).',
      ),
    TRACE_MODEL_MEGABYTES: megabytes(64, 16_000, 1_000).describe(
      'Memory for the weights and the context of one model, and for its weights as floats where it is accelerated.',
    ),
    TRACE_PROCESS_MEGABYTES: megabytes(128, 32_000, 1_600).describe(
      'Memory of one model’s process; above that it ends itself, and its request is answered 503.',
    ),
  },
  problems({ MODE, TRACE_MODELS = '' }) {
    const isPlain = MODE === 'production' && /\+http:/.test(TRACE_MODELS)
    return isPlain ? ['TRACE_MODELS: models elsewhere must have https addresses in production'] : []
  },
})

/** @throws {Error} naming the entry that is wrong. */
export function parseModelEntries(entries: readonly string[]): ModelEntry[] {
  if (entries.length > MAX_MODELS) throw new Error(`must have at most ${MAX_MODELS} models`)
  const parsed = entries.map((entry) => {
    const [id = '', ...rest] = entry.split('=')
    const path = rest.length === 0 ? undefined : rest.join('=')
    if (!isModelId(id)) throw new Error(`${entry}: names no model; use 1 to 64 of a-z, 0-9, ".", "_" and "-"`)
    const remote = path === undefined ? undefined : parseRemoteOf(id, path)
    if (remote !== undefined) return { id, path: undefined, remote }
    if (path !== undefined && !isAbsolute(path)) throw new Error(`${entry}: must name an absolute path`)
    return { id, path, remote: undefined }
  })
  const twice = parsed.find(({ id }, index) => parsed.findIndex((one) => one.id === id) !== index)
  if (twice !== undefined) throw new Error(`${twice.id}: is named twice`)
  return parsed
}

/** By model. @throws {Error} naming the entry that is wrong, and no key. */
export function parseModelKeys(entries: readonly string[]): Map<string, string> {
  return new Map(
    entries.map((entry, index) => {
      const [id = '', ...rest] = entry.split('=')
      const key = rest.join('=')
      // A line break would end the header.
      if (!isModelId(id) || !/^[\x21-\x7e]{1,512}$/.test(key)) throw new Error(`entry ${index + 1}: must be name=key`)
      return [id, key] as const
    }),
  )
}

/** undefined: it does not look like one. @throws {Error} saying what is wrong. */
function parseRemote(text: string): RemoteModel | undefined {
  if (!REMOTE_KINDS.some((kind) => text.startsWith(`${kind}+`))) return undefined
  const [, kind, url = '', model = ''] = ENTRY.exec(text) ?? []
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address === undefined) throw new Error('must be KIND+https://host/path#model, with KIND openai or neuronpedia')
  if (address.username !== '' || address.password !== '' || address.search !== '') {
    throw new Error('must have no user name and no query: keys are in TRACE_MODEL_KEYS')
  }
  return { kind: kind as RemoteKind, address: address.href.replace(/\/+$/, ''), model }
}

function parseRemoteOf(id: string, text: string): RemoteModel | undefined {
  try {
    return parseRemote(text)
  } catch (error) {
    throw new Error(`${id}: ${error instanceof Error ? error.message : 'can not be read'}`, { cause: error })
  }
}
