import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDecoder, type Decoder, type DecoderOptions, type EndedDecoder } from '#src/attest/media/decoder.ts'
import { slowAvif } from '../../support/slow-avif.ts'
import { until } from '../../support/until.ts'

const open: Decoder[] = []
const ended: EndedDecoder[] = []
const make = (options: DecoderOptions = {}): Decoder => {
  const decoder = createDecoder({ onEnded: (one) => ended.push(one), ...options })
  open.push(decoder)
  return decoder
}
const misbehaving = (options: DecoderOptions = {}) =>
  make({
    file: new URL('./misbehaving-child.ts', import.meta.url),
    quickMs: 600,
    limitMs: 1_500,
    patience: 1,
    ...options,
  })
const isAlive = (pid = 0): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const picture = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#456' } })

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decoder-'))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((decoder) => decoder.close()))
  ended.length = 0
})
afterAll(() => rm(folder, { recursive: true }))

async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  await writeFile(join(folder, name), bytes)
  return join(folder, name)
}

function writeSlow(): Promise<string> {
  const flat = slowAvif(1)
  expect(flat.byteLength).toBeLessThan(2_000)
  return write('flat.avif', flat)
}

describe('the decoder', () => {
  it('makes an upright thumbnail without metadata, never larger than the original', async () => {
    const decoder = make()
    const turned = await picture(1600, 800)
      .withExif({ IFD0: { Make: 'Acme' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const made = await decoder.thumbnail(await write('turned.jpg', turned), 320)
    if (!made.ok) throw new Error(made.detail)
    const metadata = await sharp(made.value.data).metadata()
    expect(metadata).toMatchObject({ format: 'webp', width: 160, height: 320 })
    expect(metadata.exif).toBeUndefined()
    expect(metadata.orientation).toBeUndefined()

    const small = await decoder.thumbnail(await write('small.png', await picture(20, 10).png().toBuffer()), 320)
    expect(small).toMatchObject({ ok: true, value: { width: 20, height: 10 } })
  })

  it('scales a picture into a square of greys', async () => {
    const path = await write('grey.png', await picture(60, 10).png().toBuffer())
    const decoded = await make().greys(path, 4)
    expect(decoded).toMatchObject({ ok: true, value: { width: 4, height: 4 } })
    expect(decoded.ok && [...decoded.value.data]).toEqual(Array(16).fill(decoded.ok && decoded.value.data[0]))
  })

  it('reports files without pixels and missing files, without naming a path', async () => {
    const decoder = make()
    const photo = await picture(400, 300).jpeg().toBuffer()
    for (const path of [await write('text.jpg', 'no image'), await write('cut.jpg', photo.subarray(0, 300))]) {
      const answer = await decoder.thumbnail(path, 320)
      expect(answer).toMatchObject({ ok: false, code: 'unreadable' })
      expect(JSON.stringify(answer)).not.toContain(folder)
    }
    expect(await decoder.thumbnail(join(folder, 'none'), 320)).toMatchObject({ ok: false, code: 'missing' })
  })

  it('kills the decoding of an AVIF of 1 KB and 6,000 x 6,000 pixels, and still decodes others', async () => {
    const [slow, fine] = [await writeSlow(), await write('fine.png', await picture(9, 9).png().toBuffer())]
    const decoder = make({ quickMs: 30_000, limitMs: 300, maxMegabytes: 4_000 })
    const answers = await Promise.all([decoder.thumbnail(slow, 320), decoder.thumbnail(fine, 320)])
    expect(answers).toMatchObject([{ ok: false, code: 'timeout' }, { ok: true }])
    // Its header says that it is slow: the process for quick pictures did not begin it.
    expect(ended.map(({ reason }) => reason)).toEqual(['timeout'])
    await until(async () => !ended.some(({ pid }) => isAlive(pid)))
    expect(await decoder.thumbnail(fine, 320)).toMatchObject({ ok: true })
  })

  it('moves a picture that takes long to the second process, by its processor time', async () => {
    // Its header says nothing of it: below the size from which an AVIF begins there.
    const path = await write('quick.avif', await picture(2_800, 2_800).avif({ effort: 0, quality: 1 }).toBuffer())
    const decoder = make({ quickMs: 50, patience: 10_000 })
    expect(await decoder.thumbnail(path, 8)).toMatchObject({ ok: true })
    expect(ended.map(({ reason }) => reason)).toEqual(['slow'])
  })

  it('decodes many of the largest AVIF in one process, which keeps the memory of none', async () => {
    const decoder = make({ limitMs: 120_000 })
    const path = await writeSlow()
    for (let time = 0; time < 5; time += 1) expect(await decoder.thumbnail(path, 8)).toMatchObject({ ok: true })
    expect(ended).toEqual([])
  })

  it('decodes no picture of more megapixels than fit its memory', async () => {
    const decoder = make()
    const wide = await write('wide.png', await picture(10_000, 6_401).png({ compressionLevel: 1 }).toBuffer())
    const avif = slowAvif(1)
    // The sides that the file states (ISO/IEC 23008-12 6.5.3).
    const sides = avif.indexOf('ispe') + 8
    avif.writeUInt32BE(6_001, sides)
    for (const [path, what] of [
      [wide, 'An image of more than 64 megapixels'],
      [await write('large.avif', avif), 'An AVIF of more than 36 megapixels'],
    ] as const) {
      const detail = `${what} is not decoded.`
      expect(await decoder.greys(path, 4)).toEqual({ ok: false, code: 'too_large', detail })
    }
    expect(ended).toEqual([])
  })

  it('ends the decoding of a picture that takes more memory than its limit', async () => {
    const decoder = make({ quickMs: 30_000, maxMegabytes: 300 })
    const answer = await decoder.thumbnail(await writeSlow(), 320)
    expect(answer).toMatchObject({ ok: false, code: 'crashed', detail: expect.stringContaining('300 MB') })
    expect(ended.map(({ reason }) => reason)).toEqual(['memory'])
    await until(async () => !ended.some(({ pid }) => isAlive(pid)))
  })
})

describe('a decoder whose process misbehaves', () => {
  const codeOf = async (decoder: Decoder, path: string) => {
    const answer = await decoder.greys(path, 1)
    return answer.ok ? 'ok' : answer.code
  }

  it('ends a stuck or crashed process and answers all other requests', async () => {
    const decoder = misbehaving()
    const paths = ['fine', 'native', 'fine', 'never', 'throw', 'fine', 'exit', 'fine', 'fine']
    const expected = ['ok', 'timeout', 'ok', 'timeout', 'crashed', 'ok', 'crashed', 'ok', 'ok']
    expect(await Promise.all(paths.map((path) => codeOf(decoder, path)))).toEqual(expected)
    await until(async () => !ended.some(({ pid }) => isAlive(pid)))
  })

  it('has a limited heap', async () => {
    expect(await codeOf(misbehaving({ quickMs: 60_000 }), 'heap')).toBe('crashed')
  })

  it('starts again when a process ends between two pictures', async () => {
    const decoder = misbehaving()
    expect(await codeOf(decoder, 'afterwards')).toBe('ok')
    await expect.poll(() => codeOf(decoder, 'fine')).toBe('ok')
  })

  it('decodes quick pictures while slow pictures wait for each other', async () => {
    const decoder = misbehaving({ limitMs: 60_000 })
    const stuck = Promise.all([codeOf(decoder, 'never'), codeOf(decoder, 'never')])
    for (let i = 0; i < 5; i += 1) expect(await codeOf(decoder, 'fine')).toBe('ok')
    await decoder.close()
    expect(await stuck).toEqual(['closed', 'closed'])
  })

  it('begins a picture that is known to be slow in the process for those alone', async () => {
    const decoder = misbehaving({ quickMs: 60_000, limitMs: 60_000 })
    const pictures = await Promise.all(['slow', 'fine', 'slow', 'fine'].map((path) => decoder.greys(path, 1)))
    const pids = pictures.map((one) => one.ok && one.value.height)
    expect(pids).toEqual([pids[0], pids[1], pids[0], pids[1]])
    expect(pids[0]).not.toBe(pids[1])
    expect(ended).toEqual([])
    expect(await codeOf(decoder, 'always slow')).toBe('crashed')
    expect(await codeOf(decoder, 'fine')).toBe('ok')
  })

  it('is busy when too many pictures wait', async () => {
    const decoder = misbehaving({ maxWaiting: 2 })
    const answers = ['never', 'fine', 'fine', 'fine'].map((path) => codeOf(decoder, path))
    expect(await Promise.all(answers)).toEqual(['timeout', 'ok', 'ok', 'busy'])
  })

  it('blames no picture when its process can not start', async () => {
    const decoder = make({ file: new URL('./no-such-file.ts', import.meta.url) })
    expect(await Promise.all([codeOf(decoder, 'a'), codeOf(decoder, 'b')])).toEqual(['busy', 'busy'])
  })

  it('gives its process nothing of its own environment', async () => {
    const decoded = await misbehaving().greys('environment', 1)
    // Node itself adds the descriptor of the channel, and removes it again.
    expect(decoded.ok && Buffer.from(decoded.value.data).toString()).toBe('MALLOC_MMAP_THRESHOLD_')
  })

  it('starts no process before its first picture, ends idle ones, and leaves none when it is closed', async () => {
    const decoder = misbehaving({ idleMs: 50 })
    const pidOf = async () => {
      const decoded = await decoder.greys('fine', 1)
      return decoded.ok ? decoded.value.height : 0
    }
    const first = await pidOf()
    await until(async () => !isAlive(first))
    expect(ended).toEqual([{ pid: first, reason: 'idle' }])
    const second = await pidOf()
    expect(second).not.toBe(first)
    await decoder.close()
    expect(isAlive(second)).toBe(false)
    expect(await codeOf(decoder, 'fine')).toBe('closed')
  })
})
