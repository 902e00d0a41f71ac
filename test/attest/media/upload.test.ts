import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_IMAGE_BYTES, MAX_VIDEO_BYTES } from '#src/attest/media/media.ts'
import { type Answer, type Service, startService } from './service.ts'

let service: Service
let photo: Buffer
const jpeg = { 'content-type': 'image/jpeg' }

beforeAll(async () => {
  service = await startService({ pace: { windowMs: 300, minBytes: 1_000 } })
  photo = await sharp(randomBytes(400 * 300 * 3), { raw: { width: 400, height: 300, channels: 3 } })
    .jpeg()
    .toBuffer()
})
afterAll(() => service.close())

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
// Trailing bytes change the hash and not the picture.
const another = (): Buffer => Buffer.concat([photo, randomBytes(16)])

/** PNG (third edition) 11.2.1, only the header. */
function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000080200000000000000', 'hex')
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return header
}

describe('POST /v1/media', () => {
  it('keeps a photo and describes it', async () => {
    const answer = await service.post(photo, { 'content-type': 'image/jpeg; charset=utf-8' })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      media_id: expect.stringMatching(/^med_test_[0-9a-z]{26}$/),
      sha256: sha256(photo).toString('hex'),
      size: photo.byteLength,
      content_type: 'image/jpeg',
      width: 400,
      height: 300,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  it('frees the pieces of a photo that came in a JSON body, once they are stored', async () => {
    const bytes = Buffer.concat([photo, randomBytes(64 * 1024)])
    const pieces = [bytes.subarray(0, 40_000), bytes.subarray(40_000)].map((piece) => Uint8Array.from(piece))
    const data = { byteLength: bytes.byteLength, pieces }
    const media = await service.media.storeInline(service.scope, { contentType: 'image/jpeg', data })
    expect(media.sha256).toBe(sha256(bytes).toString('hex'))
    expect(pieces.map(({ byteLength }) => byteLength)).toEqual([0, 0])
  })

  it('returns the same media_id for the same bytes, also concurrently, and only within one tenant', async () => {
    const bytes = another()
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.post(bytes, jpeg)))
    expect(new Set(answers.map((one) => one.json.media_id)).size).toBe(1)
    const strangers = await service.post(bytes, jpeg, 'stranger')
    const live = await service.post(bytes, jpeg, 'live')
    expect(new Set([answers[0]?.json.media_id, strangers.json.media_id, live.json.media_id]).size).toBe(3)
  })

  it('accepts every type that it names', async () => {
    const pixels = sharp(photo).resize(40, 30)
    const files: [string, Buffer][] = [
      ['image/png', await pixels.clone().png().toBuffer()],
      ['image/webp', await pixels.clone().webp().toBuffer()],
      ['image/avif', await pixels.clone().avif({ effort: 0 }).toBuffer()],
      ['image/tiff', await pixels.clone().tiff().toBuffer()],
      ['video/mp4', Buffer.from('0000001866747970697 36f6d0000020069736f6d61766331'.replaceAll(' ', ''), 'hex')],
      ['video/quicktime', Buffer.from('0000001466747970717420200000000071742020', 'hex')],
      ['video/webm', Buffer.from('1a45dfa38742828477 65626d'.replaceAll(' ', ''), 'hex')],
    ]
    for (const [type, bytes] of files) {
      const { status, json } = await service.post(bytes, { 'content-type': type })
      const [width, height] = type.startsWith('image/') ? [40, 30] : [null, null]
      expect([status, json]).toMatchObject([200, { content_type: type, width, height, size: bytes.byteLength }])
    }
  })

  it('compares a digest that the client sends', async () => {
    const bytes = another()
    const digest = (algorithm: string, of: Buffer) => `${algorithm}=:${of.toString('base64')}:`
    const right = digest('sha-256', sha256(bytes))
    const sha512 = digest('sha-512', createHash('sha512').update(bytes).digest())
    for (const header of [right, `${sha512}, ${right}`]) {
      expect((await service.post(bytes, { ...jpeg, 'content-digest': header })).status).toBe(200)
    }
  })

  it('accepts 64 MB in constant memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { sending, answer } = service.start({ 'content-type': 'video/quicktime' })
    sending.write(Buffer.from('0000001466747970717420200000000071742020', 'hex'))
    const live: number[] = []
    for (let sent = 0; sent < 64; sent += 1) {
      if (!sending.write(Buffer.alloc(1_000_000))) await once(sending, 'drain')
      if (sent % 8 !== 0) continue
      collect()
      live.push(process.memoryUsage().arrayBuffers)
    }
    sending.end()
    expect((await answer).json.size).toBe(64_000_020)
    // Client and server share this process, and recently freed memory may still be counted.
    expect(Math.max(...live) - Math.min(...live)).toBeLessThan(24_000_000)
  })

  it('accepts a real HEIC photo and has no thumbnail of it', async ({ skip }) => {
    const { CORPUS } = process.env
    if (CORPUS === undefined) return skip('CORPUS names no folder of real files')
    const { status, json } = await service.post(await readFile(join(CORPUS, 'exif', 'IMG_5195.HEIC')), {
      'content-type': 'image/heic',
    })
    expect([status, json]).toMatchObject([200, { content_type: 'image/heic', width: expect.any(Number) }])
    const thumbnail = await service.get(`/v1/media/${json.media_id}/thumbnail`)
    expect(thumbnail).toMatchObject({ status: 404, json: { code: 'not_found' } })
  })
})

