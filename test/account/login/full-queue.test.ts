// Strangers from a few addresses fill the queue of logins, each within its own limits. Other people must still sign in.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillQueue, holdTable } from '../../support/full-queue.ts'
import { return503, type TestAnswer } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type LoginService, startLoginService } from './service.ts'

const TOKEN = 'a'.repeat(43)
const FULL = /Too many people sign in/
const PEOPLE = 31

return503()
let service: LoginService
beforeAll(async () => {
  service = await startLoginService({ SIGNUP: 'open' })
})
afterAll(() => service?.close())

it('26 addresses that fill the queue keep no other from asking for a link, using one, or accepting an invite', async () => {
  const lock = await holdTable(service.test.ownerUrl, 'attempts')
  const attackers = await fillQueue((headers) => service.use(TOKEN, { headers }), FULL)
  const before = attackers.refused()
  let answered = 0
  const accept = () =>
    service.call({}, '/v1/org/invites/accept', {
      method: 'POST',
      json: { token: TOKEN },
      headers: { 'X-Forwarded-For': '192.0.2.1' },
    })
  const sent = [
    ...Array.from({ length: PEOPLE }, (_, index) => service.request(`honest${index}@example.com`)),
    service.use(TOKEN),
    accept(),
  ].map((answer) => answer.finally(() => (answered += 1)))
  // Each has taken the place of a stranger's request, or was refused.
  await until(() => answered + attackers.refused() - before >= sent.length, { what: 'all are in the queue' })
  await lock.open()
  const answers: TestAnswer[] = await Promise.all(sent)
  expect(answers.map(({ status }) => status)).toEqual([...Array(PEOPLE).fill(200), 400, 400])
  for (const { status, json } of await attackers.answers) expect([400, 503], JSON.stringify(json)).toContain(status)
})

it('an address beyond its limit is refused before it takes a place, for as long as the limit says', async () => {
  const start = Date.now()
  service.clock.now = new Date(start)
  const headers = { 'X-Forwarded-For': '192.0.2.9' }
  const request = () => service.request('limited@example.com', { headers })
  for (let nth = 0; nth < 5; nth += 1) expect((await request()).status).toBe(200)
  expect((await request()).status).toBe(429)
  const lock = await holdTable(service.test.ownerUrl, 'attempts')
  service.clock.now = new Date(start + 30_000)
  // It waits neither for the table nor for a place.
  const refused = await request()
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(15 * 60 - 30)])
  await lock.open()
  service.clock.now = new Date(start + 15 * 60_000)
  expect((await request()).status).toBe(200)
  service.clock.now = undefined
})
