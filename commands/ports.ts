import { createServer } from 'node:net'

// The first ports that a newcomer tries; the next free one when one is in use.
const USUAL_PORTS = Array.from({ length: 20 }, (_, index) => 8080 + index)

// Connections that are made get their ports from 32768 up (Linux), or from 49152 up (RFC 6335, section 6). A port from there
// that is free now may be in use when a server that was told of it starts. Browsers and fetch() refuse 10080, the highest of
// the ports that they block (Fetch standard, section 2.9).
const [FIRST_SPARE, LAST_SPARE] = [10_081, 32_767]
const TRIES = 50
// A port is taken seconds after it was found free. With random ones, two of the hundreds of servers that the tests start found the
// same. So each process begins at another one, far enough from the next process for those that it usually needs, and goes on.
const PORTS_EACH = 16
let next = process.pid * PORTS_EACH

interface Wanted {
  port: number | undefined
  internalPort: number | undefined
  /** The address that the API will listen on. */
  host?: string
}

interface Ports {
  web: number
  internal: number
  /** The usual ports that were in use. */
  taken: number[]
}

/**
 * The ports to listen on: the requested ones, or usual ones, or any free ones.
 * @throws {Error} when a requested port is in use or is not a port.
 */
export async function choosePorts({ port, internalPort = 0, host = '127.0.0.1' }: Wanted): Promise<Ports> {
  await requireFree('INTERNAL_PORT', internalPort, '127.0.0.1')
  if (port !== undefined) {
    await requireFree('PORT', port, host)
    return { web: port || (await freePort(host)), internal: internalPort, taken: [] }
  }
  // Fails with a sentence when no port can be listened on.
  const spare = await freePort(host)
  const taken: number[] = []
  for (const usual of USUAL_PORTS) {
    if (await isFree(usual, host)) return { web: usual, internal: internalPort, taken }
    taken.push(usual)
  }
  return { web: spare, internal: internalPort, taken }
}

async function requireFree(key: string, port: number, host: string): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`${key} must be a port, 0 to 65535.`)
  if (port === 0) return
  const { code } = await tryPort(port, host)
  if (code === undefined) return
  if (code === 'EACCES') throw new Error(`${key}=${port}: this user may not listen there. Take one above 1023.`)
  if (code !== 'EADDRINUSE') throw new Error(`${key}=${port} can't be listened on at ${host} (${code}).`)
  throw new Error(
    `${key}=${port} is taken by another program: set ${key} to another one, or leave it out to get a free one.`,
  )
}

/**
 * A free port for a server that starts later, or again.
 * @throws {Error} when none can be listened on.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  let code: string | undefined
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await tryPort(FIRST_SPARE + (next++ % (LAST_SPARE + 1 - FIRST_SPARE)), host)
    if (found.port !== undefined) return found.port
    code = found.code
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw new Error(`HOST=${host} is no address of this machine.`)
  }
  throw new Error(`No port could be listened on at ${host} (${code}).`)
}

// Users say localhost. Where that is ::1 first, another program's server there would answer them.
async function isFree(port: number, host: string): Promise<boolean> {
  const beside = host === '127.0.0.1' ? await tryPort(port, '::1') : {}
  return beside.code !== 'EADDRINUSE' && (await tryPort(port, host)).code === undefined
}

function tryPort(port: number, host: string): Promise<{ port?: number; code?: string }> {
  return new Promise((done) => {
    const server = createServer()
    server.on('error', (error: NodeJS.ErrnoException) => done({ code: error.code ?? error.message }))
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? { port: address.port } : {}))
    })
  })
}
