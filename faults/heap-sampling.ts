// A preload for the processes of a soak: once a minute it collects garbage and records the remaining memory. Resident
// memory swings by a hundred megabytes with the engine's collections, and would hide a leak for hours.

import { appendFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import { clock, type Weighed } from './journal.ts'

const EVERY_MS = 60_000
const { WEIGHT_JOURNAL: file, WEIGHT_NAME: process_ } = process.env

if (isMainThread && file !== undefined && process_ !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setInterval(() => {
    collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    const entry: Weighed = {
      kind: 'weighed',
      at: clock(),
      process: `${process_} ${process.pid}`,
      live: heapUsed + external,
      rss,
    }
    appendFileSync(file, `${JSON.stringify(entry)}\n`)
  }, EVERY_MS).unref()
}
