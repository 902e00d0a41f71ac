// A process that does what hostile pictures make decoders do: the path names the misbehaviour.

import { pbkdf2Sync } from 'node:crypto'
import type { DecoderAnswer, DecoderMessage } from '#src/attest/media/decoder-child.ts'

const answer = (message: DecoderAnswer): void => void process.send?.(message)

process.on('message', ({ path, isQuick }: DecoderMessage) => {
  // Native work on this thread: neither a message nor a signal that can be handled interrupts it.
  if (path === 'native') pbkdf2Sync('', '', 2 ** 31 - 1, 64, 'sha512')
  if (path === 'never') return
  if (path === 'always slow' || (path === 'slow' && isQuick)) return answer({ op: 'slow' })
  if (path === 'throw') throw new Error('a decoder fell over')
  if (path === 'exit') process.exit(0)
  if (path === 'heap') for (const strings: string[] = []; ; ) strings.push(`${strings.length}`.repeat(1_000))
  if (path === 'afterwards') setImmediate(() => process.exit(1))
  if (path === 'environment') return describe(Object.keys(process.env).join())
  describe(path)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())
answer({ op: 'ready' })

function describe(text: string): void {
  answer({ op: 'done', inspection: { ok: true, value: { data: Buffer.from(text), width: 0, height: process.pid } } })
}
