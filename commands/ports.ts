import { createServer } from 'node:net'

// Where a newcomer looks first; the next free one when it is taken.
const USUAL_PORTS = Array.from({ length: 20 }, (_, index) => 8080 + index)

interface Wanted {
  port: number | undefined
  internalPort: number | undefined
}

/**
 * The ports to listen on: what was asked for, or a usual one, or any free one.
 * @throws {Error} when a port that was asked for is taken.
 */
export async function choosePorts({ port, internalPort }: Wanted): Promise<{ web: number; internal: number }> {
  if (port === undefined) return { web: await freePort(USUAL_PORTS), internal: internalPort ?? 0 }
  if (port !== 0 && !(await isFree(port))) {
    throw new Error(`Port ${port} is taken: set PORT to another, or leave it out to get a free one.`)
  }
  return { web: port || (await freePort([])), internal: internalPort ?? 0 }
}

async function freePort(wishes: readonly number[]): Promise<number> {
  for (const wish of wishes) if (await isFree(wish)) return wish
  const port = await tryPort(0)
  if (port === undefined) throw new Error('This machine has no free port.')
  return port
}

async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((done) => {
    const server = createServer()
    server.on('error', () => done(undefined))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}
