// Uploads of one account beside another's.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createReadAudit } from '#src/account/audit/reads.ts'
import { createMedia } from '#src/attest/media/media.ts'
import { mediaRoutes } from '#src/attest/media/routes.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { slowAvif } from '../../support/slow-avif.ts'
import { until } from '../../support/until.ts'

const UPLOADS = 6

let service: TestService
/** Starts the inspections that came, in their order. */
const inspections: (() => void)[] = []
let started = 0

beforeAll(async () => {
  service = await startTestService({
    replace({ platform, attest: { media } }) {
      const decoder = { thumbnail: () => Promise.reject(new Error('no thumbnail is asked for')) }
      const inspector = {
        ...media.inspector,
        async inspect(path: string) {
          await new Promise<void>((resolve) => inspections.push(resolve))
          return media.inspector.inspect(path)
        },
      }
      return [
        {
          name: 'media',
          routes: mediaRoutes(createMedia({ ...platform, inspector, decoder }), createReadAudit(platform)),
        },
      ]
    },
  })
})
afterAll(() => service.close())

let pictures = 0
function upload(caller: TestCaller) {
  pictures += 1
  return service.call(caller, '/v1/media', { body: slowAvif(pictures), headers: { 'Content-Type': 'image/avif' } })
}

it('a file is inspected after at most two of an account that sent many', async () => {
  const [loud, other] = [await service.makeCaller(), await service.makeCaller()]
  let waiting = UPLOADS
  const sent = Array.from({ length: UPLOADS }, () => upload(loud).finally(() => (waiting -= 1)))
  await until(() => inspections.length >= 2)
  const own = upload(other)
  await until(() => inspections.length >= 3)
  // The first three: two of the account that sent many, and the other's.
  for (; started < 3; started += 1) inspections[started]?.()
  expect((await own).status).toBe(200)
  expect(waiting).toBeGreaterThanOrEqual(UPLOADS - 2)
  await until(() => {
    for (; started < inspections.length; started += 1) inspections[started]?.()
    return waiting === 0
  })
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 200))
})
