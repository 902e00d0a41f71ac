// Photos inline beside bodies of another account that do not end.

import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { return503 } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { slowAvif } from '../../support/slow-avif.ts'
import { until } from '../../support/until.ts'

const MEGABYTE = 1024 * 1024
// In proportion to production: a dozen of the attacker's bodies, and a photo inline of a sixth of one.
const BUDGET_BYTES = 16 * MEGABYTE
const BODY_BYTES = 1.25 * MEGABYTE
const BODIES = 14

let service: TestService
beforeAll(async () => {
  service = await startTestService({ app: { bodyBudgetBytes: BUDGET_BYTES } })
})
afterAll(() => service.close())
return503()

const paths = ['/v1/claims/attest', '/v1/media/screen'] as const

it.each(paths)('bodies that do not end leave memory for a photo inline of another account: %s', async (path) => {
  const [published, other] = [await service.makeCaller({ isAccountBearing: false }), await service.makeCaller()]
  const sockets: Socket[] = []
  let refused = 0
  try {
    for (let n = 0; n < BODIES; n += 1) {
      const socket = connect(service.app.port, '127.0.0.1').on('error', () => {})
      socket.once('data', () => (refused += 1))
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${published.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${2 * BODY_BYTES}\r\n\r\n{"media":{"data":"${'A'.repeat(BODY_BYTES)}`,
      )
      sockets.push(socket)
    }
    // The attacker's bodies take all that they get.
    await until(() => refused > 0)
    const data = slowAvif(1, MEGABYTE).toString('base64')
    const media = { content_type: 'image/avif', data }
    const json = path === '/v1/media/screen' ? { media } : { media_type: 'image', media }
    const { status } = await service.call(other, path, { json, headers: { Prefer: 'wait=0' } })
    expect(status).toBe(202)
    expect(refused).toBeLessThan(BODIES)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})
