// A thread that does what hostile files make parsers do: the path names the misbehaviour.

import { existsSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import type { FileFacts } from '#src/attest/media/exif.ts'
import type { ThreadRequest } from '#src/attest/media/inspector-thread.ts'
import type { ThreadAnswer } from '#src/attest/media/threads.ts'

const answer = (message: ThreadAnswer<FileFacts>): void => parentPort?.postMessage(message)
const kept: unknown[] = []

parentPort?.on('message', ({ path }: ThreadRequest) => {
  if (path === 'loop') for (;;) kept.length = 0
  if (path === 'never') return
  if (path === 'throw') throw new Error('a parser fell over')
  if (path === 'reject') return void Promise.reject(new Error('a parser fell over later'))
  if (path === 'exit') process.exit(0)
  if (path === 'memory') for (;;) kept.push(new Array(100_000).fill({}))
  if (path.startsWith('until ')) return waitFor(path)
  if (path === 'slow') return void setTimeout(() => describe(path), 500)
  if (path === 'afterwards') setImmediate(() => process.exit(1))
  describe(path)
})
answer({ op: 'ready' })

// Ends when the file that the path names exists.
function waitFor(path: string): void {
  if (existsSync(path.slice('until '.length))) describe(path)
  else setTimeout(waitFor, 10, path)
}

function describe(path: string): void {
  const exif = { state: 'unreadable', detail: path } as const
  const declared = { sourceTypes: [], generators: [], manifestReference: null }
  const c2pa = { state: 'absent', size: 0 } as const
  answer({
    op: 'done',
    inspection: { ok: true, value: { format: null, width: null, height: null, exif, declared, c2pa } },
  })
}
