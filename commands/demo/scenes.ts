import { readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import sharp from 'sharp'
import { renderPhoto, withExif } from '../../capture-kit/photo.ts'
import { createProgress } from './progress.ts'

export type Scenes = readonly [Uint8Array, ...Uint8Array[]]

interface ScenesOptions {
  claims: number
  seed: number
  photos: string | undefined
  /** The folder in which the photos will be stored. */
  directory: string
  say(line: string): void
  signal: AbortSignal
}

// Beyond this the pictures repeat and only their EXIF differs: each is still a separate file.
const MAX_SCENES = 48
// The approximate size of a rendered photo.
const RENDERED_BYTES = 1_900_000
// The largest photo that the service accepts.
const MAX_PHOTO_BYTES = 100_000_000
const MAX_PIXELS = 64_000_000

/**
 * The pictures of a rehearsal.
 * @throws {Error} when there are none, or the disk has no room for the photos made of them.
 */
export async function prepareScenes({ claims, seed, photos, directory, say, signal }: ScenesOptions): Promise<Scenes> {
  const wanted = Math.min(claims, MAX_SCENES)
  if (photos === undefined) checkDisk(directory, claims, RENDERED_BYTES)
  const scenes = photos === undefined ? await render(wanted, seed, signal) : await load(photos, wanted, say)
  const meanBytes = scenes.reduce((sum, scene) => sum + scene.length, 0) / scenes.length
  checkDisk(directory, claims, meanBytes)
  const count = `${scenes.length} picture${scenes.length === 1 ? '' : 's'}`
  say(
    photos === undefined
      ? `Rendered ${count} of 12 megapixels.`
      : `Took ${count} from ${photos}; the plan gives them their EXIF.`,
  )
  return scenes
}

async function render(count: number, seed: number, signal: AbortSignal): Promise<Scenes> {
  const progress = createProgress('Rendering photos', count)
  const scenes: Uint8Array[] = []
  const seeds = Array.from({ length: count }, (_, index) => seed * 1_000 + index).values()
  try {
    // sharp encodes on its own threads: two at a time keep two cores busy.
    await Promise.all(
      [0, 1].map(async () => {
        for (const next of seeds) {
          signal.throwIfAborted()
          scenes.push(await renderPhoto({ seed: next, exif: null }))
          progress.add(1)
        }
      }),
    )
  } finally {
    progress.end()
  }
  return atLeastOne(scenes, 'nothing was rendered')
}

/** The first readable JPEGs of a folder, by name. */
async function load(folder: string, count: number, say: (line: string) => void): Promise<Scenes> {
  const scenes: Uint8Array[] = []
  for (const file of listJpegs(folder)) {
    if (scenes.length === count) break
    const refusal = await whyNot(file)
    if (typeof refusal === 'string') say(`Left out ${basename(file)}: ${refusal}.`)
    else scenes.push(refusal)
  }
  return atLeastOne(scenes, `${resolve(folder)} holds no .jpg or .jpeg file that can be read.`)
}

function listJpegs(folder: string): string[] {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`--photos: there is no folder ${resolve(folder)}.`)
  if (!stat.isDirectory()) throw new Error(`--photos: ${resolve(folder)} is no folder.`)
  return readdirSync(folder)
    .filter((name) => /\.jpe?g$/i.test(name))
    .sort()
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
}

/** The photo, or why it can't be used. */
async function whyNot(file: string): Promise<Uint8Array | string> {
  if (statSync(file).size > MAX_PHOTO_BYTES) return `it is larger than ${MAX_PHOTO_BYTES / 1e6} MB`
  const bytes = readFileSync(file)
  try {
    withExif(bytes, null)
    const { format, width, height } = await sharp(bytes, { limitInputPixels: false }).metadata()
    if (format !== 'jpeg') return 'it is no JPEG'
    return width * height > MAX_PIXELS ? `it has more than ${MAX_PIXELS / 1e6} megapixels` : bytes
  } catch {
    return 'it is no JPEG that can be read'
  }
}

function checkDisk(directory: string, claims: number, photoBytes: number): void {
  const bytes = claims * photoBytes
  const { bavail, bsize } = statfsSync(directory)
  if (bytes * 1.2 <= bavail * bsize) return
  const gigabytes = (value: number) => (value / 1e9).toFixed(1)
  throw new Error(
    `${claims} photos take ${gigabytes(bytes)} GB, and ${directory} has room for ${gigabytes(bavail * bsize)} GB: use fewer --claims.`,
  )
}

function atLeastOne(scenes: Uint8Array[], otherwise: string): Scenes {
  const [first, ...rest] = scenes
  if (first === undefined) throw new Error(otherwise)
  return [first, ...rest]
}
