// Real processes that are slow, frozen and killed: how the supervisor waits for them, and replaces them.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../support/database.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const PATIENCE_MS = 150_000
// Ten times as often as the supervisor of `npm start` would have named a process in the minute after which it once gave up.
const MANY_LINES = 60
const WAITS_EVERY_MS = 50
const SLOW = /a store takes long to answer/

/** Has no process become ready, as on a machine where Postgres is slow, until it is released. */
async function holdMigrations({ ownerUrl }: Pick<TestDatabase, 'ownerUrl'>): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: ownerUrl })
  await holder.connect()
  await holder.query('BEGIN; LOCK TABLE migrations IN ACCESS EXCLUSIVE MODE')
  return () => holder.end()
}

describe('the supervisor', { timeout: 2 * PATIENCE_MS }, () => {
  let system: System
  beforeAll(async () => {
    system = await startSystem({
      engine: 'postgres',
      only: ['clock', 'sequence'],
      silentAfterMs: 6_000,
      waitsEveryMs: WAITS_EVERY_MS,
      onLog: (text) => {
        logged += text
      },
    })
  }, PATIENCE_MS)
  afterAll(() => system?.close())

  let logged = ''
  const pid = (name = 'clock') => system.supervisor.children.get(name)?.pid
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

  it('waits for a process that was killed and starts slowly, and names it, while the others run', async () => {
    const [before, other] = [pid(), pid('sequence')]
    const port = system.supervisor.internalPorts.clock ?? 0
    const release = await holdMigrations(system.database)
    logged = ''
    if (before !== undefined) process.kill(before, 'SIGKILL')
    // A step of its start timed out, and not only once.
    const timesOf = (pattern: RegExp) => logged.split(pattern).length - 1
    await until(() => timesOf(SLOW) > 1 && system.waits.length > MANY_LINES, { timeoutMs: PATIENCE_MS })
    expect(system.waits.at(-1)).toMatch(/^waiting for clock, which has not become ready for \d+ s \(load /)
    expect(await isReady(system.supervisor.internalPorts.sequence ?? 0)).toBe(true)
    await release()
    await until(() => isReady(port), { timeoutMs: PATIENCE_MS })
    expect(pid('sequence')).toBe(other)
    expect(system.warnings.join('\n')).not.toMatch(/could not start/)
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

// Each has a system of its own, and waits for most of its time.
describe.concurrent('a start', { timeout: 2 * PATIENCE_MS }, () => {
  const options = { engine: 'postgres', only: ['clock', 'sequence'] } as const

  it('waits for processes that are slow, and names them', async () => {
    const waits = Promise.withResolvers<string>()
    let logged = ''
    let lines = 0
    const starting = startSystem({
      ...options,
      waitsEveryMs: WAITS_EVERY_MS,
      onLog: (text) => {
        logged += text
      },
      onWait: (line) => {
        lines += 1
        if (lines > MANY_LINES && SLOW.test(logged)) waits.resolve(line)
      },
      onDatabase: async (database) => {
        const release = await holdMigrations(database)
        void waits.promise.then(release)
      },
    })
    const system = await starting
    expect(await waits.promise).toMatch(
      /^waiting for (?:clock|sequence).*, which ha(?:s|ve) not become ready for \d+ s/,
    )
    expect(system.supervisor.children.size).toBe(2)
    await system.close()
  })

  it('launches a process again that freezes before it is ready', async () => {
    const system = await startSystem({
      ...options,
      silentAfterMs: 6_000,
      environmentOf: (name, launch): Record<string, string> =>
        name === 'clock' && launch === 1
          ? {
              NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('process.kill(process.pid, "SIGSTOP")')}`,
            }
          : {},
    })
    expect(system.warnings).toContain('clock has not answered for 6 s: it is killed')
    await system.close()
  })

  it('fails when a process ends by an error of its own, and says which, its exit code and its last lines', async () => {
    const starting = startSystem({
      ...options,
      environmentOf: (name): Record<string, string> => (name === 'clock' ? { MASTER_KEY: 'short' } : {}),
    })
    await expect(starting).rejects.toThrow(
      /^clock could not start: it ended with exit code 78\n {2}The configuration can't be used:\n {4}MASTER_KEY: /,
    )
  })
})
