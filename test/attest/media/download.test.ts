import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseByteRange } from '#src/platform/http/request-headers.ts'
import { newId } from '#src/platform/ids.ts'
import { type Service, startService } from './service.ts'

let service: Service
let photo: Buffer
let id: string
let sha256: string
const jpeg = { 'content-type': 'image/jpeg' }

beforeAll(async () => {
  service = await startService()
  photo = await picture(1200, 600)
    .withExif({ IFD0: { Make: 'Acme' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  const { json } = await service.post(photo, jpeg)
  id = String(json.media_id)
  sha256 = String(json.sha256)
})
afterAll(() => service.close())

const picture = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#654' } })

async function upload(bytes: Buffer, type: string): Promise<string> {
  const { status, json } = await service.post(bytes, { 'content-type': type })
  expect(status).toBe(200)
  return String(json.media_id)
}

/** Linux only: the descriptors of a media's blob that this process holds open. */
async function openFilesOf(mediaId: string): Promise<string[]> {
  const { sha256: hash } = await service.media.get(service.scope, mediaId)
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
  )
  return links.filter((target) => target.includes(hash))
}

describe('GET /v1/media/:id/metadata', () => {
  it('tells what is known of the bytes, and of no others', async () => {
    const path = `/v1/media/${id}/metadata`
    const { status, json } = await service.get(path)
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        media_id: id,
        sha256,
        size: photo.byteLength,
        content_type: 'image/jpeg',
        width: 1200,
        height: 600,
        created_at: expect.any(String),
        uploaded_at: expect.any(String),
        claim_ids: [],
        has_more_claims: false,
      },
    })
    expect((await service.get(path, {}, 'stranger')).json.code).toBe('not_found')
    expect((await service.get(path, {}, 'live')).json.code).toBe('environment_mismatch')
    expect((await service.get(path, {}, 'attest')).json.code).toBe('insufficient_scope')
  })
})

