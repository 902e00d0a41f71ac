// The tokenizer beside an exported decoder (`tokenizer.json`), as the service's own reads it: byte-level BPE with a
// pre-tokenizer that is known. Any other step would give other tokens without a word, so it is refused.

import type { MetadataValue } from '../gguf/gguf.ts'
import { modelError } from '../gguf/model-error.ts'
import { type ChatTemplate, createChatTemplate } from '../tokenizer/chat.ts'
import { createTokenizer, type Tokenizer } from '../tokenizer/tokenizer.ts'
import type { ExportedFiles } from './files.ts'

type Members = Record<string, unknown>

const KIND = { normal: 1, control: 3, defined: 4 }
const MAX_TOKENS = 1_000_000
// What Llama 3 splits its texts by, as its file writes it.
const LLAMA_3 =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/** @throws {ModelError} naming the step that is not supported. */
export function readTokenizer(files: ExportedFiles): { tokenizer: Tokenizer; chat: ChatTemplate | undefined } {
  const {
    model,
    added_tokens: added,
    normalizer,
    pre_tokenizer: pre,
    post_processor: post,
  } = membersOf(files.tokenizer)
  const { type, vocab, merges, ignore_merges: ignoresMerges = false } = membersOf(model)
  if (type !== undefined && type !== 'BPE') throw unsupported(`the kind ${quoted(type)}`)
  const steps = normalizer === null || normalizer === undefined ? [] : stepsOf(normalizer, 'normalizers')
  if (steps.length > 0) throw unsupported(`the normalizer ${quoted(steps[0]?.type)}`)
  for (const name of ['unk_token', 'continuing_subword_prefix', 'end_of_word_suffix', 'dropout'] as const) {
    // Unknown bytes do not occur in a byte-level vocabulary, so the token for them is never used.
    const value = membersOf(model)[name]
    if (name !== 'unk_token' && value !== null && value !== undefined && value !== '' && value !== 0) {
      throw unsupported(`the member ${name}`)
    }
  }
  const names = namesOf(vocab, added)
  const kinds = names.map(() => KIND.normal)
  for (const { id, special } of added as { id: number; special?: unknown }[]) {
    kinds[id] = special === true ? KIND.control : KIND.defined
  }
  const splitter = splitterOf(pre, ignoresMerges === true)
  const tokenOf = (name: unknown) => {
    const text = typeof name === 'object' && name !== null ? membersOf(name).content : name
    const token = typeof text === 'string' ? names.indexOf(text) : -1
    return token === -1 ? undefined : token
  }
  const first = tokenOf(files.tokenizerConfig.bos_token)
  const ends = endsOf(files, tokenOf)
  for (const token of [...specialNames(files).map(tokenOf), ...ends]) {
    if (token !== undefined && kinds[token] === KIND.defined) kinds[token] = KIND.control
  }
  const metadata = new Map<string, MetadataValue>(
    Object.entries({
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': splitter,
      'tokenizer.ggml.tokens': names,
      'tokenizer.ggml.token_type': kinds,
      'tokenizer.ggml.merges': mergesOf(merges),
      'tokenizer.ggml.add_bos_token': beginsBy(files, post),
    }),
  )
  if (first !== undefined) metadata.set('tokenizer.ggml.bos_token_id', first)
  const made = createTokenizer(metadata)
  const tokenizer = { ...made, endTokens: new Set(ends) }
  return { tokenizer, chat: findChat(files.chatTemplate, tokenizer) }
}

function namesOf(vocab: unknown, added: unknown): string[] {
  const entries = Object.entries(membersOf(vocab))
  const more = Array.isArray(added) ? added.map(membersOf).map(({ content, id }) => [content, id] as const) : undefined
  if (more === undefined) throw invalid('has no list of added tokens')
  const names: string[] = []
  const all = [...entries, ...more]
  for (const [name, token] of all) {
    const isToken = typeof token === 'number' && Number.isInteger(token) && token >= 0 && token < MAX_TOKENS
    if (!isToken || typeof name !== 'string') throw invalid(`has a token with the number ${quoted(token)}`)
    if (names[token] !== undefined && names[token] !== name) throw invalid(`has two tokens with the number ${token}`)
    names[token] = name
  }
  if (names.length > all.length + 100_000) throw invalid('has numbers of tokens far beyond their count')
  // Numbers without a token.
  return Array.from(names, (name) => name ?? '')
}