describe('POST /v1/media refuses with the reason, and stores nothing for', () => {
  let before: { files: string[]; rows: number }
  const state = async () => ({ files: await service.files(), rows: await service.countRows() })
  beforeEach(async () => {
    before = await state()
  })

  async function expectRefusal(answer: Answer, status: number, code: string, finding?: object): Promise<void> {
    expect([answer.status, answer.json.code]).toEqual([status, code])
    if (finding !== undefined) expect(answer.json.errors).toMatchObject([finding])
    await expect.poll(state).toEqual(before)
  }

  it('a missing, unknown or unsupported type', async () => {
    for (const headers of [
      {},
      { 'content-type': '' },
      { 'content-type': 'image/gif' },
      { 'content-type': 'text/html' },
    ]) {
      await expectRefusal(await service.post(another(), headers), 415, 'unsupported_media_type')
    }
  })

  it('a type that differs from the bytes', async () => {
    const png = await sharp(photo).png().toBuffer()
    const finding = { pointer: 'Content-Type', code: 'content_type_mismatch' }
    for (const bytes of [
      png,
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      Buffer.alloc(100_000),
      Buffer.from('x'),
    ]) {
      await expectRefusal(await service.post(bytes, jpeg), 400, 'invalid_request', finding)
    }
    await expectRefusal(await service.post(photo, { 'content-type': 'video/mp4' }), 400, 'invalid_request', finding)
  })

  it('an empty body', async () => {
    const finding = { pointer: '', code: 'empty_body' }
    await expectRefusal(await service.post(Buffer.alloc(0), jpeg), 400, 'invalid_request', finding)
    const { sending, answer } = service.start({ ...jpeg, 'transfer-encoding': 'chunked' })
    sending.end()
    await expectRefusal(await answer, 400, 'invalid_request', finding)
  })

  it('an image that is truncated or damaged in its header', async () => {
    const finding = { pointer: '', code: 'unreadable_media' }
    for (const bytes of [photo.subarray(0, 100), Buffer.concat([photo.subarray(0, 20), randomBytes(5_000)])]) {
      await expectRefusal(await service.post(bytes, jpeg), 400, 'invalid_request', finding)
    }
  })

  it('a digest that is wrong or malformed', async () => {
    const sent = (digest: string) => service.post(another(), { ...jpeg, 'content-digest': digest })
    const wrong = `sha-256=:${sha256(photo).toString('base64')}:`
    await expectRefusal(await sent(wrong), 400, 'invalid_request', {
      pointer: 'Content-Digest',
      code: 'digest_mismatch',
    })
    const finding = { pointer: 'Content-Digest', code: 'invalid_digest' }
    for (const digest of [
      '',
      'x',
      'sha-256=abc',
      'sha-256=:YWJj:',
      'sha-512=:YWJj:',
      `md5=:YWJj:, ${wrong.slice(0, -1)}`,
      'a=:b:,'.repeat(1_000),
    ]) {
      await expectRefusal(await sent(digest), 400, 'invalid_request', finding)
    }
  })

  it('50,000 pixels a side, before the body has arrived', async () => {
    const finding = { pointer: '', code: 'too_many_pixels' }
    for (const [width, height] of [
      [50_000, 50_000],
      [30_001, 1],
      [16_001, 16_000],
      [4_294_967_295, 4_294_967_295],
    ] as const) {
      const { sending, answer } = service.start({ 'content-type': 'image/png', 'content-length': '50000000' })
      sending.write(Buffer.concat([pngHeader(width, height), Buffer.alloc(64)]))
      // The remaining bytes are never sent: the answer must not wait for them.
      await expectRefusal(await answer, 400, 'invalid_request', finding)
      sending.destroy()
    }
  })

  it('too many pixels that only the complete file shows', async () => {
    const directory = Buffer.from(
      '0002010000040000000100011170010100040000000100011170 00000000'.replaceAll(' ', ''),
      'hex',
    )
    const header = Buffer.from('4d4d002a000493e0', 'hex')
    const bytes = Buffer.concat([header, Buffer.alloc(300_000 - 8), directory])
    const { status, json } = await service.post(bytes, { 'content-type': 'image/tiff' })
    expect([status, json.code]).toEqual([400, 'invalid_request'])
    expect(await state()).toEqual(before)
  })

  it('more bytes than the type may have, by its header and while it arrives', async () => {
    for (const [type, bytes] of [
      ['image/jpeg', MAX_IMAGE_BYTES + 1],
      ['video/mp4', MAX_VIDEO_BYTES + 1],
    ] as const) {
      const { sending, answer } = service.start({ 'content-type': type, 'content-length': String(bytes) })
      sending.flushHeaders()
      await expectRefusal(await answer, 413, 'payload_too_large')
      sending.destroy()
    }
    const { sending, answer } = service.start({ ...jpeg, 'transfer-encoding': 'chunked' })
    sending.on('error', () => {})
    sending.write(photo)
    const chunk = Buffer.alloc(4_000_000)
    let isAnswered = false
    answer.then(() => (isAnswered = true))
    for (let sent = 0; sent < 120_000_000 && !isAnswered; sent += chunk.length) {
      if (!sending.write(chunk)) await Promise.race([new Promise((resolve) => sending.once('drain', resolve)), answer])
    }
    await expectRefusal(await answer, 413, 'payload_too_large')
    sending.destroy()
  })

  it('a sender that trickles', async () => {
    const { sending, answer } = service.start({ ...jpeg, 'content-length': String(photo.byteLength) })
    sending.write(photo.subarray(0, 5_000))
    const trickle = setInterval(() => sending.write(photo.subarray(0, 1)), 20)
    await expectRefusal(await answer, 408, 'request_timeout')
    clearInterval(trickle)
    sending.destroy()
  })

  it('a client that leaves at any moment', async () => {
    for (const at of [0, 50, 70_000, photo.byteLength - 1]) {
      const { sending } = service.start({ ...jpeg, 'content-length': String(photo.byteLength + 16) })
      sending.on('error', () => {})
      sending.write(another().subarray(0, at))
      await delay(30)
      sending.destroy()
      await expect.poll(state).toEqual(before)
    }
  })

  it('a key without the scope, before the body is read', async () => {
    await expectRefusal(await service.post(another(), jpeg, 'verify'), 403, 'insufficient_scope')
  })
})

describe('inline media', () => {
  it('is stored under the same rules', async () => {
    const { media, scope } = service
    const data = another()
    const stored = await media.storeInline(scope, { contentType: 'image/jpeg', data })
    expect(stored).toMatchObject({ sha256: sha256(data).toString('hex'), width: 400, contentType: 'image/jpeg' })
    expect((await service.post(data, jpeg)).json.media_id).toBe(stored.id)
    await expect(media.storeInline(scope, { contentType: 'image/png', data })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    await expect(media.storeInline(scope, { contentType: 'image/gif', data })).rejects.toMatchObject({
      code: 'unsupported_media_type',
    })
    await expect(media.storeInline(scope, { contentType: 'image/jpeg', data: Buffer.alloc(0) })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })
})
