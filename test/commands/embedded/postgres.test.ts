// Real servers and real deaths: each holder is another process, as in production.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest'
import { startEmbeddedPostgres } from '../../../commands/embedded/postgres.ts'
import { isAlive } from '../../../commands/embedded/process-lock.ts'
import { until } from '../../support/until.ts'

const MODULE = pathToFileURL(join(import.meta.dirname, '../../../commands/embedded/postgres.ts')).href
const PEER = 'SELECT inet_client_addr()::text AS peer'
const isRoot = userInfo().uid === 0

// Data that initdb made once: it takes as long as everything else that a test does.
const template = mkdtempSync(join(tmpdir(), 'countersign-initialized-'))

beforeAll(async () => {
  chmodSync(template, 0o711)
  const holder = await createPlace(template).startHolder()
  await holder.release()
}, 200_000)

afterAll(() => rmSync(template, { recursive: true, force: true }))

// A folder of its own for each test: they wait for most of their time, so they run beside each other.
const test = plain.extend<{ place: Place }>({
  place: async ({ task: _ }, use) => {
    const root = mkdtempSync(join(tmpdir(), 'countersign-embedded-'))
    // As root, Postgres runs as another user. Where that one can't enter, it gets a folder that outlives the test.
    chmodSync(root, 0o711)
    const place = createPlace(root)
    execFileSync('cp', ['-a', join(template, 'embedded'), place.directory])
    await use(place)
    // Also processes that a failed test did not wait for.
    await Promise.all(place.children.map(kill))
    const isOver = async () => !(await place.isServed()) && !(await place.isWatched())
    await until(isOver, { timeoutMs: PATIENCE_MS })
    rmSync(root, { recursive: true, force: true })
  },
})

// Each wait takes a second or two, and longer on a machine with fifteen times as much work as it can do.
const PATIENCE_MS = 150_000
// A watchdog that starts on a busy machine must be faster.
const SILENT_AFTER_MS = 6_000

