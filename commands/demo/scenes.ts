import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { createProgress } from './progress.ts'

export type Scenes = readonly [Uint8Array, ...Uint8Array[]]

// What one photo may take; larger files are not what a phone makes.
const MAX_PHOTO_BYTES = 100_000_000

/** Pictures of 12 megapixels, each from a seed of its own. */
export async function renderScenes(count: number, seed: number, signal: AbortSignal): Promise<Scenes> {
  const progress = createProgress('Rendering photos', count)
  const scenes: Uint8Array[] = []
  const seeds = Array.from({ length: count }, (_, index) => seed * 1_000 + index).values()
  // sharp encodes on threads of its own: two at a time keep two cores busy.
  await Promise.all(
    [0, 1].map(async () => {
      for (const next of seeds) {
        signal.throwIfAborted()
        scenes.push(await renderPhoto({ seed: next, exif: null }))
        progress.add(1)
      }
    }),
  )
  progress.end()
  return atLeastOne(scenes, 'nothing was rendered')
}

/** The JPEGs of a folder, by name. @throws {Error} when there is none, or one is no JPEG. */
export async function loadScenes(directory: string): Promise<Scenes> {
  const files = readdirSync(directory)
    .filter((name) => /\.jpe?g$/i.test(name))
    .sort()
    .map((name) => join(directory, name))
  for (const file of files) {
    if (statSync(file).size > MAX_PHOTO_BYTES) throw new Error(`${file} is larger than ${MAX_PHOTO_BYTES / 1e6} MB.`)
  }
  return atLeastOne(files.map((file) => readFileSync(file)), `${directory} holds no .jpg or .jpeg file.`)
}

function atLeastOne(scenes: Uint8Array[], otherwise: string): Scenes {
  const [first, ...rest] = scenes
  if (first === undefined) throw new Error(otherwise)
  return [first, ...rest]
}
