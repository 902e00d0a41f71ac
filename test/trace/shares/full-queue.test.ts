// Strangers from a few addresses fill the queue of share tokens. Other holders of tokens must still see their shares.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillQueue, holdTable } from '../../support/full-queue.ts'
import { return503 } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type Sharing, startSharing } from './service.ts'

const FULL = /Too many people look at shares/

return503()
let on: Sharing
beforeAll(async () => {
  on = await startSharing()
})
afterAll(() => on?.close())

it('26 addresses that fill the queue keep no other from viewing a share or asking for disclosure', async () => {
  const caller = await on.makeCaller()
  const traceId = await on.makeTrace(caller)
  const { jobId, neurons } = on.makeJob(traceId)
  const share = await on.share(caller, {
    trace_id: traceId,
    job_id: jobId,
    masked_node_ids: neurons.slice(0, 1),
    disclosure_mode: 'manual',
  })
  const lock = await holdTable(on.test.ownerUrl, 'attempts')
  const attackers = await fillQueue((headers) => on.view('a'.repeat(43), { headers }), FULL)
  const before = attackers.refused()
  let answered = 0
  const sent = [...Array.from({ length: 32 }, () => on.view(share.token)), on.request(share, 'person@example.com')].map(
    (answer) => answer.finally(() => (answered += 1)),
  )
  await until(() => answered + attackers.refused() - before >= sent.length, { what: 'all are in the queue' })
  await lock.open()
  const answers = await Promise.all(sent)
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  for (const { status } of await attackers.answers) expect([404, 503]).toContain(status)
})
