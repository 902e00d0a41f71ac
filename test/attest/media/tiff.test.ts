import { expect, test } from 'vitest'
import { copyTextTags, type TiffSource } from '#src/attest/media/tiff.ts'
import { createRandom, DATE, MAKE, MODEL, SOFTWARE, SUBSEC, structure, text } from './structure.ts'

test('the reader reads little of a structure that declares much', async () => {
  const long = 'x'.repeat(100_000)
  const tags = [MAKE, MODEL, SOFTWARE]
  const ifd0 = Array.from({ length: 900 }, (_, index) => text(tags[index % 3] ?? MAKE, long))
  const { source, total } = counted(structure({ ifd0, exif: [text(DATE, long), text(SUBSEC, long)] }))
  expect(await copyTextTags(source)).toMatchObject({ state: 'copied' })
  expect(total()).toBeLessThan(20_000)
})

test('the reader stays within the file, whatever is declared', async () => {
  const sound = structure({ ifd0: [text(MAKE, 'Google'), text(SOFTWARE, 'HDR+ 1.0')], exif: [text(DATE, 'now')] })
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = createRandom(seed)
    const bytes = Buffer.from(sound)
    for (let changes = 1 + random(4); changes > 0; changes--) bytes[4 + random(bytes.length - 4)] = random(256)
    await copyTextTags(counted(bytes).source)
  }
})

test('the copy owns its memory', async () => {
  const copied = await copyTextTags(counted(structure({ ifd0: [text(SOFTWARE, 'HDR+ 1.0')] })).source)
  if (copied.state !== 'copied') throw new Error(copied.state)
  expect(copied.block.byteOffset).toBe(0)
  expect(copied.block.buffer.byteLength).toBe(copied.block.byteLength)
})

/** Throws when it is asked for bytes outside. */
function counted(bytes: Buffer): { source: TiffSource; total: () => number } {
  let total = 0
  return {
    total: () => total,
    source: {
      size: bytes.length,
      async read(offset, length) {
        if (offset < 0 || length < 0 || offset + length > bytes.length) throw new Error(`${length} bytes at ${offset}`)
        total += length
        return bytes.subarray(offset, offset + length)
      },
    },
  }
}
