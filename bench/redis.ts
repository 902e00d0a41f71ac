import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'

/** A separate redis-server, or undefined where there is none. */
export async function startRedis(directory: string): Promise<{ url: string; pid: number; stop(): void } | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const port = await new Promise<number>((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction']
  const child = spawn('redis-server', flags, { cwd: directory, stdio: 'ignore' })
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.ping()
  client.disconnect()
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => void child.kill('SIGKILL') }
}
