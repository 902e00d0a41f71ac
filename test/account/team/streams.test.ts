import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint } from '#src/platform/http/endpoint.ts'
import { makeAccount } from '../../support/database.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

it('a removed user loses a download that is under way', async () => {
  let closed = 0
  const endless = endpoint(
    {
      method: 'GET',
      path: '/v1/endless',
      operationId: 'test',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Bytes without an end',
      scope: 'verify',
      permission: 'claims.read',
      view: z.never(),
      streams: { contentType: 'image/jpeg' },
      status: [200],
    },
    async () => {
      const read = function (this: Readable) {
        this.push(Buffer.alloc(65_536))
      }
      const stream = new Readable({ read }).on('close', () => {
        closed += 1
      })
      return { status: 200, stream, headers: {} }
    },
  )
  const service = await startTestService({ replace: () => [{ name: 'endless', routes: [endless] }] })
  try {
    const { accountId } = await makeAccount(service.test)
    const owner = await service.signIn(accountId)
    const analyst = await service.signIn(accountId, { role: 'analyst' })
    const answer = await fetch(`${service.app.url}/v1/endless`, { headers: analyst.headers })
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    const path = `/v1/org/users/${analyst.userId}`
    expect((await service.call({}, path, { method: 'DELETE', headers: owner.headers })).status).toBe(200)
    // It reads no further meanwhile.
    await until(() => closed === 1)
    const rest = async () => {
      while ((await reader?.read())?.done === false);
    }
    await expect(rest()).rejects.toThrow()
  } finally {
    await service.close()
  }
})
