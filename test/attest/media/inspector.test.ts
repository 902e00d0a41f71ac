import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInspector, type Inspector } from '#src/attest/media/inspector.ts'

describe('the inspector', () => {
  let folder = ''
  let inspector: Inspector
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inspector-'))
    inspector = createInspector()
  })
  afterAll(async () => {
    await inspector.close()
    await rm(folder, { recursive: true })
  })

  const file = async (name: string, bytes: Uint8Array | string): Promise<string> => {
    await writeFile(join(folder, name), bytes)
    return join(folder, name)
  }
  const picture = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#456' } })

  it('reads format, sides and EXIF', async () => {
    const bytes = await picture(80, 60)
      .withExif({ IFD0: { Make: 'Acme', Software: 'Camera 1.0' } })
      .jpeg()
      .toBuffer()
    const inspection = await inspector.inspect(await file('photo.jpg', bytes))
    expect(inspection).toMatchObject({
      ok: true,
      value: { format: 'jpeg', width: 80, height: 60, exif: { state: 'read', make: 'Acme', software: 'Camera 1.0' } },
    })
  })

  it('reports a missing file as missing, and nothing about its content', async () => {
    const path = join(folder, 'none')
    const answer = await inspector.inspect(path)
    expect(answer).toMatchObject({ ok: false, code: 'missing' })
    expect(JSON.stringify(answer)).not.toContain(folder)
  })

  it('survives 200 mutations of real files', async () => {
    const source = picture(64, 48).withExif({
      IFD0: { Make: 'Acme', Model: 'One' },
      IFD2: { DateTimeOriginal: '2026:01:02 03:04:05' },
    })
    const originals = await Promise.all([
      source.clone().jpeg().toBuffer(),
      source.clone().png().toBuffer(),
      source.clone().webp().toBuffer(),
      source.clone().tiff().toBuffer(),
      source.clone().avif({ effort: 0 }).toBuffer(),
    ])
    const random = createRandom(20_261_120)
    for (let i = 0; i < 200; i += 1) {
      const original = originals[i % originals.length] ?? Buffer.alloc(0)
      const path = await file('mutated', mutate(original, random))
      const inspection = await inspector.inspect(path)
      const isAnswer = inspection.ok || inspection.code === 'unreadable'
      expect([i, isAnswer]).toEqual([i, true])
    }
    const last = await inspector.inspect(await file('after.jpg', originals[0] ?? ''))
    expect(last).toMatchObject({ ok: true, value: { width: 64 } })
  })
})

describe('the inspector with a misbehaving thread', () => {
  const misbehaving = (limitMs = 1_500, maxWaiting = 100) =>
    createInspector({ thread: new URL('./misbehaving-thread.ts', import.meta.url), limitMs, maxWaiting })
  const fine = { ok: true, value: { exif: { detail: 'fine' } } }

  it('ends a stuck or crashed thread and answers all other requests', async () => {
    const inspector = misbehaving(1_000)
    const paths = ['fine', 'loop', 'fine', 'never', 'throw', 'fine', 'reject', 'exit', 'fine', 'memory', 'fine']
    const answers = await Promise.all(paths.map((path) => inspector.inspect(path)))
    const codes = answers.map((one) => (one.ok ? 'ok' : one.code))
    const expected = ['ok', 'timeout', 'ok', 'timeout', 'crashed', 'ok', 'crashed', 'crashed', 'ok', 'crashed', 'ok']
    // A second may end the greedy one before its memory does.
    expect(codes.with(9, 'crashed')).toEqual(expected)
    expect(['crashed', 'timeout']).toContain(codes[9])
    await inspector.close()
  })

  it('starts again when the thread ends between two requests', async () => {
    const inspector = misbehaving()
    expect(await inspector.inspect('afterwards')).toMatchObject({ ok: true })
    await expect.poll(() => inspector.inspect('fine')).toMatchObject(fine)
    await inspector.close()
  })

  it('is busy when too many files wait', async () => {
    const inspector = misbehaving(1_500, 2)
    const answers = await Promise.all(['never', 'fine', 'fine', 'fine'].map((path) => inspector.inspect(path)))
    expect(answers.map((one) => (one.ok ? 'ok' : one.code))).toEqual(['timeout', 'ok', 'ok', 'busy'])
    await inspector.close()
  })

  it('says nothing about a file when the thread can not start, and does not retry endlessly', async () => {
    const inspector = createInspector({ thread: new URL('./never-ready-thread.ts', import.meta.url) })
    const answers = await Promise.all([inspector.inspect('a'), inspector.inspect('b')])
    expect(answers).toMatchObject([
      { ok: false, code: 'busy' },
      { ok: false, code: 'busy' },
    ])
    await inspector.close()
  })

  it('answers running and waiting requests when it is closed', async () => {
    const inspector = misbehaving(60_000)
    const answers = Promise.all([inspector.inspect('loop'), inspector.inspect('fine')])
    await inspector.close()
    expect(await answers).toMatchObject([{ code: 'closed' }, { code: 'closed' }])
    expect(await inspector.inspect('fine')).toMatchObject({ code: 'closed' })
  })
})

/** xorshift32: the same mutations in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

function mutate(original: Buffer, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(original)
  const changes = 1 + random(12)
  // The head holds the structure, so most changes are made there.
  for (let i = 0; i < changes; i += 1)
    bytes[random(random(3) > 0 ? Math.min(bytes.length, 400) : bytes.length)] = random(256)
  return random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
}
