import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeys } from '#src/account/keys/keys.ts'
import { createPace } from '../../commands/submit/pace.ts'
import { type System, startSystem } from '../support/system.ts'
import { createMaker, type Maker } from './captures.ts'
import { makeFolder, readRows, start, startGate } from './submission.ts'

const CAPTURES = 40
const never = new AbortController().signal

let system: System
let maker: Maker

beforeAll(async () => {
  // As a sandbox key of an account has it: 10 requests a second, 20 at once.
  system = await startSystem({
    engine: 'postgres',
    only: ['web', 'dispatch', 'attest'],
    environment: { RATE_LIMIT_FACTOR: '1' },
  })
  maker = await createMaker(system)
})

afterAll(() => system?.close())

function createClock({ connections }: { connections: number }) {
  let clock = 0
  const pace = createPace({
    connections,
    now: () => clock,
    sleep: async (ms) => {
      clock += ms
    },
  })
  const fields = (quota: number, left: number, seconds = 1) => ({
    'ratelimit-policy': `"default";q=${quota};w=1`,
    ratelimit: `"default";r=${left};t=${seconds}`,
  })
  return {
    pace,
    learn: (quota: number, left: number, seconds?: number) => pace.learn(fields(quota, left, seconds)),
    /** When each of so many requests is sent. */
    async sent(count: number): Promise<number[]> {
      const times: number[] = []
      for (let at = 0; at < count; at += 1) {
        await pace.turn(never)
        times.push(clock)
      }
      return times
    },
  }
}

test('requests are not spaced before a limit is known, nor while much of it is left', async () => {
  const { pace, learn, sent } = createClock({ connections: 12 })
  expect(await sent(3)).toEqual([0, 0, 0])
  learn(100, 13)
  expect(pace.intervalMs()).toBe(0)
  expect(await sent(3)).toEqual([0, 0, 0])
})

test('requests are spaced by the quota where fewer are left than may be on their way', async () => {
  const { learn, sent } = createClock({ connections: 12 })
  learn(10, 10)
  expect(await sent(4)).toEqual([0, 100, 200, 300])
  learn(100, 12)
  expect(await sent(3)).toEqual([400, 410, 420])
})

test('where none is left, the next request waits for the time that the answer says', async () => {
  const { learn, sent } = createClock({ connections: 12 })
  learn(10, 0, 3)
  expect(await sent(3)).toEqual([3000, 3100, 3200])
})

test('requests are not spaced by fields that are absent or in another form', async () => {
  for (const headers of [
    {},
    { 'ratelimit-policy': '"default";q=10;w=1' },
    { 'ratelimit-policy': '"default";q=0;w=1', ratelimit: '"default";r=1;t=1' },
    { 'ratelimit-policy': 'q', ratelimit: 'r=;t=' },
    { 'ratelimit-policy': '10, 10;w=1', ratelimit: '1.5' },
  ]) {
    const { pace, learn } = createClock({ connections: 12 })
    learn(10, 1)
    pace.learn(headers)
    expect([headers, pace.intervalMs()]).toEqual([headers, 0])
  }
})

test('a run with the key of an account is refused no request, and submits all', async () => {
  const work = makeFolder()
  const gate = await startGate(system.baseUrl, () => 'pass')
  try {
    const folder = join(work.path, 'in')
    for (let index = 0; index < CAPTURES; index += 1) maker.write(folder, `photo ${index}`, index)
    const out = join(work.path, 'out')
    // Without `verify` the command waits for no comparison of photos.
    const { key } = await createKeys({ db: system.database.db }).create(system.scope, { name: 'x', scopes: ['attest'] })
    const ended = await start([folder, '--url', gate.url, '--out', out], key).ended
    expect([ended.code, ended.stderr.includes('429')]).toEqual([0, false])
    expect(readRows(out).map(({ status }) => status)).toEqual(Array(CAPTURES).fill('succeeded'))
    expect(gate.statuses.filter((status) => status === 429)).toEqual([])
    expect(gate.statuses.length).toBeGreaterThan(CAPTURES)
  } finally {
    await gate.close()
    work.remove()
  }
})