function mergesOf(merges: unknown): string[] {
  if (!Array.isArray(merges)) throw invalid('has no merges')
  return merges.map((merge: unknown) => {
    const pair = Array.isArray(merge) && merge.length === 2 ? merge.join(' ') : merge
    if (typeof pair !== 'string') throw invalid('has a merge that is no pair')
    return pair
  })
}

/** The name that files of llama.cpp give to the same pre-tokenizer. */
function splitterOf(pre: unknown, isWholeFirst: boolean): string {
  const steps = stepsOf(pre, 'pretokenizers')
  const last = steps.at(-1)
  if (last?.type !== 'ByteLevel' || last.add_prefix_space === true) {
    throw unsupported(
      `the pre-tokenizer ${quoted(last?.type)}; the last step must be ByteLevel without a space in front`,
    )
  }
  const [step, ...others] = steps.slice(0, -1)
  const splits = last.use_regex !== false
  if (step === undefined && splits && !isWholeFirst) return 'gpt-2'
  if (others.length === 0 && step?.type === 'Digits' && step.individual_digits === true && splits && !isWholeFirst) {
    return 'smollm'
  }
  const isLlama3 = step?.type === 'Split' && membersOf(step.pattern).Regex === LLAMA_3 && step.behavior === 'Isolated'
  if (others.length === 0 && isLlama3 && step.invert !== true && !splits && isWholeFirst) return 'llama-bpe'
  throw unsupported(`the pre-tokenizer ${steps.map(({ type }) => quoted(type)).join(', ')} with these settings`)
}

/** Whether a text begins with the first token: by the template that is put around texts, or the configuration. */
function beginsBy({ tokenizerConfig }: ExportedFiles, post: unknown): boolean {
  const steps = post === null || post === undefined ? [] : stepsOf(post, 'processors')
  const template = steps.find(({ type }) => type === 'TemplateProcessing')
  if (template !== undefined) {
    const [head] = Array.isArray(template.single) ? template.single : []
    return membersOf(head).SpecialToken !== undefined
  }
  return tokenizerConfig.add_bos_token === true
}

/** What the configuration calls special, whatever the list of added tokens says of it. */
function specialNames({ tokenizerConfig: { additional_special_tokens: more, ...config } }: ExportedFiles): unknown[] {
  const named = Object.keys(config).filter((member) => member.endsWith('_token'))
  return [...named.map((member) => config[member]), ...(Array.isArray(more) ? more : [])]
}

function endsOf(files: ExportedFiles, tokenOf: (name: unknown) => number | undefined): number[] {
  const listed = files.generationConfig.eos_token_id ?? files.config.eos_token_id ?? files.builderConfig.eos_token_id
  const numbers = (Array.isArray(listed) ? listed : [listed]).filter((one) => typeof one === 'number')
  const named = tokenOf(files.tokenizerConfig.eos_token)
  return [...new Set([...numbers, ...(named === undefined ? [] : [named])])]
}

function findChat(template: unknown, tokenizer: Tokenizer): ChatTemplate | undefined {
  try {
    return createChatTemplate(template, tokenizer)
  } catch {
    // Not an error until a conversation is given to it.
    return undefined
  }
}

/** One step, or the list of them. */
function stepsOf(value: unknown, member: string): (Members & { type?: unknown })[] {
  const one = membersOf(value)
  if (one.type !== 'Sequence') return [one]
  const list = one[member]
  return Array.isArray(list) ? list.map(membersOf) : []
}

function membersOf(value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw invalid('lacks a part')
}

const invalid = (reason: string) => modelError('model_file_invalid', `tokenizer.json ${reason}.`)
const unsupported = (what: string) =>
  modelError('model_unsupported', `tokenizer.json has ${what}, which is not supported.`)
const quoted = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value)?.slice(0, 60))
