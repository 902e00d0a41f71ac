import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Relay, startRelay } from '../../faults/proxy.ts'
import { until } from '../support/until.ts'

describe('a relay', () => {
  let echo: Server
  let relay: Relay
  const sockets: Socket[] = []
  beforeEach(async () => {
    echo = createServer((socket) => {
      socket.on('error', () => {})
      socket.pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    relay = await startRelay([portOf(echo)])
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    relay.close()
    echo.close()
  })

  function open() {
    const socket = connect(relay.port, '127.0.0.1')
    sockets.push(socket)
    const seen = { text: '', error: '', isClosed: false }
    socket.on('data', (chunk) => {
      seen.text += chunk
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      seen.error = error.code ?? ''
    })
    socket.on('close', () => {
      seen.isClosed = true
    })
    return { socket, seen }
  }

  it('lets all bytes through, in order, and later when it is slow', async () => {
    const { socket, seen } = open()
    socket.write('one ')
    await until(() => seen.text === 'one ')
    relay.slow(60)
    const since = performance.now()
    socket.write('two ')
    await until(() => seen.text === 'one two ')
    expect(performance.now() - since).toBeGreaterThan(110)
    socket.write('three ')
    relay.restore()
    socket.write('four')
    await until(() => seen.text === 'one two three four')
  })

  it('loses the bytes of the connections that it abandons, and lets those of new ones through', async () => {
    const old = open()
    old.socket.write('before ')
    await until(() => old.seen.text === 'before ')
    relay.abandon()
    old.socket.write('lost ')
    const next = open()
    next.socket.write('new ')
    await until(() => next.seen.text === 'new ')
    expect(old.seen).toEqual({ text: 'before ', error: '', isClosed: false })
  })

  it('lets no bytes through while it is stalled, and all of them afterwards', async () => {
    const { socket, seen } = open()
    socket.write('before ')
    await until(() => seen.text === 'before ')
    relay.stall()
    socket.write('meanwhile')
    const late = open()
    late.socket.write('late')
    await new Promise((done) => setTimeout(done, 100))
    expect({ ...seen, late: late.seen.text }).toMatchObject({ text: 'before ', isClosed: false, late: '' })
    relay.restore()
    await until(() => seen.text === 'before meanwhile' && late.seen.text === 'late')
  })

  it('ends connections and accepts none while it is cut', async () => {
    const { socket, seen } = open()
    socket.write('x')
    await until(() => seen.text === 'x')
    relay.cut()
    await until(() => seen.isClosed)
    const refused = open()
    await until(() => refused.seen.isClosed)
    relay.restore()
    const again = open()
    again.socket.write('y')
    await until(() => again.seen.text === 'y')
  })

  it('resets, and connects to the next target when one refuses', async () => {
    const { socket, seen } = open()
    socket.write('x')
    await until(() => seen.text === 'x')
    relay.reset()
    await until(() => seen.isClosed)
    expect(seen.error).toBe('ECONNRESET')
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const deadPort = portOf(closed)
    closed.close()
    await once(closed, 'close')
    relay.target([deadPort, portOf(echo)])
    for (const text of ['a', 'b']) {
      const next = open()
      next.socket.write(text)
      await until(() => next.seen.text === text)
    }
  })
})

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
