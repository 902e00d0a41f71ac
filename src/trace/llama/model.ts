// A model from its file: weights, tokenizer and chat template, ready to run in this process.

import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type Gguf, readGguf } from '../gguf/gguf.ts'
import { modelError } from '../gguf/model-error.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type ChatTemplate, createChatTemplate } from '../tokenizer/chat.ts'
import { createTokenizer, type Tokenizer } from '../tokenizer/tokenizer.ts'
import { createLlama, forwardBytes, type Llama, type TextFeeder } from './forward.ts'
import { type LlamaShape, readShape, tensorsOf } from './shape.ts'
import { type LlamaWeights, loadWeights } from './weights.ts'

/** What a model is, without its weights. */
export interface ModelFacts {
  /** Name in the model's file. */
  name: string
  version: string | null
  sha256: string
  fileBytes: number
  architecture: 'llama'
  shape: LlamaShape
  parameters: number
  tensorTypes: string[]
  hasChat: boolean
}

export interface LoadedModel {
  /** Name in the model's file. */
  name: string
  shape: LlamaShape
  weights: LlamaWeights
  /** Holds the weights. */
  kernel: Kernel
  llama: Llama
  tokenizer: Tokenizer
  /** Hash of the file that it was loaded from. */
  sha256: string
  /** Undefined where the file has none that is known. */
  chat: ChatTemplate | undefined
  /** Undefined: attribution runs on the kernel, as everything else does. */
  accelerator?: Accelerator
}

/**
 * What another runtime than the kernel computes of a model, where one is installed and switched on: passes of whole texts,
 * and the products of attribution. Its last bits differ from the kernel's and between machines, so readings and
 * completions never come from it, and what does come from it names its runtime.
 */
export interface Accelerator {
  /** Runtime: the package, its version, and the platform. */
  readonly runtime: string
  readonly feeder: TextFeeder
  /**
   * Products of rows with the matrices of a layer, not transposed: from what is read of a layer's output to what that
   * reads of its input. Matrices behind a norm include its gains. `y` is written, and is no part of `x`.
   */
  readonly products: LayerProducts
}

export interface LayerProducts {
  /** y = x . output, ordered by group of heads, then by row: the queries of one group lie together. */
  readOutput(layer: number, x: Float32Array, y: Float32Array): Promise<void>
  /** y = x . value + sum */
  addValue(layer: number, x: Float32Array, sum: Float32Array, y: Float32Array): Promise<void>
  /** y = x . down */
  readDown(layer: number, x: Float32Array, y: Float32Array): Promise<void>
  /** y = x . up + sum */
  addUp(layer: number, x: Float32Array, sum: Float32Array, y: Float32Array): Promise<void>
}

export interface LoadOptions {
  /** The most tokens of one text. Its cache is reserved when the model is loaded; never more than the model's context. */
  contextTokens: number
  maxBytes: number
}

const HASH_SLICE_BYTES = 1024 * 1024

/** @throws {ModelError} saying why the file is not a model that can be run here. */
export function loadModel(path: string, { contextTokens, maxBytes }: LoadOptions): LoadedModel {
  return withFile(path, (descriptor) => {
    const gguf = readGguf(descriptor)
    const tokenizer = createTokenizer(gguf.metadata)
    const maxTokens = (shape: LlamaShape) => Math.min(contextTokens, shape.context)
    const loaded = loadWeights(descriptor, gguf, (shape) => forwardBytes(shape, maxTokens(shape)), maxBytes)
    const { shape, weights, kernel } = loaded
    const llama = createLlama(loaded, maxTokens(shape))
    const sha256 = hashFile(descriptor, gguf.fileBytes)
    return { shape, weights, kernel, llama, tokenizer, sha256, chat: findChat(gguf, tokenizer), name: nameOf(gguf) }
  })
}

/** Checks a file as `loadModel` would, reading its header and hashing its bytes, and no weights. */
export function inspectModel(path: string): ModelFacts {
  return withFile(path, (descriptor) => {
    const gguf = readGguf(descriptor)
    const shape = readShape(gguf)
    const tokenizer = createTokenizer(gguf.metadata)
    const { required, optional } = tensorsOf(shape)
    const sizes = [...required, ...optional].filter(([name]) => gguf.tensors.has(name))
    const types = new Set([...gguf.tensors.values()].map(({ type }) => type))
    return {
      name: nameOf(gguf),
      version: textOf(gguf, 'general.version') ?? null,
      sha256: hashFile(descriptor, gguf.fileBytes),
      fileBytes: gguf.fileBytes,
      architecture: 'llama',
      shape,
      parameters: sizes.reduce((sum, [, { rows, columns }]) => sum + rows * columns, 0),
      tensorTypes: [...types].toSorted(),
      hasChat: findChat(gguf, tokenizer) !== undefined,
    }
  })
}

/** Hashes the current bytes as `inspectModel` does. */
export function hashModel(path: string): string {
  return withFile(path, (descriptor) => hashFile(descriptor, fstatSync(descriptor).size))
}

function withFile<V>(path: string, use: (descriptor: number) => V): V {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    throw modelError('model_not_found', `The model file ${path} can not be opened.`, error)
  }
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function findChat(gguf: Gguf, tokenizer: Tokenizer): ChatTemplate | undefined {
  try {
    return createChatTemplate(gguf.metadata.get('tokenizer.chat_template'), tokenizer)
  } catch {
    // Not an error until a conversation is given to it.
    return undefined
  }
}

function hashFile(descriptor: number, fileBytes: number): string {
  const hash = createHash('sha256')
  const slice = Buffer.allocUnsafe(HASH_SLICE_BYTES)
  for (let at = 0; at < fileBytes; ) {
    const read = readSync(descriptor, slice, 0, slice.length, at)
    if (read === 0) throw modelError('model_file_invalid', 'The file became shorter while it was read.')
    hash.update(slice.subarray(0, read))
    at += read
  }
  return hash.digest('hex')
}

const nameOf = (gguf: Gguf) => textOf(gguf, 'general.name') ?? 'unnamed'

function textOf({ metadata }: Gguf, key: string): string | undefined {
  const value = metadata.get(key)
  // The text comes from the file and is shown to people, so it is bounded and on one line.
  return typeof value === 'string' ? value.replaceAll(/\p{C}+/gu, ' ').slice(0, 120) : undefined
}
