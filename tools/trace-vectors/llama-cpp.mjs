// Writes the vectors that llama.cpp makes: tokens of texts, and greedy continuations.
//   node llama-cpp.mjs OUT.json FILE.gguf FLOATS.gguf [PRE=FILE.gguf ...]
// needs the package node-llama-cpp in the current folder. FILE is the model, FLOATS the same weights as floats (widen.py),
// and PRE=FILE the same model with another pre-tokenizer.

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [, , out, file, floats, ...others] = process.argv
const require = createRequire(join(process.cwd(), 'x.js'))
const { getLlama } = await import(pathToFileURL(require.resolve('node-llama-cpp')).href)
const { version } = JSON.parse(
  readFileSync(join(dirname(require.resolve('node-llama-cpp')), '../package.json'), 'utf8'),
)
const texts = JSON.parse(readFileSync(new URL('./texts.json', import.meta.url), 'utf8'))
const CONVERSATIONS = [
  [
    { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
    { role: 'user', content: 'Pay invoice INV-417 from Harbor Supplies.' },
    { role: 'tool', content: 'Invoice INV-417: Harbor Supplies, 215.50 EUR, due 2026-04-07.' },
  ],
  [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Explain in a few sentences why the sky is blue.' },
  ],
]
const STEPS = 48

const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error' })
const tokenized = []
for (const one of [`=${file}`, ...others]) {
  const [pre, path] = one.split('=')
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 })
  tokenized.push({
    ...(pre === '' ? {} : { pre }),
    texts: texts.map((text) => ({
      text,
      tokens: [...model.tokenize(text, false)],
      withControl: [...model.tokenize(text, true)],
    })),
  })
  await model.dispose()
}

const model = await llama.loadModel({ modelPath: floats, gpuLayers: 0 })
const greedy = []
for (const messages of CONVERSATIONS) {
  const prompt = `${messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join('')}<|im_start|>assistant\n`
  const tokens = [...model.tokenize(prompt, true)]
  const context = await model.createContext({ contextSize: 512, threads: 1 })
  const continuation = []
  for await (const token of context.getSequence().evaluate(tokens, { temperature: 0, yieldEogToken: true })) {
    continuation.push(token)
    if (continuation.length === STEPS) break
  }
  greedy.push({ messages, prompt: tokens, continuation })
  await context.dispose()
}
writeFileSync(
  out,
  `${JSON.stringify({ provenance: `llama.cpp in node-llama-cpp ${version}, tools/trace-vectors/llama-cpp.mjs`, tokenized, greedy })}\n`,
)
process.exit(0)
