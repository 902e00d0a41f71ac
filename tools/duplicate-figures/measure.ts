// The figures of docs/attest/duplicates.md: how many pairs of different documents are called one picture, and how many copies of
// photos and documents are found. `node tools/duplicate-figures/measure.ts`, some minutes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHasher, type HashedPicture } from '#src/attest/duplicates/hasher.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { drawPicture } from '../../test/attest/duplicates/pictures.ts'
import { COPIES, countPairs, hashPicture, judgePair } from '../../test/support/copies.ts'
import { DOCUMENT_KINDS, drawDocument } from '../../test/support/documents.ts'

const DOCUMENTS = 60
const COPIED = 20

const folder = await mkdtemp(join(tmpdir(), 'duplicate-figures-'))
const decoder = createDecoder()
const hasher = createHasher(decoder)

async function hash(bytes: Buffer): Promise<HashedPicture> {
  const path = join(folder, 'picture')
  await writeFile(path, bytes)
  return hashPicture(hasher, path)
}

async function hashAll(count: number, draw: (seed: number) => Promise<Buffer>): Promise<HashedPicture[]> {
  const pictures: HashedPicture[] = []
  for (let seed = 0; seed < count; seed += 1) pictures.push(await hash(await draw(seed)))
  return pictures
}

const print = (line: string) => void process.stdout.write(`${line}\n`)
const KINDS: Record<string, (seed: number) => Promise<Buffer>> = {
  photo: (seed) => renderPhoto({ seed, width: 1_600, height: 1_200, exif: null }),
  'soft photo': (seed) => drawPicture(seed, { width: 1_280, height: 960 }),
  ...Object.fromEntries(DOCUMENT_KINDS.map((kind) => [kind, (seed: number) => drawDocument(kind, seed)])),
}
try {
  for (const [kind, draw] of Object.entries(KINDS)) {
    const { pairs, near, same } = countPairs(await hashAll(DOCUMENTS, draw))
    print(`${kind}: of ${pairs} pairs ${near} by the hash, ${same} confirmed`)
  }
  for (const [kind, draw] of Object.entries(KINDS)) {
    for (const [copy, make] of Object.entries(COPIES)) {
      const found = { near: 0, same: 0 }
      for (let seed = 0; seed < COPIED; seed += 1) {
        const photo = await draw(seed)
        const { isNear, isSame } = judgePair(await hash(photo), await hash(await make(photo)))
        found.near += Number(isNear)
        found.same += Number(isSame)
      }
      print(`${kind}, ${copy}: of ${COPIED} ${found.near} by the hash, ${found.same} confirmed`)
    }
  }
} finally {
  await decoder.close()
  await rm(folder, { recursive: true })
}
