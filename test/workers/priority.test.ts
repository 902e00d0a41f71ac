import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { getPriority } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { slowAvif } from '../support/slow-avif.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const DEFAULT = getPriority()
const STEP = 5
/** SCHED_OTHER of sched(7) in all threads, and the session as it began: the kernel groups threads by it, or does not. */
const DEFAULT_SHARING = { policies: new Set([0]), sessionNice: 0 }
const PROMPT = ['web', 'dispatch', 'deliver']

// Only Linux shows the priorities of threads.
describe.runIf(process.platform === 'linux')('the priority', () => {
  let system: System

  beforeAll(async () => {
    system = await startSystem({ engine: 'postgres' })
  }, 180_000)
  afterAll(() => system?.close())

  const pidOf = (name: string) => system.supervisor.children.get(name)?.pid ?? 0
  const prioritiesOf = (name: string) => threadPriorities(pidOf(name))

  it.each(PROMPT)('of %s, which others wait for, is the default one', (name) => {
    expect(new Set(prioritiesOf(name))).toEqual(new Set([DEFAULT]))
  })

  it('of every other process that is ready is five lower, in every thread', () => {
    const others = [...system.supervisor.children.keys()].filter((name) => !PROMPT.includes(name))
    expect(others).toEqual(expect.arrayContaining(['attest', 'screen', 'compare', 'export', 'sequence', 'clock']))
    for (const name of others) {
      const priorities = prioritiesOf(name)
      expect(priorities.length, name).toBeGreaterThan(1)
      expect(new Set(priorities), name).toEqual(new Set([DEFAULT + STEP]))
    }
  })

  it.each(['attest', 'clock'])('of %s that is not ready is the default one in every thread', async (name) => {
    const url = new URL(system.database.url)
    const gate = await startGate(Number(url.port))
    url.port = String(gate.port)
    // It may name the folder of a socket, which would win.
    url.search = ''
    const adding = system.add(name, { DATABASE_URL: url.href })
    const hasAsked = until(() => gate.held() > 0, { what: `${name} connects to Postgres` })
    try {
      // It has read its configuration, and asks Postgres what it must know before it is ready.
      await Promise.race([hasAsked, adding])
      const pid = processWith(`DATABASE_URL=${url.href}`)
      expect(new Set(threadPriorities(pid))).toEqual(new Set([DEFAULT]))
      expect(sharingOf(pid)).toEqual(DEFAULT_SHARING)
      gate.open()
      await adding
      expect(new Set(threadPriorities(pid))).toEqual(new Set([DEFAULT + STEP]))
    } finally {
      gate.open()
      await adding.catch(() => {})
      gate.close()
    }
  })

  it('of the thread in which web reads pictures is lower, and of the processes in which it decodes them still lower', async () => {
    const response = await fetch(`${system.baseUrl}/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${system.key}`, 'content-type': 'image/avif' },
      body: new Uint8Array(slowAvif(1)),
    })
    expect(response.status).toBe(200)
    const priorities = prioritiesOf('web')
    expect(priorities).toContain(DEFAULT + STEP)
    expect(priorities[0]).toBe(DEFAULT)

    const { media_id: id } = (await response.json()) as { media_id: string }
    const headers = { authorization: `Bearer ${system.key}` }
    expect((await fetch(`${system.baseUrl}/v1/media/${id}/thumbnail`, { headers })).status).toBe(200)
    const decoders = childrenOf(pidOf('web')).filter((pid) => commandOf(pid).includes('decoder-child.ts'))
    expect(decoders.length).toBeGreaterThan(0)
    for (const pid of decoders) expect(new Set(threadPriorities(pid))).toEqual(new Set([Math.max(10, DEFAULT)]))
  })

  // The decoders of the test before are still there.
  it('is all that the deployment changes: no thread has SCHED_IDLE, no session another share', () => {
    const pids = [...system.supervisor.children.values()].flatMap(({ pid = 0 }) => [pid, ...childrenOf(pid)])
    expect(pids.some((pid) => commandOf(pid).includes('decoder-child.ts'))).toBe(true)
    for (const pid of pids) expect([commandOf(pid), sharingOf(pid)]).toEqual([commandOf(pid), DEFAULT_SHARING])
  })
})

/** A way to Postgres on which nothing moves until it is open. */
async function startGate(port: number) {
  const waiting: Socket[] = []
  let isOpen = false
  const forward = (client: Socket) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      socket.on('error', () => socket.destroy())
      socket.on('close', () => void [client, upstream].map((one) => one.destroy()))
    }
    client.pipe(upstream).pipe(client)
  }
  const server = createServer({ pauseOnConnect: true }, (client) => {
    if (isOpen) forward(client)
    else waiting.push(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    held: () => waiting.length,
    open() {
      isOpen = true
      waiting.splice(0).forEach(forward)
    },
    close: () => void server.close(),
  }
}

/** Id of the process that has this variable in its environment. */
function processWith(variable: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return Number(pids.find((pid) => read(`/proc/${pid}/environ`).split('\0').includes(variable)))
}

const commandOf = (pid: number) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
}

/** How the kernel shares the processors with a process, besides its nice value. */
function sharingOf(pid: number) {
  const nice = / nice (-?\d+)/.exec(read(`/proc/${pid}/autogroup`))?.[1]
  return { policies: new Set(ofThreads(pid, 41)), sessionNice: Number(nice ?? 0) }
}

/** Nice values of a process's threads, its main thread first. */
const threadPriorities = (pid: number) => ofThreads(pid, 19)

/** A field of proc_pid_stat(5) of each thread, the main thread first. */
function ofThreads(pid: number, field: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number)
  return threads
    .toSorted((left, right) => left - right)
    .map((thread) => read(`/proc/${pid}/task/${thread}/stat`))
    .filter((stat) => stat !== '')
    .map((stat) => {
      // The second field may contain spaces.
      const fields = stat.replace(/^.*\) /s, '').split(' ')
      return Number(fields[field - 3])
    })
}

// A process or a thread may have ended.
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
