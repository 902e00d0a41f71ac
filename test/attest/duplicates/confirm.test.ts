import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DETAIL_SIDE, halve, isSamePicture } from '#src/attest/duplicates/detail.ts'
import { createHasher, type HashedPicture, type Hasher } from '#src/attest/duplicates/hasher.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { renderPhoto } from '../../../capture-kit/photo.ts'
import { COPIES, countPairs, hashPicture, judgePair } from '../../support/copies.ts'
import { type DocumentKind, drawDocument } from '../../support/documents.ts'
import { drawPicture } from './pictures.ts'

const decoder = createDecoder()
let folder = ''
let hasher: Hasher
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'confirm-'))
  hasher = createHasher(decoder)
})
afterAll(async () => {
  await decoder.close()
  await rm(folder, { recursive: true })
})

let files = 0
async function hash(bytes: Buffer): Promise<HashedPicture> {
  files += 1
  const path = join(folder, String(files))
  await writeFile(path, bytes)
  return hashPicture(hasher, path)
}

describe('different documents', () => {
  const COUNT = 20
  const hashAll = async (kind: DocumentKind) => {
    const documents: HashedPicture[] = []
    for (let seed = 0; seed < COUNT; seed += 1) documents.push(await hash(await drawDocument(kind, seed)))
    return documents
  }

  it.each(['invoice', 'form', 'card'] as const)(
    'of one origin (%s) are told apart where their hashes are alike',
    async (kind) => {
      const { pairs, near, same } = countPairs(await hashAll(kind))
      expect([pairs, near > pairs / 10]).toEqual([190, true])
      expect(same).toBeLessThanOrEqual(2)
    },
  )

  it('that are screenshots of one app have different hashes', async () => {
    expect(countPairs(await hashAll('screenshot'))).toMatchObject({ same: 0 })
  })
})

describe('copies', () => {
  it.each(Object.entries(COPIES))('%s are found where the hash finds them, whichever comes first', async (_, make) => {
    const originals = [
      await renderPhoto({ seed: 1, width: 1_600, height: 1_200, exif: null }),
      await drawPicture(1, { width: 1_280, height: 960 }),
      // Its lines of text fit onto their neighbours.
      await drawDocument('invoice', 1),
      await drawDocument('form', 1),
      await drawDocument('card', 1),
    ]
    for (const original of originals) {
      const [one, other] = [await hash(original), await hash(await make(original))]
      const there = judgePair(one, other)
      const back = judgePair(other, one)
      expect([there.isSame, back.isSame]).toEqual([there.isNear, back.isNear])
    }
  })
})

describe('squares of greys', () => {
  const square = (greyAt: (x: number, y: number) => number) =>
    Uint8Array.from({ length: DETAIL_SIDE ** 2 }, (_, cell) =>
      greyAt(cell % DETAIL_SIDE, Math.floor(cell / DETAIL_SIDE)),
    )
  const hills = square((x, y) => 128 + 90 * Math.sin(x / 9) * Math.cos(y / 7))

  it('are the same in another brightness and contrast', () => {
    expect(
      isSamePicture(
        hills,
        hills.map((grey) => 20 + grey / 2),
      ),
    ).toBe(true)
    expect(
      isSamePicture(
        hills.map((grey) => 20 + grey / 2),
        hills,
      ),
    ).toBe(true)
  })

  it('are different where one block differs, also in a picture with little contrast', () => {
    for (const contrast of [1, 0.1]) {
      const base = hills.map((grey) => 128 + (grey - 128) * contrast)
      const changed = base.map((grey, cell) =>
        cell % DETAIL_SIDE < 8 && cell < 8 * DETAIL_SIDE ? grey + 60 * contrast : grey,
      )
      expect([contrast, isSamePicture(base, base), isSamePicture(base, changed)]).toEqual([contrast, true, false])
      expect(isSamePicture(changed, base)).toBe(false)
    }
    const flat = hills.map(() => 128)
    expect([isSamePicture(hills, flat), isSamePicture(flat, flat)]).toEqual([false, true])
  })

  it('have half as many greys for the hash, each the mean of four', () => {
    const halved = halve(square((x, y) => (x % 2) + 2 * (y % 2) + (x >= 62 && y >= 62 ? 200 : 0)))
    expect(halved).toHaveLength(32 * 32)
    expect([halved[0], halved.at(-1)]).toEqual([2, 202])
  })

  it('of another size are refused', () => {
    for (const length of [0, DETAIL_SIDE ** 2 - 1, DETAIL_SIDE ** 2 + 1]) {
      expect(() => halve(new Uint8Array(length))).toThrow(RangeError)
      expect(() => isSamePicture(hills, new Uint8Array(length))).toThrow(RangeError)
    }
  })
})
