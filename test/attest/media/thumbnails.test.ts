// Thumbnails of two accounts, one of which has pictures that are as slow to decode as possible.

import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EndedDecoder } from '#src/attest/media/decoder.ts'
import { createThumbnails } from '#src/attest/media/thumbnails.ts'
import type { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import { slowAvif } from '../../support/slow-avif.ts'
import { until } from '../../support/until.ts'
import { type Answer, type Service, startService } from './service.ts'

const ended: EndedDecoder[] = []
let service: Service
beforeAll(async () => {
  service = await startService({
    decoding: { quickMs: 200, limitMs: 500, maxMegabytes: 4_000, onEnded: (one) => ended.push(one) },
  })
})
afterAll(() => service?.close())

const picture = (side: number) => sharp({ create: { width: side, height: side, channels: 3, background: '#654' } })
const distinct = (bytes: Buffer) => Buffer.concat([bytes, randomBytes(8)])

async function upload(bytes: Buffer, type: string, key?: 'stranger'): Promise<string> {
  const { status, json } = await service.post(bytes, { 'content-type': type }, key)
  expect(status).toBe(200)
  return String(json.media_id)
}
const ask = (id: string, key?: 'stranger') => service.get(`/v1/media/${id}/thumbnail`, {}, key)

describe('thumbnails of a picture that is too slow', () => {
  it('are refused with the reason, do not delay another account, and are not retried at once', async () => {
    const slow = await Promise.all([1, 2, 3].map((number) => upload(slowAvif(number), 'image/avif')))
    const small = await picture(30).png().toBuffer()
    const other = await upload(small, 'image/png', 'stranger')
    const order: string[] = []
    const note = (name: string) => (answer: Answer) => {
      order.push(`${name} ${answer.status}`)
      return answer
    }
    const [refused] = await Promise.all([
      ...slow.map((id) => ask(id).then(note('slow'))),
      ask(other, 'stranger').then(note('other')),
    ])
    expect(order.toSorted()).toEqual(['other 200', 'slow 404', 'slow 404', 'slow 404'])
    // At most the picture being decoded comes before it.
    expect(order.indexOf('other 200')).toBeLessThanOrEqual(1)
    // By the clock it has five times the limit: on a machine with other work that is reached first.
    expect(refused?.json).toMatchObject({ code: 'not_found', detail: expect.stringMatching(/longer than (?:0|2).5 s/) })

    const kills = ended.length
    expect(kills).toBeGreaterThanOrEqual(3)
    expect((await ask(slow[0] ?? '')).status).toBe(404)
    expect(ended.length).toBe(kills)
  })

  it('of one account are made one at a time, and beside those of another', async () => {
    const small = await picture(20).png().toBuffer()
    const ends: (() => void)[] = []
    const begun: string[] = []
    const find = createThumbnails({
      store: service.store,
      decoder: {
        async thumbnail(path) {
          const isOwn = path.includes(service.scope.accountId)
          begun.push(isOwn ? 'own' : 'other')
          if (isOwn) await new Promise<void>((resolve) => ends.push(resolve))
          return { ok: true, value: { data: small, width: 20, height: 20 } }
        },
      },
    })
    const ask = async (scope: Scope) =>
      find(scope, await service.media.storeInline(scope, { contentType: 'image/png', data: distinct(small) }))
    const own = [ask(service.scope), ask(service.scope)]
    await until(() => begun.length === 1)
    await ask(service.strangerScope)
    expect(begun).toEqual(['own', 'other'])
    ends[0]?.()
    await Promise.race(own)
    await until(() => begun.length === 3)
    expect(begun).toEqual(['own', 'other', 'own'])
    ends[1]?.()
    await Promise.all(own)
  })

  it('queue up to a limit per account, are refused beyond it, and do not affect other accounts', async () => {
    const small = await picture(20).png().toBuffer()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const find = createThumbnails({
      store: service.store,
      decoder: {
        async thumbnail(path) {
          if (path.includes(service.scope.accountId)) await held
          return { ok: true, value: { data: small, width: 20, height: 20 } }
        },
      },
    })
    const ask = async (scope: Scope, number: number) => {
      const media = await service.media.storeInline(scope, { contentType: 'image/png', data: distinct(small) })
      const asked = find(scope, media).then(
        () => 'made',
        (error: Failure) => `${error.code} ${error.headers['Retry-After']}`,
      )
      return number < 65 ? { asked } : { asked: await asked }
    }
    const own: (Promise<string> | string)[] = []
    // One is being decoded and 64 wait: further requests are refused at once.
    for (let number = 0; number < 68; number += 1) own.push((await ask(service.scope, number)).asked)
    expect(own.slice(65)).toEqual(Array(3).fill('service_unavailable 2'))
    expect(await (await ask(service.strangerScope, 0)).asked).toBe('made')
    release()
    expect(await Promise.all(own.slice(0, 65))).toEqual(Array(65).fill('made'))
  })
})
