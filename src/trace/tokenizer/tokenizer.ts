// The tokenizer that is in a model file: byte-level BPE, as GPT-2, SmolLM2 and Llama 3 have it.

import type { MetadataValue } from '../gguf/gguf.ts'
import { modelError } from '../gguf/model-error.ts'
import { mergePairs } from './merge.ts'
import { findSplitter, SPLITTER_NAMES } from './split.ts'

export interface EncodeOptions {
  /**
   * Whether the text's `<|im_end|>` is the control token, or ten characters. Only the parts of a prompt that the service
   * itself writes may be read with control tokens: a caller's text would otherwise end its own turn and begin another's.
   */
  hasControl?: boolean
  /** Whether the token that begins a text is put first, where the model has one. */
  begins?: boolean
}

export interface Tokenizer {
  size: number
  endTokens: ReadonlySet<number>
  encode(text: string, options?: EncodeOptions): number[]
  /** The bytes of a token: a character may continue in the next one. Control tokens have none. */
  bytesOf(token: number): Uint8Array
  /** Returns the vocabulary's name of a token, for people. */
  nameOf(token: number): string
  isControl(token: number): boolean
  decode(tokens: readonly number[]): string
  findToken(name: string): number | undefined
}

/** What ChatML puts around a turn: control tokens, whatever kind a file gives them. */
export const TURN = { opens: '<|im_start|>', closes: '<|im_end|>' } as const

const KIND = { control: 3, defined: 4 }
/** Names a token that begins, ends, separates or pads texts. */
const ROLE_KEY = /^tokenizer\.ggml\.\w+_token_id$/
// Files have a few hundred. Each is searched in each text.
const MAX_SPECIAL = 4_096
const CACHE_ENTRIES = 20_000
const CACHED_CHARACTERS = 32

/** @throws {ModelError} naming what is missing or not supported. */
export function createTokenizer(metadata: ReadonlyMap<string, MetadataValue>): Tokenizer {
  const names = textsOf(metadata, 'tokenizer.ggml.tokens')
  const merges = textsOf(metadata, 'tokenizer.ggml.merges')
  const kinds = metadata.get('tokenizer.ggml.token_type') ?? []
  const model = metadata.get('tokenizer.ggml.model')
  if (model !== 'gpt2')
    throw unsupported(`The tokenizer is ${quoted(model)}; only byte-level BPE ("gpt2") is supported.`)
  const pre = metadata.get('tokenizer.ggml.pre')
  const splitter = typeof pre === 'string' ? findSplitter(pre) : undefined
  if (splitter === undefined) {
    throw unsupported(`The pre-tokenizer is ${quoted(pre)}; supported are ${SPLITTER_NAMES.join(', ')}.`)
  }
  if (!Array.isArray(kinds) || (kinds.length !== 0 && kinds.length !== names.length)) {
    throw invalid('tokenizer.ggml.token_type has another length than the vocabulary.')
  }
  const tokens = new Map(names.map((name, token) => [name, token]))
  const ranks = new Map(merges.map((pair, rank) => [pair, rank]))
  const kindOf = (token: number): unknown => kinds[token]
  const control = controlTokens(metadata, names, kindOf)
  const isControl = (token: number) => control.has(token)
  // The longest first: one may begin with another.
  const special = names
    .map((name, token) => ({ name, token, isControl: isControl(token) }))
    .filter(({ name, token, isControl }) => name !== '' && (isControl || kindOf(token) === KIND.defined))
    .toSorted((one, other) => other.name.length - one.name.length)
  if (special.length > MAX_SPECIAL) {
    throw invalid(`The vocabulary has ${special.length} special tokens; at most ${MAX_SPECIAL} are read.`)
  }
  const tokenOf = (key: string): number | undefined => {
    const token = metadata.get(key)
    if (token === undefined) return undefined
    if (typeof token === 'number' && names[token] !== undefined) return token
    throw invalid(`${key} is ${quoted(token)}, which is no token of the vocabulary.`)
  }
  const firstToken = tokenOf('tokenizer.ggml.bos_token_id')
  const begins = metadata.get('tokenizer.ggml.add_bos_token') ?? splitter.beginsByDefault
  const ends = ['tokenizer.ggml.eos_token_id', 'tokenizer.ggml.eot_token_id'].map(tokenOf)
  const cache = new Map<string, readonly number[]>()

  function encodePiece(piece: string): readonly number[] {
    const known = cache.get(piece)
    if (known !== undefined) return known
    const made = mergePiece(piece)
    if (piece.length <= CACHED_CHARACTERS) {
      if (cache.size >= CACHE_ENTRIES) cache.clear()
      cache.set(piece, made)
    }
    return made
  }

  function mergePiece(piece: string): number[] {
    const characters = [...Buffer.from(piece, 'utf8')].map(characterOf)
    if (splitter?.isWholeFirst) {
      const whole = findText(characters.join(''))
      if (whole !== undefined) return [whole]
    }
    // A vocabulary may lack bytes that its texts never had; such a byte has no token.
    return mergePairs(characters, (pair) => ranks.get(pair)).flatMap((symbol) => {
      const token = findText(symbol)
      if (token !== undefined) return [token]
      return [...symbol].flatMap((character) => findText(character) ?? [])
    })
  }

  // The merges of a file may spell the name of a control token.
  function findText(symbol: string): number | undefined {
    const token = tokens.get(symbol)
    return token === undefined || isControl(token) ? undefined : token
  }

  function encode(text: string, options: EncodeOptions = {}): number[] {
    const searched = options.hasControl ? special : special.filter(({ isControl }) => !isControl)
    // Not by push(...pieces): a list of a million arguments overflows the stack.
    const encoded: number[] = options.begins && begins === true && firstToken !== undefined ? [firstToken] : []
    for (const part of partition(text.toWellFormed(), searched)) {
      if (typeof part === 'number') encoded.push(part)
      else for (const piece of splitter?.split(part) ?? []) for (const token of encodePiece(piece)) encoded.push(token)
    }
    return encoded
  }

  function bytesOf(token: number): Uint8Array {
    const name = names[token]
    if (name === undefined) throw new RangeError(`${token} is no token of the vocabulary`)
    if (isControl(token)) return new Uint8Array()
    if (kindOf(token) === KIND.defined) return Buffer.from(name, 'utf8')
    return Uint8Array.from(
      [...name].flatMap((character) => BYTES.get(character) ?? [...Buffer.from(character, 'utf8')]),
    )
  }

  return {
    size: names.length,
    endTokens: new Set(ends.filter((token) => token !== undefined)),
    encode,
    bytesOf,
    nameOf: (token) => names[token] ?? '',
    isControl,
    decode: (list) => Buffer.concat(list.map(bytesOf)).toString('utf8'),
    findToken: (name) => tokens.get(name),
  }
}

