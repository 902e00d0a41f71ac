// Runs cases through parsers in a process of its own: hangs and crashes are observed from outside, and its memory is
// its own. Each case is written to a file before it begins.

import { openSync, writeSync } from 'node:fs'
import { bodyParsers } from './body-parsers.ts'
import { c2paParsers } from './c2pa-parsers.ts'
import { costlyParsers } from './costly-parsers.ts'
import { formParsers } from './form-parsers.ts'
import { hardwareParsers } from './hardware-parsers.ts'
import { mediaParsers } from './media-parsers.ts'
import { type Cases, runCases } from './parser.ts'
import { passkeyParsers } from './passkey-parsers.ts'
import { ruleParsers } from './rule-parsers.ts'
import { TEXT_PARSERS } from './text-parsers.ts'
import { videoParsers } from './video-parsers.ts'

export type Order = Cases & { name: string }

const [, , progressPath = ''] = process.argv
const progress = openSync(progressPath, 'r+')
const mark = Buffer.alloc(8)
const media = await mediaParsers()
const parsers = [
  ...TEXT_PARSERS,
  ...formParsers(),
  ...ruleParsers(),
  ...bodyParsers(),
  ...hardwareParsers(),
  ...(await passkeyParsers()),
  ...costlyParsers(),
  ...videoParsers(),
  ...media.parsers,
  ...(await c2paParsers()),
]

// Half of the cases, so that code that is loaded and compiled once, and full caches, do not count as growth.
const WARM_PART = 2
const SAMPLE_EVERY = 20

process.on('message', async (order: Order) => {
  const parser = parsers.find(({ name }) => name === order.name)
  if (parser === undefined) throw new Error(`no parser ${order.name}`)
  const warmAt = order.from + Math.ceil(order.count / WARM_PART)
  let warm = 0
  let peak = 0
  const report = await runCases(parser, order, (index) => {
    mark.writeDoubleLE(index)
    writeSync(progress, mark, 0, 8, 0)
    if (index === warmAt) warm = settledRss()
    if (warm > 0 && index % SAMPLE_EVERY === 0) peak = Math.max(peak, process.memoryUsage.rss())
  })
  const growth = settledRss() - warm
  process.send?.({ report, memory: { growth, peak: Math.max(0, peak - warm) } })
})
process.on('disconnect', () => process.exit())
process.send?.({ names: parsers.map(({ name, source, limit }) => ({ name, source, limit })) })

function settledRss(): number {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}
