import { createServer } from 'node:net'

const USUAL_PORT = 8080

interface Wanted {
  port: number | undefined
  internalPort: number | undefined
}

/**
 * The ports to listen on: what was asked for, or the usual one, or a free one when that is taken.
 * @throws {Error} when a port that was asked for is taken.
 */
export async function choosePorts({ port, internalPort }: Wanted): Promise<{ web: number; internal: number }> {
  if (port !== undefined && port !== 0 && !(await isFree(port))) {
    throw new Error(`Port ${port} is taken: set PORT to another, or leave it out to get a free one.`)
  }
  const web = port || ((await isFree(USUAL_PORT)) ? USUAL_PORT : await freePort())
  return { web, internal: internalPort ?? 0 }
}

async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined
}

async function freePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new Error('This machine has no free port.')
  return port
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
