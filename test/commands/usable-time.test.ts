// Which processes are slow and which are hung: real ones, in each state.

import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { createUsableTime, readProcess } from '../../commands/usable-time.ts'
import { until } from '../support/until.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function run(script: string): number {
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
  children.push(child)
  return child.pid ?? 0
}

const isHeldUp = async (pid: number) => (await readProcess(pid))?.isHeldUp
const processorMs = async (pid: number) => (await readProcess(pid))?.processorMs ?? 0

describe('the usable time of a process', () => {
  it('is its processor time where it computes', async () => {
    const pid = run('for (;;);')
    await until(async () => (await processorMs(pid)) > 300)
    const usableMs = createUsableTime(() => pid)
    await usableMs(0)
    const before = await processorMs(pid)
    await until(async () => (await processorMs(pid)) > before)
    const most = await usableMs(1e9)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(await processorMs(pid))
  })

  it('is all of the time where it sleeps or is suspended', async () => {
    // A start alone may take less than the 10 ms that the kernel counts.
    const pid = run('while (process.threadCpuUsage().user < 1e5); setInterval(() => {}, 1e6)')
    await until(async () => (await processorMs(pid)) >= 50 && (await isHeldUp(pid)) === false)
    process.kill(pid, 'SIGSTOP')
    await until(async () => (await isHeldUp(pid)) === false)
    expect(await createUsableTime(() => pid)(10_000)).toBe(10_000)
  })

  it('is nothing where it waits for a processor, and never more than has passed', async () => {
    let used = 500
    const usableMs = createUsableTime(
      () => 7,
      async () => ({ isHeldUp: true, processorMs: used }),
    )
    await usableMs(1_000)
    expect(await usableMs(10_000)).toBe(0)
    used += 40
    expect(await usableMs(10_000)).toBe(40)
    used += 60_000
    expect(await usableMs(10_000)).toBe(10_000)
  })

  it('is all of the time where there is no such process', async () => {
    expect(await createUsableTime(() => undefined)(10)).toBe(10)
    expect(await createUsableTime(() => 2 ** 30)(10)).toBe(10)
  })
})
