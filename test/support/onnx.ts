// Exported decoders for tests: the committed ones, and files made from them with a change.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { decodeModel, encodeModel, type OnnxGraph, type OnnxModel, withGraph } from '#src/trace/onnx/proto.ts'

const FOLDER = resolve(import.meta.dirname, '../../vectors/trace/onnx')

/** countersign-tiny 1.0 by the two exporters of PyTorch: one without a cache, one with. */
export const EXPORTED = { legacy: join(FOLDER, 'legacy/model.onnx'), dynamo: join(FOLDER, 'dynamo/model.onnx') }

export const readDecoder = (path: string = EXPORTED.dynamo): OnnxModel => decodeModel(readFileSync(path))

export function createDecoderFolder() {
  const root = mkdtempSync(join(tmpdir(), 'countersign-onnx-'))
  let count = 0

  /** A folder with the tokenizer of the committed decoder, and this as its model. */
  function write(model: OnnxModel | Uint8Array, others: Record<string, string | Uint8Array> = {}): string {
    count += 1
    const folder = join(root, String(count))
    const own = join(FOLDER, 'dynamo')
    cpSync(own, folder, { recursive: true, filter: (from) => !from.endsWith('.onnx') })
    const path = join(folder, 'model.onnx')
    writeFileSync(path, model instanceof Uint8Array ? model : Buffer.concat(encodeModel(model)))
    for (const [name, content] of Object.entries(others)) writeFileSync(join(folder, name), content)
    return path
  }

  return {
    root,
    write,
    /** The committed decoder with another graph. */
    change: (edit: (graph: OnnxGraph) => OnnxGraph): string => {
      const model = readDecoder()
      return write(withGraph(model, edit(model.graph)))
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  }
}
