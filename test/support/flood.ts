// A client that keeps sending whatever the server answers, as a careless one does, and what that costs the server
// meanwhile.

import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MEGABYTE = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Sends `parts` 1,600 times. `held`: megabytes of this process that are alive when most has been sent. */
export async function flood(port: number, head: string, parts: readonly Buffer[]) {
  const before = alive()
  let held = Number.NaN
  function* pieces() {
    yield* repeat(1_500, parts)
    held = (alive() - before) / MEGABYTE
    yield* repeat(100, parts)
  }
  const socket = connect(port, '127.0.0.1')
  const answer: Buffer[] = []
  socket.on('data', (bytes) => answer.push(bytes))
  socket.write(head)
  const closed = once(socket, 'close')
  const failure = await pipeline(Readable.from(pieces()), socket).catch((error: Error) => error)
  await closed
  return { text: Buffer.concat(answer).toString(), failure, held }
}

function* repeat(count: number, parts: readonly Buffer[]) {
  for (let i = 0; i < count; i += 1) yield* parts
}

// A server that kept the data would hold nearly all of it. Resident memory also contains garbage that is not yet
// collected, which depends on the machine.
function alive(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
