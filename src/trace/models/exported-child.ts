// The process of an exported decoder.

import { Worker } from 'node:worker_threads'
import { inspectExported, loadExported } from '../exported/decoder.ts'
import type { ExportedFacts } from '../exported/facts.ts'
import { modelError } from '../gguf/model-error.ts'
import { type ServedModel, serveModel } from './child-server.ts'
import { findExportedOperation, inferExported } from './exported-operations.ts'
import type { ModelProcessArguments, ModelReport } from './protocol.ts'

// The process looks at its own memory between two steps; within a step of native code, only this thread does. It leaves
// the first word to the process, which can say why it ends.
const WATCH = `
  const { workerData } = require('node:worker_threads')
  setInterval(() => {
    if (process.memoryUsage.rss() > workerData) process.kill(process.pid, 'SIGKILL')
  }, 50)
`
const LAST_SHARE = 1.1

await serveModel({ inspect, load })

function inspect({ path, maxModelBytes: maxBytes, contextTokens }: ModelProcessArguments): ModelReport {
  const facts = inspectExported(path, { maxBytes })
  return reportOf(facts, Math.min(contextTokens, facts.contextTokens ?? contextTokens))
}

async function load(settings: ModelProcessArguments): Promise<ServedModel> {
  const { path, maxModelBytes: maxBytes, contextTokens, maxResidentBytes } = settings
  new Worker(WATCH, { eval: true, workerData: maxResidentBytes * LAST_SHARE }).unref()
  const model = await loadExported(path, { maxBytes, contextTokens })
  return {
    report: reportOf(model, model.maxTokens),
    infer: (request, options) => inferExported(model, request, options),
    operate(name, request, options) {
      const operation = findExportedOperation(name)
      if (operation === undefined) {
        throw modelError('capability_missing', `Exported models have no operation ${name}.`)
      }
      return operation(model, request, options)
    },
  }
}

function reportOf(facts: ExportedFacts, maxTokens: number): ModelReport {
  const { name, sha256, chat, writers, decoder, reason } = facts
  return {
    name,
    sha256,
    maxTokens,
    architecture: 'onnx',
    hasChat: chat !== undefined,
    probes: null,
    // What is not known is 0.
    shape: {
      layers: writers?.layers.length ?? 0,
      width: writers?.width ?? 0,
      mlp: writers?.neurons ?? 0,
      vocabulary: decoder.vocabulary,
    },
    hidden: writers === undefined ? (reason ?? 'its form is not known') : null,
  }
}
