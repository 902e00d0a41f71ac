import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isGroupedBySession } from '#src/platform/idle-policy.ts'
import { slowAvif } from '../support/slow-avif.ts'
import { type System, startSystem } from '../support/system.ts'

const SCHED_IDLE = 5

// Only Linux shows the priorities of threads.
describe.runIf(process.platform === 'linux')('the priority', () => {
  let system: System

  beforeAll(async () => {
    system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'deliver', 'attest', 'clock'] })
  }, 90_000)
  afterAll(() => system?.close())

  const prioritiesOf = (name: string) => threadPriorities(system.supervisor.children.get(name)?.pid ?? 0)

  it.each(['web', 'dispatch', 'deliver'])('of %s, which others wait for, is the default one', (name) => {
    expect(prioritiesOf(name)[0]).toBe(0)
  })

  it.each(['attest', 'clock'])('of %s is lower in every thread', (name) => {
    const priorities = prioritiesOf(name)
    expect(priorities.length).toBeGreaterThan(1)
    expect(Math.min(...priorities)).toBeGreaterThan(0)
  })

  // Between sessions the kernel looks at this one alone.
  it.runIf(hasAutogroups())(
    'of the session is that of the process, and of a session with bulk work the lowest',
    async () => {
      const ofSession = (name: string) => sessionPriority(system.supervisor.children.get(name)?.pid ?? 0)
      for (const name of ['web', 'dispatch', 'deliver']) expect([name, ofSession(name)]).toEqual([name, 0])
      // On a busy machine it is that of the process for some seconds.
      for (const name of ['attest', 'clock'])
        await vi.waitFor(() => expect(ofSession(name)).toBe(19), { timeout: 60_000 })
    },
  )

  it.runIf(isGroupedBySession() && hasChrt())(
    'of threads with bulk work is none where a processor that runs nothing else should count as free',
    async () => {
      const policiesOf = (name: string) => threadPolicies(system.supervisor.children.get(name)?.pid ?? 0)
      for (const name of ['attest', 'clock']) {
        await vi.waitFor(() => expect(new Set(policiesOf(name))).toEqual(new Set([SCHED_IDLE])), { timeout: 60_000 })
      }
      for (const name of ['web', 'dispatch', 'deliver']) expect(policiesOf(name)).not.toContain(SCHED_IDLE)
    },
  )

  it.runIf(hasAutogroups() && hasTaskset())(
    'of a session with bulk work is raised while a process of the default priority has the processor',
    async () => {
      const busy = 'setInterval(() => { for (const end = performance.now() + 50; performance.now() < end; ); })'
      const yields = `import('#src/platform/priority.ts').then(({ yieldProcessors }) => { yieldProcessors(); ${busy} })`
      const started = [yields, busy].map((script) =>
        spawn('taskset', ['-c', '0', process.execPath, '-e', script], { detached: true, stdio: 'ignore' }),
      )
      try {
        const seen: number[] = []
        await vi.waitFor(
          () => {
            seen.push(sessionPriority(started[0]?.pid ?? 0))
            expect(seen).toContain(19)
            expect(seen.at(-1)).toBe(5)
          },
          { timeout: 60_000, interval: 100 },
        )
      } finally {
        for (const child of started) child.kill('SIGKILL')
      }
    },
    90_000,
  )

  it('of the thread in which web reads pictures is lower, and of the processes in which it decodes them still lower', async () => {
    expect(prioritiesOf('web').filter((priority) => priority > 0)).toEqual([])
    const response = await fetch(`${system.baseUrl}/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${system.key}`, 'content-type': 'image/avif' },
      body: new Uint8Array(slowAvif(1)),
    })
    expect(response.status).toBe(200)
    const priorities = prioritiesOf('web')
    expect(priorities.some((priority) => priority > 0)).toBe(true)
    expect(priorities[0]).toBe(0)

    const { media_id: id } = (await response.json()) as { media_id: string }
    const headers = { authorization: `Bearer ${system.key}` }
    expect((await fetch(`${system.baseUrl}/v1/media/${id}/thumbnail`, { headers })).status).toBe(200)
    const decoders = decodersOf(system.supervisor.children.get('web')?.pid ?? 0)
    expect(decoders.length).toBeGreaterThan(0)
    for (const pid of decoders) {
      expect(Math.min(...threadPriorities(pid))).toBe(10)
      if (hasAutogroups()) expect([10, 19]).toContain(sessionPriority(pid))
    }
  })
})

function decodersOf(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number)
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('decoder-child.ts'))
}

function sessionPriority(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/autogroup`, 'utf8').replace(/^.* nice /s, ''))
}

function hasChrt(): boolean {
  return spawnSync('chrt', ['--version']).status === 0
}

function hasTaskset(): boolean {
  return spawnSync('taskset', ['--version']).status === 0
}

function hasAutogroups(): boolean {
  const setting = '/proc/sys/kernel/sched_autogroup_enabled'
  return existsSync(setting) && readFileSync(setting, 'utf8').trim() === '1'
}

/** Nice values of a process's threads, its main thread first. */
const threadPriorities = (pid: number) => ofThreads(pid, 19)

const threadPolicies = (pid: number) => ofThreads(pid, 41)

/** A field of proc_pid_stat(5) of each thread, the main thread first. */
function ofThreads(pid: number, field: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number)
  return threads
    .toSorted((left, right) => left - right)
    .map((thread) => {
      // The second field may contain spaces.
      const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').replace(/^.*\) /s, '')
      return Number(fields.split(' ')[field - 3])
    })
}
