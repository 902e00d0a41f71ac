// Copies of a picture as people make them, and what the comparison of pictures says of them.

import sharp from 'sharp'
import { isSamePicture } from '#src/attest/duplicates/detail.ts'
import type { HashedPicture, Hasher } from '#src/attest/duplicates/hasher.ts'
import { distanceOf } from '#src/attest/duplicates/phash.ts'
import { RADIUS_BITS } from '#src/attest/duplicates/search.ts'

type Copy = (photo: Buffer) => Promise<Buffer>

export const COPIES: Record<string, Copy> = {
  'recompressed at 60': (photo) => sharp(photo).jpeg({ quality: 60 }).toBuffer(),
  'recompressed at 30': (photo) => sharp(photo).jpeg({ quality: 30 }).toBuffer(),
  'half as wide': async (photo) =>
    sharp(photo)
      .resize(Math.round((await widthOf(photo)) / 2))
      .jpeg()
      .toBuffer(),
  '320 pixels wide': (photo) => sharp(photo).resize(320).jpeg({ quality: 70 }).toBuffer(),
  WebP: (photo) => sharp(photo).webp({ quality: 70 }).toBuffer(),
  'WebP, 800 pixels wide': (photo) => sharp(photo).resize(800).webp({ quality: 50 }).toBuffer(),
  AVIF: (photo) => sharp(photo).resize(1_000).avif({ quality: 50, effort: 0 }).toBuffer(),
  'cropped by 1 % at each side': (photo) => crop(photo, [0.01, 0.01, 0.01, 0.01]),
  'cropped by 2 % at each side': (photo) => crop(photo, [0.02, 0.02, 0.02, 0.02]),
  'cropped by 2 % at the left': (photo) => crop(photo, [0.02, 0, 0, 0]),
  'cropped by 5 % at the bottom': (photo) => crop(photo, [0, 0, 0, 0.05]),
}

async function widthOf(photo: Buffer): Promise<number> {
  return (await sharp(photo).metadata()).width
}

async function crop(photo: Buffer, parts: readonly [left: number, top: number, right: number, bottom: number]) {
  const { width, height } = await sharp(photo).metadata()
  const [left = 0, top = 0, right = 0, bottom = 0] = parts.map((part, side) =>
    Math.round(part * (side % 2 === 0 ? width : height)),
  )
  return sharp(photo)
    .extract({ left, top, width: width - left - right, height: height - top - bottom })
    .jpeg({ quality: 85 })
    .toBuffer()
}

/** Whether the hashes match, and whether the match is confirmed, whichever of the two is compared with the other. */
export function judgePair(one: HashedPicture, other: HashedPicture): { isNear: boolean; isSame: boolean } {
  const isNear = distanceOf(one.hash, other.hash) <= RADIUS_BITS
  return { isNear, isSame: isNear && isSamePicture(one.detail, other.detail) }
}

/** Pairs of different pictures. */
export function countPairs(pictures: readonly HashedPicture[]): { pairs: number; near: number; same: number } {
  const judged = pictures.flatMap((one, index) => pictures.slice(index + 1).map((other) => judgePair(one, other)))
  return {
    pairs: judged.length,
    near: judged.filter(({ isNear }) => isNear).length,
    same: judged.filter(({ isSame }) => isSame).length,
  }
}

export async function hashPicture(hasher: Hasher, path: string): Promise<HashedPicture> {
  const inspection = await hasher.hash(path)
  if (!inspection.ok) throw new Error(inspection.detail)
  return inspection.value
}