/**
 * Returns the tokens that the file calls control tokens, and those that it calls parts of texts although they have a
 * meaning beside the text: a caller could write them.
 */
function controlTokens(
  metadata: ReadonlyMap<string, MetadataValue>,
  names: readonly string[],
  kindOf: (token: number) => unknown,
): ReadonlySet<number> {
  const turns: readonly string[] = Object.values(TURN)
  const roles = new Set<unknown>([...metadata].filter(([key]) => ROLE_KEY.test(key)).map(([, token]) => token))
  const isControl = (name: string, token: number) =>
    kindOf(token) === KIND.control || turns.includes(name) || (kindOf(token) === KIND.defined && roles.has(token))
  return new Set(names.flatMap((name, token) => (isControl(name, token) ? [token] : [])))
}

/** The text between special tokens, and those tokens, in their order. */
function partition(text: string, special: readonly { name: string; token: number }[]): (string | number)[] {
  let parts: (string | number)[] = text === '' ? [] : [text]
  for (const { name, token } of special) {
    if (!text.includes(name)) continue
    parts = parts.flatMap((part) => {
      if (typeof part === 'number') return [part]
      return part
        .split(name)
        .flatMap((between, index) => [...(index > 0 ? [token] : []), ...(between ? [between] : [])])
    })
  }
  return parts
}

// GPT-2 writes a byte as a printable character: itself where it is one, else from U+0100 on in their order.
const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
const HIDDEN = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !isPrintable(byte))
const CHARACTERS = Array.from({ length: 256 }, (_, byte) =>
  String.fromCodePoint(isPrintable(byte) ? byte : 256 + HIDDEN.indexOf(byte)),
)
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]))
const characterOf = (byte: number) => CHARACTERS[byte] ?? ''

function textsOf(metadata: ReadonlyMap<string, MetadataValue>, key: string): readonly string[] {
  const value = metadata.get(key)
  if (!Array.isArray(value) || value.some((text) => typeof text !== 'string')) {
    throw invalid(`${key} is not a list of texts.`)
  }
  return value
}

const invalid = (message: string) => modelError('model_file_invalid', message)
const unsupported = (message: string) => modelError('model_unsupported', message)
const quoted = (value: unknown) => (value === undefined ? 'not named' : JSON.stringify(value)?.slice(0, 60))
