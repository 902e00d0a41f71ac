// Evaluation sets: the conversations that both models of a diff answer. One comes with the service, others are an
// account's own.

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { chatMessage } from '../canaries/input.ts'

/** Most prompts of one set. Twice as many make intervals smaller by a third only. */
export const MAX_PROMPTS = 2_000
/** Most messages of one prompt. */
export const MAX_MESSAGES = 16
const MAX_CONTENT_CHARACTERS = 16_000
export const MAX_SET_BYTES = 4_000_000
/** The name of the set that comes with the service. */
export const DEFAULT_EVAL_SET = 'default'

export const evalPrompt = z
  .strictObject({
    messages: z
      .array(chatMessage)
      .min(1)
      .max(MAX_MESSAGES)
      .refine((all) => all.every(({ content }) => content !== '' && content.length <= MAX_CONTENT_CHARACTERS), {
        message: `must have messages of 1 to ${MAX_CONTENT_CHARACTERS} characters`,
        params: { code: 'out_of_range' },
      })
      .refine((messages) => messages.at(-1)?.role !== 'assistant', {
        message: 'must end before the answer of the assistant, which the models give',
        params: { code: 'ends_with_answer' },
      }),
  })
  .meta({ id: 'EvalPrompt' })

export type EvalPrompt = z.output<typeof evalPrompt>

export interface EvalPrompts {
  name: string
  /** Hash of the prompts' canonical JSON (RFC 8785), in hexadecimal. */
  sha256: string
  prompts: readonly EvalPrompt[]
}

const DEFAULT_FILE = new URL('./default-eval-set.jsonl', import.meta.url)

let known: EvalPrompts | undefined

/** The committed set, read once. */
export function readDefaultEvalSet(): EvalPrompts {
  known ??= parseEvalFile(DEFAULT_EVAL_SET, readFileSync(DEFAULT_FILE, 'utf8'))
  return known
}

/**
 * A file with one prompt in each line.
 * @throws {Failure} `invalid_request` naming the line; `payload_too_large`.
 */
export function parseEvalFile(name: string, text: string): EvalPrompts {
  if (Buffer.byteLength(text) > MAX_SET_BYTES) {
    throw new Failure('payload_too_large', `An evaluation set has at most ${MAX_SET_BYTES} bytes.`)
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0 || lines.length > MAX_PROMPTS) {
    throw new Failure('invalid_request', `An evaluation set has 1 to ${MAX_PROMPTS} prompts; this has ${lines.length}.`)
  }
  return evalPromptsOf(
    name,
    lines.map((line, index) => parseLine(line, index + 1)),
  )
}

export function evalPromptsOf(name: string, prompts: readonly EvalPrompt[]): EvalPrompts {
  return { name, prompts, sha256: sha256(canonicalPrompts(prompts)).toString('hex') }
}

export function canonicalPrompts(prompts: readonly EvalPrompt[]): string {
  return canonicalize(
    prompts.map(({ messages }) => ({ messages: messages.map(({ role, content }) => ({ role, content })) })),
  )
}

function parseLine(line: string, number: number): EvalPrompt {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw new Failure('invalid_request', { detail: `Line ${number} of the evaluation set is not JSON.`, cause })
  }
  const parsed = evalPrompt.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Failure(
    'invalid_request',
    `Line ${number} of the evaluation set is wrong at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'unknown'}.`,
  )
}
