import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { createFairBudget } from '#src/platform/fair-budget.ts'
import { readJson } from '#src/platform/http/body.ts'
import { createLongStrings } from '#src/platform/http/long-strings.ts'
import { DEFAULT_MINIMUM_RATE } from '#src/platform/http/minimum-rate.ts'

const BYTES = 8 * 1024 * 1024
// A chunk that was on its way when the body was paused comes with the next one.
const MOST_IN_A_TURN = 2

let turn = 0
const chunksIn = new Map<number, number>()
let counting: NodeJS.Immediate | undefined
const count = () => {
  turn += 1
  counting = setImmediate(count)
}

const server = createServer(async (req, res) => {
  const strings = createLongStrings()
  const longStrings = {
    ...strings,
    push(chunk: Buffer) {
      chunksIn.set(turn, (chunksIn.get(turn) ?? 0) + 1)
      return strings.push(chunk)
    },
  }
  const { value } = await readJson(req, res, {
    maxBytes: 2 * BYTES,
    pace: DEFAULT_MINIMUM_RATE,
    hold: createFairBudget(1e9).open('account'),
    maxValues: 10,
    longStrings,
  })
  const [taken] = longStrings.taken.values()
  res.end(JSON.stringify({ value: Object.keys(value as object), bytes: taken?.byteLength }))
})

afterAll(() => {
  clearImmediate(counting)
  server.close()
})

it('a large body leaves the event loop to others between its chunks', async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  count()
  const body = JSON.stringify({ data: Buffer.alloc(BYTES, 1).toString('base64') })
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: 'POST', body })
  expect(await answer.json()).toEqual({ value: ['data'], bytes: BYTES })
  // The first ones come before the body counts as large.
  const [, ...later] = chunksIn.values()
  expect(later.length).toBeGreaterThan(BYTES / 65_536 / MOST_IN_A_TURN)
  expect(Math.max(...later)).toBeLessThanOrEqual(MOST_IN_A_TURN)
})
