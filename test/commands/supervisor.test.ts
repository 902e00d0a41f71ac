// Real processes that are frozen and killed, and how the supervisor replaces them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const PATIENCE_MS = 150_000

describe('the supervisor', { timeout: 2 * PATIENCE_MS }, () => {
  let system: System
  beforeAll(async () => {
    system = await startSystem({ engine: 'postgres', only: ['clock'], silentAfterMs: 6_000 })
  }, PATIENCE_MS)
  afterAll(() => system?.close())

  const pid = () => system.supervisor.children.get('clock')?.pid
  const isReady = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.status === 200

  it.each(['SIGSTOP', 'SIGKILL'] as const)('replaces a process after %s, at its internal port', async (signal) => {
    const before = pid()
    const port = system.supervisor.internalPorts.clock ?? 0
    expect(await isReady(port)).toBe(true)
    if (before !== undefined) process.kill(before, signal)
    await until(async () => pid() !== before && (await isReady(port)), { timeoutMs: PATIENCE_MS })
    expect(system.supervisor.internalPorts.clock).toBe(port)
    if (signal === 'SIGSTOP') expect(system.warnings.join('\n')).toMatch(/clock has not answered/)
  })

  it('names the process that it waits for when stopping takes long', async () => {
    const { supervisor, warnings } = system
    const own = supervisor.children.get('clock')
    // A process that is frozen does not notice SIGTERM.
    own?.kill('SIGSTOP')
    const stopped = supervisor.stop()
    await until(() => warnings.some((line) => line === 'still stopping: clock'), { timeoutMs: PATIENCE_MS })
    own?.kill('SIGCONT')
    await stopped
  })
})
