// Documents whose pictures are unavailable, and accounts that request many documents concurrently.

import { afterEach, expect, it } from 'vitest'
import type { EvidenceDeps, ThumbnailRead } from '#src/attest/evidence/evidence.ts'
import type { Rendering } from '#src/attest/evidence/renderer.ts'
import { return503 } from '../../support/http.ts'
import { PHOTO } from '../claims/phone.ts'
import { type EvidenceService, startEvidence } from './service.ts'

let evidence: EvidenceService | undefined
afterEach(() => evidence?.close())
return503()

const start = async (deps: Partial<EvidenceDeps>) => {
  evidence = await startEvidence(deps)
  return evidence
}
/** Each is another file. */
const photo = (number: number) => Buffer.concat([PHOTO, Buffer.from([number])])
const rendered: Rendering[] = []
const renderPdf: EvidenceDeps['renderPdf'] = async (rendering) => {
  rendered.push(rendering)
  return Buffer.from('%PDF-1.7\n')
}

it('a document is rendered without unavailable pictures, and says why each is missing', async () => {
  const reads: ThumbnailRead[] = ['too_costly', 'unreadable', new Uint8Array([1]), 'gone']
  const { judged, pdf } = await start({ renderPdf, thumbnail: async () => reads.shift() ?? 'gone' })
  const ids = await Promise.all([1, 2, 3].map((number) => judged('P', { photo: photo(number) })))
  await pdf(ids[0] ?? '')
  const { pictures } = rendered.at(-1) ?? { pictures: {} }
  expect(Object.values(pictures)).toEqual(['too_costly', 'unreadable', new Uint8Array([1])])
})

it('a document stops loading pictures when their time is used up', async () => {
  let asked = 0
  const thumbnail = async () => {
    asked += 1
    return 'too_costly' as const
  }
  const { judged, pdf } = await start({ renderPdf, thumbnail, picturesMs: 0 })
  const id = await judged('T', { photo: photo(1) })
  await pdf(id)
  expect([asked, Object.values(rendered.at(-1)?.pictures ?? {})]).toEqual([0, ['not_tried']])
})

it('a document waits for no picture longer than their time', async () => {
  const thumbnail = () => new Promise<never>(() => {})
  const { judged, pdf } = await start({ renderPdf, thumbnail, picturesMs: 50 })
  const id = await judged('W', { photo: photo(1) })
  await pdf(id)
  expect(Object.values(rendered.at(-1)?.pictures ?? {})).toEqual(['not_tried'])
})

it('a packet as JSON does not wait for a document with slow pictures', async () => {
  let finish = () => {}
  const slow = new Promise<void>((resolve) => {
    finish = resolve
  })
  let asked = () => {}
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const thumbnail = async () => {
    asked()
    await slow
    return 'too_costly' as const
  }
  const on = await start({ renderPdf, thumbnail, picturesMs: 600_000 })
  const id = await on.judged('J', { photo: photo(1) })
  const document = on.get(id, '?format=pdf')
  await isAsked
  expect((await on.get(id)).status).toBe(200)
  finish()
  expect((await document).status).toBe(200)
})

it('an account with slow documents leaves capacity for others, and is refused beyond its queue', async () => {
  let finish = () => {}
  const slow = new Promise<void>((resolve) => {
    finish = resolve
  })
  let own = ''
  const thumbnail: EvidenceDeps['thumbnail'] = async ({ accountId }) => {
    if (accountId === own) await slow
    return 'too_costly'
  }
  const on = await start({ thumbnail })
  own = on.caller.accountId
  const id = await on.judged('S', { photo: photo(1) })
  const waiting = Array.from({ length: 8 }, () => on.get(id, '?format=pdf'))
  const refused = await Promise.race(waiting)
  expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([503, 'service_unavailable', '5'])
  // Another account: its packet is made while the first account's wait.
  const stranger = await on.service.makeCaller({ scopes: ['verify'] })
  expect((await on.get(id, '?format=pdf', {}, stranger.key)).status).toBe(404)
  finish()
  const statuses = (await Promise.all(waiting)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(6)
  expect(statuses.filter((status) => status === 503)).toHaveLength(2)
})
