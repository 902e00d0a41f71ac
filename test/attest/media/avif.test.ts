import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readImageFacts } from '#src/attest/media/exif.ts'
import { makeAvif } from './avif.ts'
import { type Service, startService } from './service.ts'

const layered = (type: string, ...content: number[]) => ({
  properties: [{ type, content: Buffer.from(content), isEssential: type !== 'a1lx' }],
})

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

describe('a still AVIF is accepted and decoded', () => {
  it.each([
    ['plain', {}],
    ['as a grid', { isGrid: true }],
    ['with the sizes of its layers (a1lx)', layered('a1lx', 0, 0, 100, 0, 0, 0, 0)],
    ['with a layer that is chosen (lsel)', layered('lsel', 0, 0)],
    ['with all of its layers (lsel)', layered('lsel', 0xff, 0xff)],
    ['with an operating point (a1op)', layered('a1op', 0)],
    ['by a major brand that names no codec', { brands: ['mif1', 'avif', 'mif1', 'miaf'] as [string, ...string[]] }],
  ])('%s', async (_, options) => {
    const { status, json } = await service.post(await makeAvif(options), { 'content-type': 'image/avif' })
    expect({ status, width: json.width, height: json.height }).toEqual({ status: 200, width: 64, height: 64 })
    expect((await service.get(`/v1/media/${json.media_id}/thumbnail`)).status).toBe(200)
  })
})

describe('an animated AVIF is refused with the reason', () => {
  const brands: [string, ...string[]][] = [
    ['avis', 'avis', 'avif', 'mif1', 'miaf', 'msf1'],
    ['avif', 'avif', 'avis', 'mif1', 'miaf'],
    ['msf1', 'avis', 'avif'],
  ]
  it.each(brands)('of the major brand %s', async (...given) => {
    const avif = await makeAvif({
      brands: given as [string, ...string[]],
      more: Buffer.from('\0\0\0\x08moov', 'latin1'),
    })
    const { status, json } = await service.post(avif, { 'content-type': 'image/avif' })
    expect(status).toBe(400)
    expect(json.errors).toMatchObject([{ code: 'unreadable_media', detail: expect.stringContaining('animated') }])
    expect(await readImageFacts(avif)).toMatchObject({ format: null, exif: { state: 'unreadable' } })
  })
})

it('an AVIF with an unknown essential property is refused', async () => {
  const { json } = await service.post(await makeAvif(layered('zzzz', 0)), { 'content-type': 'image/avif' })
  expect(json.errors).toMatchObject([{ code: 'unreadable_media' }])
})