describe('GET /v1/media/:id', () => {
  it('returns exactly the bytes that were sent', async () => {
    const { status, headers, body } = await service.get(`/v1/media/${id}`)
    expect(status).toBe(200)
    expect(body.equals(photo)).toBe(true)
    expect(headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': String(photo.byteLength),
      'content-disposition': `attachment; filename="${id}.jpg"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: `"${sha256}"`,
    })
  })

  it('returns one range', async () => {
    const size = photo.byteLength
    for (const [range, first, last] of [
      ['bytes=0-0', 0, 0],
      ['bytes=100-199', 100, 199],
      ['bytes=100-', 100, size - 1],
      ['bytes=-10', size - 10, size - 1],
      [`bytes=10-${size + 500}`, 10, size - 1],
    ] as const) {
      const { status, headers, body } = await service.get(`/v1/media/${id}`, { range })
      expect([range, status]).toEqual([range, 206])
      expect(headers['content-range']).toBe(`bytes ${first}-${last}/${size}`)
      expect(headers['content-length']).toBe(String(last - first + 1))
      expect(body.equals(photo.subarray(first, last + 1))).toBe(true)
    }
  })

  it('returns the whole file for an invalid range, or a range of other bytes', async () => {
    for (const range of ['bytes=5-1', 'bytes=-', 'bytes=a-b', 'bytes=0-1,3-4', 'lines=1-2', 'bytes', '']) {
      expect([range, (await service.get(`/v1/media/${id}`, { range })).status]).toEqual([range, 200])
    }
    const other = { range: 'bytes=0-1', 'if-range': '"something else"' }
    expect((await service.get(`/v1/media/${id}`, other)).status).toBe(200)
    const same = { range: 'bytes=0-1', 'if-range': `"${sha256}"` }
    expect((await service.get(`/v1/media/${id}`, same)).status).toBe(206)
  })

  it('states the length in the refusal of a range beyond the end', async () => {
    for (const range of [`bytes=${photo.byteLength}-`, 'bytes=-0', 'bytes=999999999-']) {
      const { status, headers, json } = await service.get(`/v1/media/${id}`, { range })
      expect([status, json.code]).toEqual([416, 'range_not_satisfiable'])
      expect(headers['content-range']).toBe(`bytes */${photo.byteLength}`)
    }
  })

  it('closes its file when the client leaves in the middle', async () => {
    const large = await upload(Buffer.concat([photo, randomBytes(20_000_000)]), 'image/jpeg')
    for (let i = 0; i < 5; i += 1) {
      await new Promise<void>((resolve) => {
        const asking = request({
          port: service.app.port,
          path: `/v1/media/${large}`,
          headers: { 'x-api-key': service.keys.verify },
        })
        asking.on('error', () => {})
        asking
          .once('response', (response) => response.once('data', () => asking.destroy()).once('close', resolve))
          .end()
      })
    }
    expect((await service.get(`/v1/media/${large}`)).body.byteLength).toBe(photo.byteLength + 20_000_000)
    if (existsSync('/proc/self/fd')) await expect.poll(() => openFilesOf(large)).toEqual([])
  })

  it('fails with a server error when the bytes are missing', async () => {
    const lost = await service.post(Buffer.concat([photo, randomBytes(8)]), jpeg)
    await rm(service.store.path(service.scope, String(lost.json.sha256)))
    expect((await service.get(`/v1/media/${lost.json.media_id}`)).status).toBe(500)
  })
})

describe('GET /v1/media/:id/thumbnail', () => {
  it('returns a small, upright thumbnail without metadata, and makes it once', async () => {
    const first = await service.get(`/v1/media/${id}/thumbnail`)
    expect([first.status, first.headers['content-type']]).toEqual([200, 'image/webp'])
    const metadata = await sharp(first.body).metadata()
    expect(metadata).toMatchObject({ format: 'webp', width: 160, height: 320 })
    expect(metadata.exif).toBeUndefined()
    expect(first.headers['content-length']).toBe(String(first.body.byteLength))

    await writeFile(`${service.store.path(service.scope, sha256)}.thumbnail-320`, 'kept')
    expect((await service.get(`/v1/media/${id}/thumbnail`)).body.toString()).toBe('kept')
  })

  it('makes the thumbnail once for many concurrent requests', async () => {
    const fresh = await upload(await picture(500, 400).png().toBuffer(), 'image/png')
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.get(`/v1/media/${fresh}/thumbnail`)))
    expect(new Set(answers.map((one) => `${one.status} ${one.body.toString('base64')}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
  })

  it('is not found for a file without readable pixels, also the second time', async () => {
    const video = await upload(Buffer.from('0000001466747970717420200000000071742020', 'hex'), 'video/quicktime')
    const whole = await picture(600, 600).jpeg().toBuffer()
    const cut = await upload(whole.subarray(0, whole.byteLength - 900), 'image/jpeg')
    for (const media of [video, cut, video, cut]) {
      const { status, json } = await service.get(`/v1/media/${media}/thumbnail`)
      expect([status, json.code]).toEqual([404, 'not_found'])
    }
    // Evidence is kept as it came, even if it can not be decoded.
    expect((await service.get(`/v1/media/${cut}`)).status).toBe(200)
  })

  it('is deleted with its original', async () => {
    const bytes = await picture(300, 200).webp().toBuffer()
    const media = await service.media.get(service.scope, await upload(bytes, 'image/webp'))
    await service.get(`/v1/media/${media.id}/thumbnail`)
    const before = (await service.files()).length
    await service.store.delete(service.scope, media.sha256)
    expect((await service.files()).length).toBe(before - 2)
    expect((await service.get(`/v1/media/${media.id}/thumbnail`)).status).toBe(500)
    expect((await service.files()).length).toBe(before - 2)
  })
})

describe('access to media', () => {
  const paths = (media: string) => [`/v1/media/${media}`, `/v1/media/${media}/thumbnail`]

  it('is not found from another account', async () => {
    for (const path of paths(id)) {
      expect(await service.get(path, {}, 'stranger')).toMatchObject({ status: 404, json: { code: 'not_found' } })
    }
  })

  it('is refused from the other environment, whether the id exists or not', async () => {
    for (const media of [id, newId('med', 'sandbox')]) {
      for (const path of paths(media)) {
        const answer = await service.get(path, {}, 'live')
        expect(answer).toMatchObject({ status: 403, json: { code: 'environment_mismatch' } })
      }
    }
  })

  it('is not found for a malformed media id', async () => {
    for (const media of [newId('med', 'sandbox'), newId('clm', 'sandbox'), 'med_test_', 'x', '%00', '..%2f..%2fetc']) {
      for (const path of paths(media)) {
        expect(await service.get(path)).toMatchObject({ status: 404, json: { code: 'not_found' } })
      }
    }
  })

  it('needs the scope verify', async () => {
    for (const path of paths(id)) {
      expect(await service.get(path, {}, 'attest')).toMatchObject({ status: 403, json: { code: 'insufficient_scope' } })
    }
  })
})

describe('ranges', () => {
  it('never exceed the file', () => {
    const numbers = ['', '0', '1', '9', '10', '11', '999999999999999', '9999999999999999']
    for (const size of [1, 10]) {
      for (const from of numbers) {
        for (const to of numbers) {
          const range = parseByteRange(`bytes=${from}-${to}`, size)
          if (range.kind !== 'part') continue
          expect(range.first >= 0 && range.first <= range.last && range.last < size).toBe(true)
        }
      }
    }
  })
})
