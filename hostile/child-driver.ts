// Drives the child: sends it orders, and kills it when a case takes longer than any may.

import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Order } from './child.ts'
import type { Parser, Report } from './parser.ts'

export interface Memory {
  /** Bytes: of the resident set after the run above that after its first half, both after a collection. */
  growth: number
  /** Bytes above the same, at its highest, without a garbage collection. */
  peak: number
}

export interface Nursery {
  names: Pick<Parser, 'name' | 'source' | 'limit'>[]
  run(order: Order): Promise<{ report: Report; memory: Memory }>
  close(): void
}

// Above every limit of the table; a sound case on a busy machine must not look like a hang.
const HANGS_AFTER_MS = 30_000
const LOOK_EVERY_MS = 500

export async function startNursery(): Promise<Nursery> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-progress-'))
  const path = join(folder, 'index')
  writeFileSync(path, Buffer.alloc(8, 0xff))
  const progress = openSync(path, 'r')
  const said: string[] = []
  const child = fork(new URL('child.ts', import.meta.url), [path], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    said.push(chunk.toString().slice(0, 2_000))
    if (said.length > 20) said.shift()
  })
  const { names } = (await answerOf(child)) as Pick<Nursery, 'names'>

  function lastIndex(): number {
    const mark = Buffer.alloc(8)
    readSync(progress, mark, 0, 8, 0)
    return mark.readDoubleLE()
  }

  async function answerOf(from: ChildProcess): Promise<unknown> {
    let last = Number.NaN
    let since = performance.now()
    let hung = false
    const watch = setInterval(() => {
      const index = lastIndex()
      if (index !== last) since = performance.now()
      last = index
      if (performance.now() - since < HANGS_AFTER_MS) return
      hung = true
      from.kill('SIGKILL')
    }, LOOK_EVERY_MS)
    try {
      return await new Promise((done, fail) => {
        from.once('message', done)
        from.once('exit', (code, signal) => {
          const what = hung ? `gave no answer for ${HANGS_AFTER_MS} ms` : `ended the process (${signal ?? code})`
          fail(new Error(`case ${lastIndex()} ${what}\n${said.join('')}`))
        })
      })
    } finally {
      clearInterval(watch)
      from.removeAllListeners('message').removeAllListeners('exit')
    }
  }

  return {
    names,
    async run(order) {
      child.send(order)
      try {
        return (await answerOf(child)) as Awaited<ReturnType<Nursery['run']>>
      } catch (error) {
        throw new Error(`${order.name}, seed ${order.seed}`, { cause: error })
      }
    },
    close() {
      if (child.connected) child.disconnect()
      closeSync(progress)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
