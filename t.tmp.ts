import { loadExported } from './src/trace/exported/decoder.ts'
import { loadModel } from './src/trace/llama/model.ts'
import { findWriters } from './src/trace/exported/writers.ts'
const gg = loadModel('src/trace/models/countersign-tiny-1.0.gguf', { contextTokens: 512, maxBytes: 1e9 })
for (const dir of process.argv.slice(2)) {
  const t0 = performance.now()
  const m = await loadExported(dir + '/model.onnx', { contextTokens: 512, maxBytes: 1e9 })
  console.log(dir, 'load ms', Math.round(performance.now()-t0), m.sha256, m.reason, m.decoder.hasBatch, m.decoder.cache.length, m.chat !== undefined, m.tokenizer.endTokens, m.contextTokens)
  const tokens = m.tokenizer.encode('Pay 40 EUR for lamps, please. The report of 2024 says so.')
  const same = gg.tokenizer.encode('Pay 40 EUR for lamps, please. The report of 2024 says so.')
  console.log(JSON.stringify(tokens) === JSON.stringify(same), tokens.length)
  const p = await m.pass({ texts: [tokens], capture: true })
  gg.llama.restart()
  const l = gg.llama.feed(tokens, { logits: "last" }).slice()
  let max = 0; for (let i = 0; i < l.length; i++) max = Math.max(max, Math.abs((l[i] ?? 0) - (p.logits[0]?.[i] ?? 0)))
  console.log('logit diff', max, 'writers', m.writers?.width, m.writers?.neurons, m.writers?.layers.length, p.written && Object.keys(p.written))
  const a = await m.pass({ texts: [tokens.slice(0, 9)] }); const b = await m.pass({ texts: [tokens.slice(9)], cache: a.cache })
  max = 0; for (let i = 0; i < l.length; i++) max = Math.max(max, Math.abs((l[i] ?? 0) - (b.logits[0]?.[i] ?? 0)))
  console.log('cache diff', max)
  const edits = [[{layer:1, position: 4, neuron: 7, factor: 0}], [{layer:0, position: 2, neuron: 9, factor: 3}]]
  const e = await m.pass({ texts: [tokens, tokens], edits })
  for (const [i, own] of edits.entries()) { gg.llama.restart(); const x = gg.llama.feed(tokens, { logits: 'last', edits: own }).slice(); max = 0; let ch = 0; for (let j = 0; j < x.length; j++) { max = Math.max(max, Math.abs((x[j] ?? 0) - (e.logits[i]?.[j] ?? 0))); ch = Math.max(ch, Math.abs((x[j] ?? 0) - (l[j] ?? 0))) } console.log('edit diff', max, 'change', ch) }
}