describe('an embedded server', { timeout: 2 * PATIENCE_MS }, () => {
  test.concurrent('serves every process that holds it, and ends with the last of them', async ({ place }) => {
    const { startHolder, isServed } = place
    const first = await startHolder()
    const second = await startHolder()
    expect([first.isJoined, second.isJoined]).toEqual([false, true])
    expect(second.ownerUrl).toBe(first.ownerUrl)

    await first.release()
    expect(await isServed()).toBe(true)
    expect(await query(second.ownerUrl, 'SELECT current_database()')).toEqual([{ current_database: 'trial' }])

    await second.release()
    expect(await isServed()).toBe(false)
    // A watchdog that is stopped while it waits for their lock leaves its claim to that.
    const isHolder = (name: string) => /^\d/.test(name)
    await until(() => !readdirSync(join(place.directory, 'holders')).some(isHolder), { timeoutMs: PATIENCE_MS })
  })

  test.concurrent('ends when its last holder was killed, and the data exists at the next start', async ({
    place: { startHolder, isServed },
  }) => {
    const killed = await startHolder()
    await query(killed.ownerUrl, 'CREATE TABLE kept AS SELECT 7 AS seven')
    killed.child.kill('SIGKILL')
    await until(async () => !(await isServed()), { timeoutMs: PATIENCE_MS })

    const next = await startHolder()
    expect(next.isJoined).toBe(false)
    expect(await query(next.ownerUrl, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }])
    await next.release()
  })

  test.concurrent('starts on the postmaster.pid of a server that was killed together with its processes', async ({
    place: { startHolder, serverPid, watchdogPid, serverDirectory },
  }) => {
    const killed = await startHolder()
    const server = serverPid()
    process.kill(watchdogPid(), 'SIGKILL')
    killed.child.kill('SIGKILL')
    process.kill(server, 'SIGKILL')
    await until(async () => !(await isAlive(server)), { timeoutMs: PATIENCE_MS })
    expect(existsSync(join(serverDirectory(), 'postmaster.pid'))).toBe(true)

    const next = await startHolder()
    expect(next.isJoined).toBe(false)
    expect(serverPid()).not.toBe(server)
    await next.release()
  })

  test.concurrent('is started again when it crashes under a holder', async ({ place: { startHolder, serverPid } }) => {
    const holder = await startHolder()
    const server = serverPid()
    process.kill(server, 'SIGKILL')
    await untilAnswers(holder)
    expect(serverPid()).not.toBe(server)
    await holder.release()
  })

  test.concurrent('gets another watchdog when its own was killed, and is started again by that one', async ({
    place: { startHolder, serverPid, watchdogPid, isServed },
  }) => {
    const holder = await startHolder()
    const [server, watchdog] = [serverPid(), watchdogPid()]
    process.kill(watchdog, 'SIGKILL')
    await until(() => watchdogPid() !== watchdog, { timeoutMs: PATIENCE_MS })
    expect(serverPid()).toBe(server)
    expect(await query(holder.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }])

    process.kill(server, 'SIGKILL')
    await untilAnswers(holder)
    expect(serverPid()).not.toBe(server)
    await holder.release()
    expect(await isServed()).toBe(false)
  })

  test.concurrent('comes back at its address when its watchdog and the server were killed', async ({
    place: { startHolder, serverPid, watchdogPid, isServed },
  }) => {
    const holder = await startHolder()
    const server = serverPid()
    process.kill(watchdogPid(), 'SIGKILL')
    process.kill(server, 'SIGKILL')
    await untilAnswers(holder)
    expect(serverPid()).not.toBe(server)
    await holder.release()
    expect(await isServed()).toBe(false)
  })

  test.concurrent('ends with its last holder, also when it and its watchdog are frozen', async ({
    place: { startHolder, serverPid, watchdogPid, isServed },
  }) => {
    const holder = await startHolder()
    const watchdog = watchdogPid()
    for (const pid of [watchdog, serverPid()]) process.kill(pid, 'SIGSTOP')
    await holder.release()
    expect([await isServed(), await isAlive(watchdog)]).toEqual([false, false])
  })

  test.concurrent('ends with its last holder, also under the watchdog that adopted it', async ({
    place: { startHolder, watchdogPid, isServed },
  }) => {
    const holder = await startHolder()
    const watchdog = watchdogPid()
    process.kill(watchdog, 'SIGKILL')
    await until(() => watchdogPid() !== watchdog, { timeoutMs: PATIENCE_MS })
    holder.child.kill('SIGKILL')
    await until(async () => !(await isServed()), { timeoutMs: PATIENCE_MS })
  })

  test.concurrent('deletes a transient folder and what stands apart from it, also when its holder was killed', async ({
    place,
  }) => {
    const { startHolder, serverDirectory, root } = place
    // As root: a folder that the user of Postgres can't enter.
    chmodSync(root, 0o700)
    rmSync(place.directory, { recursive: true })
    const holder = await startHolder({ transient: root })
    const data = serverDirectory()
    expect(existsSync(data)).toBe(true)
    holder.child.kill('SIGKILL')
    await until(() => !existsSync(root) && !existsSync(dirname(data)), { timeoutMs: PATIENCE_MS })
  })

  test.concurrent('never creates new data in place of data that it has no password for', async ({ place }) => {
    const { startHolder, serverDirectory } = place
    const holder = await startHolder()
    await holder.release()
    rmSync(join(dirname(serverDirectory()), 'postgres-password'))
    await expect(startEmbeddedPostgres({ directory: place.directory, database: 'trial' })).rejects.toThrow(
      /postgres-password is missing/,
    )
    expect(existsSync(join(serverDirectory(), 'PG_VERSION'))).toBe(true)
  })

  test.concurrent('starts over where initdb was interrupted', async ({ place }) => {
    const { startHolder } = place
    // Renamed at its end.
    renameSync(join(place.directory, 'postgres-password'), join(place.directory, 'initdb-password'))
    const holder = await startHolder()
    expect(await query(holder.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await holder.release()
  })

  test.concurrent('is reached by its Unix socket, and by TCP alone where the path of one would be too long', async ({
    place,
  }) => {
    const { startHolder, serverDirectory, root } = place
    const short = await startHolder()
    expect(new URL(short.ownerUrl).searchParams.get('host')).toBe(serverDirectory())
    expect(await query(short.ownerUrl, PEER)).toEqual([{ peer: null }])
    expect(await query(short.ownerUrl.replace(/\?.*/, ''), PEER)).toEqual([{ peer: '127.0.0.1/32' }])
    await short.release()

    place.directory = join(root, 'x'.repeat(100), 'embedded')
    const long = await startHolder()
    expect(await query(long.ownerUrl, PEER)).toEqual([{ peer: '127.0.0.1/32' }])
    await long.release()
  })

  test.runIf(isRoot)('runs as an unprivileged user, from a closed home', { concurrent: true }, async ({ place }) => {
    const { startHolder, serverDirectory, root } = place
    const open = await startHolder()
    expect(statSync(serverDirectory()).uid).not.toBe(0)
    await open.release()

    const home = join(root, 'home')
    mkdirSync(home, { mode: 0o700 })
    place.directory = join(home, 'checkout', 'embedded')
    const closed = await startHolder()
    const apart = dirname(serverDirectory())
    try {
      expect(apart.startsWith(home)).toBe(false)
      expect(await query(closed.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      await closed.release()
      const again = await startHolder()
      expect(dirname(serverDirectory())).toBe(apart)
      await again.release()
    } finally {
      rmSync(apart, { recursive: true, force: true })
    }
  })

  test.runIf(!isRoot)('keeps everything in its folder, closed to others', { concurrent: true }, async ({ place }) => {
    const { startHolder, serverDirectory } = place
    const holder = await startHolder()
    expect(serverDirectory().startsWith(place.directory)).toBe(true)
    expect(statSync(serverDirectory()).mode & 0o077).toBe(0)
    await holder.release()
  })
})

// One after the other: they judge by silence, which many starts at once make.
describe('an embedded server that is frozen, or whose watchdog is', { timeout: 2 * PATIENCE_MS }, () => {
  test('is replaced at the next start where it is frozen, and its watchdog and holder were killed', async ({
    place: { startHolder, serverPid, watchdogPid },
  }) => {
    const killed = await startHolder()
    const server = serverPid()
    process.kill(watchdogPid(), 'SIGKILL')
    killed.child.kill('SIGKILL')
    process.kill(server, 'SIGSTOP')

    const next = await startHolder({ silentAfterMs: SILENT_AFTER_MS })
    expect(serverPid()).not.toBe(server)
    expect(await query(next.ownerUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await next.release()
  })

  test('comes back at its address when it was killed while its watchdog is frozen', async ({
    place: { startHolder, serverPid, watchdogPid, isServed },
  }) => {
    const holder = await startHolder({ silentAfterMs: SILENT_AFTER_MS })
    const [server, watchdog] = [serverPid(), watchdogPid()]
    process.kill(watchdog, 'SIGSTOP')
    process.kill(server, 'SIGKILL')
    await untilAnswers(holder)
    expect(serverPid()).not.toBe(server)
    expect(await isAlive(watchdog)).toBe(false)
    await holder.release()
    expect(await isServed()).toBe(false)
  })

  test('comes back at its address when it is frozen', async ({ place: { startHolder, serverPid, watchdogPid } }) => {
    const holder = await startHolder({ silentAfterMs: SILENT_AFTER_MS })
    const [server, watchdog] = [serverPid(), watchdogPid()]
    process.kill(server, 'SIGSTOP')
    await untilAnswers(holder)
    expect(serverPid()).not.toBe(server)
    expect(watchdogPid()).toBe(watchdog)
    await holder.release()
  })
})

interface Holder {
  child: ChildProcess
  ownerUrl: string
  isJoined: boolean
  release(): Promise<void>
}

// Releases when it receives a word, and exits then.
const SCRIPT = `
  const { startEmbeddedPostgres } = await import(process.argv[1])
  const postgres = await startEmbeddedPostgres({ database: 'trial', isDurable: false, ...JSON.parse(process.argv[2]) })
  process.send({ ownerUrl: postgres.ownerUrl, isJoined: postgres.isJoined })
  process.once('message', async () => {
    await postgres.release()
    process.exit(0)
  })
`

type Place = ReturnType<typeof createPlace>

/** What stands in a folder, and the processes that hold it. */
function createPlace(root: string) {
  const place = {
    root,
    directory: join(root, 'embedded'),
    children: [] as ChildProcess[],
    startHolder,
    serverDirectory,
    serverPid,
    watchdogPid,
    isWatched,
    isServed,
  }

  function startHolder(options: { transient?: string; silentAfterMs?: number } = {}): Promise<Holder> {
    const args = [
      '--input-type=module',
      '-e',
      SCRIPT,
      MODULE,
      JSON.stringify({ directory: place.directory, ...options }),
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    place.children.push(child)
    return new Promise((done, fail) => {
      child.once('exit', (code) => fail(new Error(`the holder ended with ${code}`)))
      child.once('message', (said: { ownerUrl: string; isJoined: boolean }) => {
        const ended = new Promise<void>((end) => child.once('exit', () => end()))
        const release = () => {
          child.send('release')
          return ended
        }
        done({ ...said, child, release })
      })
    })
  }

  function serverDirectory(): string {
    const note = join(place.directory, 'apart')
    return existsSync(note) ? join(readFileSync(note, 'utf8'), 'postgres') : join(place.directory, 'postgres')
  }

  function serverPid(): number {
    return Number(readFileSync(join(serverDirectory(), 'postmaster.pid'), 'utf8').split('\n')[0])
  }

  async function isWatched(): Promise<boolean> {
    return (
      existsSync(join(dirname(serverDirectory()), 'watchdog.pid')) && (await isAlive(watchdogPid(), serverDirectory()))
    )
  }

  function watchdogPid(): number {
    return Number(readFileSync(join(dirname(serverDirectory()), 'watchdog.pid'), 'utf8'))
  }

  async function isServed(): Promise<boolean> {
    const file = join(serverDirectory(), 'postmaster.pid')
    return existsSync(file) && (await isAlive(serverPid(), serverDirectory()))
  }

  return place
}

function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((done) => {
    child.once('exit', () => done())
    child.kill('SIGKILL')
  })
}

function untilAnswers({ ownerUrl }: Holder): Promise<void> {
  const answers = async () => (await query(ownerUrl, 'SELECT 1').catch(() => [])).length === 1
  return until(answers, { timeoutMs: PATIENCE_MS })
}

async function query(connectionString: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
