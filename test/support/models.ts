// The models that tests run: the one in the repository, and SmolLM2 where it was fetched (`npm run model -- fetch smollm2`).

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
export const TINY = join(ROOT, 'src/trace/models/countersign-tiny-1.0.gguf')

const FOLDER = process.env.TRACE_MODEL_DIR || join(ROOT, '.data/models')
const SMOLLM2_FILE = join(FOLDER, 'smollm2-135m-instruct.gguf')

/** Undefined where it was not fetched; with `CI` set its absence is a failure. */
export const SMOLLM2 = existsSync(SMOLLM2_FILE) ? SMOLLM2_FILE : undefined
if (SMOLLM2 === undefined && process.env.CI) throw new Error(`SmolLM2 is not at ${SMOLLM2_FILE}: fetch it first`)

/** For titles of tests that are skipped without it. */
export const SMOLLM2_NOTE = SMOLLM2 === undefined ? ' (skipped: SmolLM2 is not in TRACE_MODEL_DIR)' : ''
