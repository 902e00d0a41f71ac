import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { choosePorts, freePort } from '../../commands/ports.ts'

describe('a port for a server that starts later', () => {
  it('is found once by a process, however many it looks for at the same time', async () => {
    const found = await Promise.all(Array.from({ length: 1_000 }, () => freePort()))
    expect(new Set(found).size).toBe(found.length)
    // Below those of connections that are made, above those that fetch() refuses.
    expect(Math.min(...found)).toBeGreaterThan(10_080)
    expect(Math.max(...found)).toBeLessThan(32_768)
  })

  it('is not one that is in use', async () => {
    const port = await freePort()
    const server = createServer()
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
    try {
      await expect(choosePorts({ port, internalPort: 0 })).rejects.toThrow(`PORT=${port} is taken by another program`)
      await expect(choosePorts({ port: undefined, internalPort: port })).rejects.toThrow(
        `INTERNAL_PORT=${port} is taken`,
      )
      expect((await choosePorts({ port: 0, internalPort: 0 })).web).not.toBe(port)
    } finally {
      server.close()
    }
  })

  it('has an address of this machine', async () => {
    await expect(freePort('192.0.2.1')).rejects.toThrow('HOST=192.0.2.1 is no address of this machine.')
  })
})
