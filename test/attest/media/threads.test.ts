import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createThreads, type Threads, type ThreadsOptions } from '#src/attest/media/threads.ts'
import { until } from '../../support/until.ts'

interface Request {
  op: 'inspect'
  path: string
  owner?: string
}

const directory = mkdtempSync(join(tmpdir(), 'countersign-threads-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const threadsThat = (options: Partial<ThreadsOptions<Request>>) =>
  createThreads<Request>({
    thread: new URL('./misbehaving-thread.ts', import.meta.url),
    threads: 1,
    limitMs: 20_000,
    quickMs: 200,
    maxWaiting: 100,
    ...options,
  })

/** A task that ends when `open` is called, and that a path of this name asks for. */
function makeGate(name: string): { path: string; open(): void } {
  const file = join(directory, name)
  return { path: `until ${file}`, open: () => writeFileSync(file, '') }
}

/** The outcomes, in the order in which they were answered. */
async function orderOf(
  threads: Threads<Request>,
  requests: readonly Omit<Request, 'op'>[],
  onAnswer: (order: readonly string[]) => void = () => {},
): Promise<string[]> {
  const order: string[] = []
  await Promise.all(
    requests.map(async ({ path, owner = '' }) => {
      const answer = await threads.submit({ op: 'inspect', path, owner })
      const name = path.startsWith('until') ? 'slow' : path
      order.push([name, owner, answer.ok ? 'ok' : answer.code].filter(Boolean).join(' '))
      onAnswer(order)
    }),
  )
  return order
}

const paths = (...names: string[]) => names.map((path) => ({ path }))

it('a slow task moves to a side thread, and no other task waits for it', async () => {
  const threads = threadsThat({})
  const { path: slow, open } = makeGate('moved')
  const order = orderOf(threads, paths(slow, 'fine', slow, 'fine'), ({ length }) => {
    if (length === 2) open()
  })
  expect(await order).toEqual(['fine ok', 'fine ok', 'slow ok', 'slow ok'])
  threads.close()
})

it('a stuck task gets its whole time in a side thread, and no more', async () => {
  // The other task waits for a new thread to start, which takes seconds on a busy machine.
  const waiting = threadsThat({ limitMs: 5_000 })
  expect(await orderOf(waiting, paths('never', 'fine'))).toEqual(['fine ok', 'never timeout'])
  waiting.close()
  const computing = threadsThat({ limitMs: 600 })
  expect((await orderOf(computing, paths('loop', 'fine'))).toSorted()).toEqual(['fine ok', 'loop timeout'])
  computing.close()
})

it('a task that is known to be slow starts in a side thread', async () => {
  const { path: slow, open } = makeGate('known')
  const threads = threadsThat({ quickMs: 10_000, isSlow: ({ path }) => path === slow })
  const order = orderOf(threads, paths(slow, 'fine', 'fine'), ({ length }) => {
    if (length === 2) open()
  })
  expect(await order).toEqual(['fine ok', 'fine ok', 'slow ok'])
  threads.close()
})

it('stuck tasks of few owners leave side threads for other owners', async () => {
  const threads = threadsThat({ ownerOf: ({ owner = '' }) => owner, seats: { all: 3, each: 2 } })
  const owners = ['a', 'a', 'a', 'b', 'c', 'd']
  const answers = owners.map((owner) => threads.submit({ op: 'inspect', path: 'never', owner }))
  const busy = { code: 'busy' }
  // The owner's third, its second for the third owner, and the one of an owner that comes when each has one.
  expect(await Promise.all([answers[2], answers[1], answers[5]])).toMatchObject([busy, busy, busy])
  threads.close()
  const closed = { code: 'closed' }
  expect(await Promise.all([answers[0], answers[3], answers[4]])).toMatchObject([closed, closed, closed])
})

it('tasks of few owners that fill the queue are refused for those of others, the newest first', async () => {
  const { path: slow, open } = makeGate('full')
  const threads = threadsThat({ quickMs: 20_000, maxWaiting: 6, ownerOf: ({ owner = '' }) => owner })
  const owners = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'd']
  const order = orderOf(
    threads,
    owners.map((owner, index) => ({ path: index === 0 ? slow : 'fine', owner })),
    ({ length }) => {
      if (length === 2) open()
    },
  )
  const outcomes = await order
  // One runs, three and three wait. Two of these go, and no newcomer.
  expect(outcomes.filter((one) => one.endsWith('busy'))).toEqual(['fine b busy', 'fine a busy'])
  expect(outcomes).toContain('fine c ok')
  expect(outcomes).toContain('fine d ok')
  threads.close()
})

it('owners take turns, so that many tasks of one delay the task of another by one', async () => {
  const { path: slow, open } = makeGate('turns')
  const threads = threadsThat({ quickMs: 20_000, ownerOf: ({ owner = '' }) => owner })
  const tasks = ['loud', 'loud', 'loud', 'quiet'].map((owner) => ({ path: 'fine', owner }))
  const order = orderOf(threads, [{ path: slow, owner: 'loud' }, ...tasks])
  open()
  // The first runs when the others come, and one more of its owner was there before the other owner's.
  expect((await order).indexOf('fine quiet ok')).toBe(2)
  threads.close()
})

it('a side thread is free again after any outcome of its task', async () => {
  const threads = threadsThat({ limitMs: 400, seats: { all: 1, each: 1 } })
  for (const path of ['never', 'slow', 'never'])
    expect(await orderOf(threads, paths(path))).toEqual([`${path} timeout`])
  threads.close()
})

it('a side thread is told that it is one', async () => {
  const told: boolean[] = []
  const threads = threadsThat({ workerData: (isAside) => told.push(isAside), isSlow: ({ path }) => path === 'slow' })
  await orderOf(threads, paths('slow', 'fine'))
  expect(told.toSorted()).toEqual([false, true])
  threads.close()
})

it.each([false, true])('an idle thread ends, and the next task starts another (side thread: %s)', async (isAside) => {
  let [started, ended] = [0, 0]
  const count = (worker: Worker) => {
    started += 1
    worker.once('exit', () => (ended += 1))
  }
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  const threads = threadsThat({ idleMs: 50, quickMs: 20_000, isSlow: () => isAside })
  for (const nth of [1, 2]) {
    expect(await orderOf(threads, paths('fine', 'fine'))).toEqual(['fine ok', 'fine ok'])
    expect(started).toBe(nth)
    await until(() => ended === nth)
  }
  threads.close()
})

it('closing answers the tasks that wait for a side thread', async () => {
  const threads = threadsThat({ isSlow: () => true })
  const order = orderOf(threads, paths('never', 'never'))
  threads.close()
  expect(await order).toEqual(['never closed', 'never closed'])
})
