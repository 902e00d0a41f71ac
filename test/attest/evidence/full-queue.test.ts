// Free accounts fill the queues of packets, documents and their pictures. A paying account must still get its evidence.

import { afterEach, expect, it } from 'vitest'
import { createThumbnailReader, type EvidenceDeps } from '#src/attest/evidence/evidence.ts'
import { createThumbnails } from '#src/attest/media/thumbnails.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { return503, type TestAnswer } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { PHOTO } from '../claims/phone.ts'
import { type EvidenceService, startEvidence } from './service.ts'

return503()
let evidence: EvidenceService | undefined
afterEach(() => evidence?.close())

/** Resolves when `open` is called. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

/** Requests of free accounts for claims that they don't have; `refused` counts those that got a 503. */
async function fill(on: EvidenceService, { accounts, each, query }: { accounts: number; each: number; query: string }) {
  let refused = 0
  const sent: Promise<TestAnswer>[] = []
  for (let index = 0; index < accounts; index += 1) {
    const { key } = await on.service.makeCaller({ scopes: ['verify'], plan: 'developer' })
    const ask = async () => {
      const answer = await on.get(newId('clm', 'sandbox'), query, {}, key)
      if (answer.status === 503) refused += 1
      return answer
    }
    sent.push(...Array.from({ length: each }, ask))
  }
  await until(() => refused > 0, { what: 'the queue is full' })
  return { answers: Promise.all(sent), refused: () => refused }
}

it.each([
  ['five accounts that fill the queue of packets', { accounts: 5, each: 6, query: '' }],
  ['nine accounts that fill the queue of documents', { accounts: 9, each: 6, query: '?format=pdf' }],
])('%s keep no other account from its own', async (_, attackers) => {
  const gate = createGate()
  let isHeld = false
  const renderPdf: EvidenceDeps['renderPdf'] = async () => Buffer.from('%PDF-1.7\n')
  evidence = await startEvidence({
    renderPdf,
    thumbnail: async () => 'too_costly',
    async revocations() {
      if (isHeld) await gate.passed
      return 'off'
    },
  })
  const id = await evidence.judged('C', { photo: PHOTO })
  isHeld = true
  const { answers, refused } = await fill(evidence, attackers)
  const before = refused()
  let isAnswered = false
  const own = evidence.get(id, attackers.query).finally(() => {
    isAnswered = true
  })
  await until(() => isAnswered || refused() > before, { what: 'the request is in the queue' })
  gate.open()
  expect((await own).status).toBe(200)
  for (const { status, headers } of await answers) {
    expect([404, 503]).toContain(status)
    if (status === 503) expect(headers['retry-after']).toBe('5')
  }
})

it('seventeen accounts that fill the queue of pictures keep no other account from a thumbnail, nor from a document', async () => {
  const gate = createGate()
  let read: EvidenceDeps['thumbnail'] = async () => 'gone'
  const on = await startEvidence({ thumbnail: (scope, mediaId) => read(scope, mediaId) })
  evidence = on
  const { media, decoder } = on.service.services.attest.media
  const attackers: Scope[] = []
  for (let index = 0; index < 17; index += 1) attackers.push(await on.service.makeCaller({ plan: 'developer' }))
  const findThumbnail = createThumbnails({
    store: on.service.store,
    decoder: {
      async thumbnail(path, side) {
        if (!attackers.some(({ accountId }) => path.includes(accountId))) return decoder.thumbnail(path, side)
        await gate.passed
        return { ok: false, code: 'unreadable', detail: '' }
      },
    },
  })
  read = createThumbnailReader({ get: media.get, findThumbnail })
  const id = await on.judged('P', { photo: PHOTO })

  let refused = 0
  const picture = async (scope: Scope, number: number) => {
    const data = Buffer.concat([PHOTO, Buffer.from([number])])
    return media.storeInline(scope, { contentType: 'image/jpeg', data })
  }
  const waiting: Promise<unknown>[] = []
  for (const scope of attackers) {
    const stored = await picture(scope, 1)
    // One is being decoded, in eight of the accounts; the bytes of the others are read when it is their turn.
    for (let number = 0; number < 65; number += 1) {
      const ask = findThumbnail(scope, { ...stored, id: newId('med', scope.environment) })
      waiting.push(
        ask.catch((error: { code?: string }) => {
          if (error.code === 'service_unavailable') refused += 1
        }),
      )
    }
  }
  await until(() => refused > 0, { what: 'the queue is full' })
  const document = on.get(id, '?format=pdf')
  const before = refused
  let isAnswered = false
  void document.finally(() => {
    isAnswered = true
  })
  await until(() => isAnswered || refused > before, { what: 'the picture is in the queue' })
  gate.open()
  expect((await document).status).toBe(200)
  await Promise.all(waiting)
})
