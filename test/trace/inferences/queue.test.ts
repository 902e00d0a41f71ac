// What happens to inferences while the process of the model is stopped, killed or overrun: the real service, and a real
// child process that gets the signals of a test.

import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLog } from '#src/platform/log.ts'
import type { TestCaller } from '../../support/callers.ts'
import { return503 } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const EACH = 4
const BODY = { prompt: 'What do lamps cost at Cobalt Tools?', max_tokens: 8 }

let on: TestService
const pids: number[] = []
let left = 0

return503()
beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _, done) {
      const { msg, pid } = JSON.parse(String(chunk))
      if (msg === 'the process of a model is ready') pids.push(pid)
      if (msg === 'the client disconnected before its answer') left += 1
      done()
    },
  })
  const log = createLog({ process: 'web', level: 'debug' }, sink)
  on = await startTestService({
    // An inference that runs or waits holds no connection.
    poolSize: 2,
    env: { TRACE_QUEUE_DEPTH: String(EACH + 1), TRACE_QUEUE_DEPTH_EACH: String(EACH) },
    overrides: () => ({ log }),
    app: { log },
  })
})
afterAll(() => on?.close())

const infer = (caller: TestCaller) => on.call(caller, '/v1/trace/inferences', { method: 'POST', json: BODY })
const signal = (name: NodeJS.Signals) => process.kill(pids.at(-1) ?? Number.NaN, name)
const stored = (caller: TestCaller) =>
  on.test.owner<{ at: Date }>('SELECT created_at AS at FROM traces WHERE account_id = $1 ORDER BY created_at', [
    caller.accountId,
  ])

/** Of one more request than there is room for, the first answer is a refusal; by then all others run or wait. */
async function overrun<Answer extends { status: number }>(count: number, send: () => Promise<Answer>) {
  const sent = Array.from({ length: count }, send)
  const refused = await Promise.race(sent)
  expect(refused.status).toBe(503)
  return { sent, refused }
}

it('inferences beyond the queue are answered 503 with Retry-After, and an account that fills it keeps no other out', async () => {
  const [many, one] = [await on.makeCaller(), await on.makeCaller()]
  expect((await infer(many)).status).toBe(200)
  signal('SIGSTOP')
  const first = await overrun(EACH + 2, () => infer(many))
  expect(first.refused.json.code).toBe('service_unavailable')
  expect(first.refused.headers['retry-after']).toBe('2')
  let refused = 1
  for (const sent of first.sent) {
    void sent.then((answer) => {
      if (answer !== first.refused && answer.status === 503) refused += 1
    })
  }
  // There is room for one more, and the second takes the place of the other account's newest.
  const second = [infer(one), infer(one)]
  await until(() => refused === 2)
  signal('SIGCONT')
  expect((await Promise.all(second)).map(({ status }) => status)).toEqual([200, 200])
  expect((await Promise.all(first.sent)).filter(({ status }) => status === 503)).toHaveLength(2)
  expect([(await stored(many)).length, (await stored(one)).length]).toEqual([EACH + 1, 2])
})

it('a process that is killed in the middle of an inference leaves nothing of it, and the next ones run in another', async () => {
  const caller = await on.makeCaller()
  expect((await infer(caller)).status).toBe(200)
  const before = pids.length
  signal('SIGSTOP')
  const { sent } = await overrun(EACH + 2, () => infer(caller))
  signal('SIGKILL')
  const answers = await Promise.all(sent)
  // The refused one, and the one that ran.
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(EACH).fill(200), 503, 503])
  expect(await stored(caller)).toHaveLength(EACH + 1)
  expect(pids.length).toBe(before + 1)
  const ledger = await on.entries(caller, 'inference')
  expect(ledger).toHaveLength(EACH + 1)
})

it('a client that goes away frees the model, and nothing of its inference is stored', async () => {
  const [gone, caller] = [await on.makeCaller(), await on.makeCaller()]
  const before = pids.length
  signal('SIGSTOP')
  const leaving = new AbortController()
  const { sent } = await overrun(EACH + 2, () =>
    fetch(`http://127.0.0.1:${on.app.port}/v1/trace/inferences`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${gone.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...BODY, temperature: 2, max_tokens: 256 }),
      signal: leaving.signal,
    }),
  )
  const ended = Promise.allSettled(sent)
  leaving.abort()
  // Without this the model can end before the service has read that the client is gone. The running one ends after SIGCONT.
  await until(() => left === EACH)
  signal('SIGCONT')
  expect((await infer(caller)).status).toBe(200)
  expect((await ended).filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await stored(gone)).toEqual([])
  expect(pids.length).toBe(before)
})
