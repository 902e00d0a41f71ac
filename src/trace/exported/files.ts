// The files of an exported decoder: the model, the data that it keeps in other files, and beside it the tokenizer and the
// configuration. Nothing outside of its folder is read, whatever the model names.

import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { modelError } from '../gguf/model-error.ts'
import { allNodes, decodeModel, innerTensors, type OnnxModel, withGraph } from '../onnx/proto.ts'
import { type OnnxTensor, sizeOf } from '../onnx/tensor.ts'

export interface ExportedFiles {
  /** Its tensors stand in it, also those that were in other files. */
  model: OnnxModel
  bytes: number
  tokenizer: unknown
  tokenizerConfig: Record<string, unknown>
  config: Record<string, unknown>
  generationConfig: Record<string, unknown>
  /** What the model builder of ONNX Runtime writes in place of `config`. */
  builderConfig: Record<string, unknown>
  /** Template in a file of its own, or in `tokenizerConfig`. */
  chatTemplate: unknown
  /** Hash of all files that were read, each with its name. */
  sha256: string
}

// Protocol buffers end at 2 GB.
const MAX_MODEL_BYTES = 2 ** 31 - 1
const MAX_JSON_BYTES = 64e6
// The sizes of a single element, by its number in the format; half bytes come in pairs.
const ELEMENT_BYTES: Readonly<Record<number, number>> = {
  1: 4,
  2: 1,
  3: 1,
  4: 2,
  5: 2,
  6: 4,
  7: 8,
  9: 1,
  10: 2,
  11: 8,
  12: 4,
  13: 8,
  16: 2,
  17: 1,
  18: 1,
  19: 1,
  20: 1,
  21: 0.5,
  22: 0.5,
}
// Operators that are not ONNX's run code of their own. From Microsoft's, only those that decoders are exported with are
// allowed; some others read files or call programs.
const OPERATORS: Readonly<Record<string, ReadonlySet<string>>> = {
  'com.microsoft': new Set([
    'BiasGelu',
    'FastGelu',
    'FusedMatMul',
    'Gelu',
    'GroupQueryAttention',
    'MatMulNBits',
    'MultiHeadAttention',
    'QuickGelu',
    'RotaryEmbedding',
    'SimplifiedLayerNormalization',
    'SkipLayerNormalization',
    'SkipSimplifiedLayerNormalization',
  ]),
}

/** @throws {ModelError} saying why the files can not be used. */
export function readExported(path: string, maxBytes: number): ExportedFiles {
  const folder = dirname(path)
  const hashes: [string, string][] = []
  const own = readWhole(path, Math.min(maxBytes, MAX_MODEL_BYTES))
  hashes.push([basename(path), sha256Hex(own)])
  const read = decodeModel(own)
  checkOperators(read)
  for (const tensor of innerTensors(read.graph)) {
    if (tensor.data.kind === 'external') throw unsupported('constants in other files')
  }
  const external = new Map<string, Uint8Array>()
  let bytes = own.length
  const initializers = read.graph.initializers.map((tensor) => {
    const { data } = tensor
    if (data.kind !== 'external') return tensor
    const known = external.get(data.location)
    const file = known ?? readBeside(folder, data.location, maxBytes - bytes)
    if (known === undefined) {
      external.set(data.location, file)
      hashes.push([data.location, sha256Hex(file)])
      bytes += file.length
    }
    return takeFrom(file, tensor, data)
  })
  const model = external.size === 0 ? read : withGraph(read, { ...read.graph, initializers })
  const json = (name: string) => {
    const found = findBeside(folder, name)
    if (found === undefined) return undefined
    const content = readWhole(found, MAX_JSON_BYTES)
    hashes.push([name, sha256Hex(content)])
    return name.endsWith('.json') ? parseJson(name, content) : content.toString('utf8')
  }
  const tokenizer = json('tokenizer.json')
  if (tokenizer === undefined) {
    throw modelError('model_not_found', `The model ${basename(path)} needs the file tokenizer.json beside it.`)
  }
  const members = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  const tokenizerConfig = members(json('tokenizer_config.json'))
  return {
    model,
    bytes,
    tokenizer,
    tokenizerConfig,
    config: members(json('config.json')),
    generationConfig: members(json('generation_config.json')),
    builderConfig: members(members(json('genai_config.json')).model),
    chatTemplate: json('chat_template.jinja') ?? tokenizerConfig.chat_template,
    sha256: sha256Hex(JSON.stringify(hashes)),
  }
}

function checkOperators({ graph, operatorSets }: OnnxModel): void {
  const standard = (domain: string) => domain === '' || domain === 'ai.onnx'
  for (const { operator, domain } of allNodes(graph)) {
    if (!standard(domain) && !OPERATORS[domain]?.has(operator)) {
      throw unsupported(`the operator ${JSON.stringify(`${domain}.${operator}`.slice(0, 80))}`)
    }
  }
  if (!operatorSets.some(({ domain }) => standard(domain))) throw unsupported('no operators of ONNX itself')
}

/** A tensor whose bytes stand in a file beside the model, with them in place. */
function takeFrom(
  file: Uint8Array,
  tensor: OnnxTensor,
  { offset, length }: { offset: number; length: number | undefined },
): OnnxTensor {
  const needed = Math.ceil(sizeOf(tensor) * (ELEMENT_BYTES[tensor.element] ?? Number.NaN))
  if (!(needed >= 0) || (length !== undefined && length !== needed) || offset + needed > file.length) {
    throw modelError(
      'model_file_invalid',
      `The data of the tensor ${JSON.stringify(tensor.name.slice(0, 60))} is not there.`,
    )
  }
  return { ...tensor, data: { kind: 'raw', bytes: file.subarray(offset, offset + needed) } }
}

/** Reads a file in the model's own folder: its name has no part of a path, and it is no link to elsewhere. */
function readBeside(folder: string, name: string, maxBytes: number): Buffer {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw modelError('model_file_invalid', 'The model keeps data in a file outside of its folder, which is not read.')
  }
  return readWhole(join(folder, name), maxBytes, constants.O_NOFOLLOW)
}

/** Published decoders often stand in a folder `onnx` of the one that has the tokenizer. */
function findBeside(folder: string, name: string): string | undefined {
  const places = basename(folder) === 'onnx' ? [folder, dirname(folder)] : [folder]
  return places.map((place) => join(place, name)).find((path) => existsSync(path))
}

function readWhole(path: string, maxBytes: number, flags = 0): Buffer {
  let descriptor: number
  try {
    // A pipe without a writer would never open.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  } catch (error) {
    throw modelError('model_not_found', `The file ${basename(path)} of the model can not be opened.`, error)
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw modelError('model_file_invalid', `${basename(path)} is no file.`)
    if (stat.size > maxBytes) {
      const megabytes = Math.round(Math.max(0, maxBytes) / 1e6)
      throw modelError(
        'model_too_large',
        `${basename(path)} has ${stat.size} bytes; there is room for ${megabytes} MB.`,
      )
    }
    const content = Buffer.allocUnsafeSlow(stat.size)
    for (let at = 0; at < content.length; ) {
      const read = readSync(descriptor, content, at, content.length - at, at)
      if (read === 0) throw modelError('model_file_invalid', 'The file became shorter while it was read.')
      at += read
    }
    return content
  } finally {
    closeSync(descriptor)
  }
}

function parseJson(name: string, content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'))
  } catch (error) {
    throw modelError('model_file_invalid', `${name} is no JSON.`, error)
  }
}

const unsupported = (what: string) => modelError('model_unsupported', `The model has ${what}, which is not supported.`)
