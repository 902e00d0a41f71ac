// A folder of captures: each photo with a JSON file of the same name beside it, in folders of any depth.

import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { extname, join, parse } from 'node:path'
import type { Found } from './entry.ts'
import { finding, findingOf, isInside, readBody } from './files.ts'
import { createNames, keyOf } from './names.ts'

export interface FolderOptions {
  /** A real path that is skipped: this command's output is not input. */
  except: string
  /** Called with each file that is not part of a capture. */
  onIgnored(path: string): void
}

const PHOTOS = new Set(['.jpg', '.jpeg', '.png', '.webp', '.heic', '.heif', '.avif', '.tif', '.tiff', '.dng'])
// Not submitted: this command tells their sender how.
const VIDEOS = new Set(['.mp4', '.mov', '.webm'])
const BODY_MEMBERS = ['bundle', 'signature', 'media', 'media_type']
const MAX_DEPTH = 64

/** Captures by name: the same folder is always read in the same order. */
export async function* readFolder(directory: string, options: FolderOptions): AsyncGenerator<Found, void> {
  const base = await realpath(directory)
  yield* walk('', 0)

  async function* walk(within: string, depth: number): AsyncGenerator<Found, void> {
    let names: Dirent[]
    try {
      if (depth > MAX_DEPTH) throw Object.assign(new Error('too deep'), { code: 'ELOOP' })
      names = (await readdir(join(base, within), { withFileTypes: true })).filter(({ name }) => !isHidden(name))
    } catch (error) {
      yield { source: within, file: within, problems: [findingOf('', error)] }
      return
    }
    names.sort((a, b) => (a.name < b.name ? -1 : 1))
    const pairs = pairNames(names)
    for (const one of names) {
      const file = join(within, one.name)
      if (one.isSymbolicLink()) {
        const problem = await judgeLink(join(base, file))
        if (problem === 'skip') continue
        if (problem !== undefined) {
          yield { source: file, file, problems: [problem] }
          continue
        }
      }
      if (one.isDirectory()) {
        if ((await realpath(join(base, file))) !== options.except) yield* walk(file, depth + 1)
      } else if (isPhoto(one.name)) {
        yield await readPair(file, within, pairs.bodyOf(one.name))
      } else if (isJson(one.name)) {
        const alone = pairs.hasPhoto(one.name) ? undefined : await readAlone(file)
        if (alone !== undefined) yield alone
      } else {
        options.onIgnored(file)
      }
    }
  }

  async function readPair(file: string, within: string, body: string | 'ambiguous' | undefined): Promise<Found> {
    const photo = join(base, file)
    if (body === undefined) return { source: file, file, photo }
    if (body === 'ambiguous') {
      const detail = `two photos share the name ${parse(file).name}.json: name it ${parse(file).base}.json`
      return { source: file, file, photo, problems: [finding('', 'ambiguous', detail)] }
    }
    const bodyFile = join(within, body)
    const read = await readLinkedBody(bodyFile)
    const found: Found = { source: file, file, photo, bodyPath: join(base, bodyFile) }
    return Array.isArray(read) ? { ...found, source: bodyFile, problems: read } : { ...found, body: read }
  }

  // A JSON file that `npm run capture -- photo.jpg --out body.json` wrote contains its photo.
  async function readAlone(file: string): Promise<Found | undefined> {
    const read = await readLinkedBody(file)
    const bodyPath = join(base, file)
    if (Array.isArray(read)) return { source: file, file, problems: read }
    if (BODY_MEMBERS.some((member) => member in read)) return { source: file, file, body: read, bodyPath }
    options.onIgnored(file)
    return undefined
  }

  async function readLinkedBody(file: string): ReturnType<typeof readBody> {
    const path = join(base, file)
    const real = await realpath(path).catch(() => path)
    if (!isInside(base, real)) return [finding('', 'outside', 'is a link that leads out of the folder')]
    return readBody(path)
  }

  // A linked folder inside of this one is read at its real path.
  async function judgeLink(path: string) {
    try {
      if (!isInside(base, await realpath(path))) return finding('', 'outside', 'is a link that leads out of the folder')
      return (await stat(path)).isDirectory() ? 'skip' : undefined
    } catch (error) {
      return findingOf('', error)
    }
  }
}

// Photo and JSON may have been written by systems that disagree on the Unicode form of a name.
function pairNames(names: readonly Dirent[]) {
  const all = names.map(({ name }) => name)
  const photos = all.filter(isPhoto)
  const bodies = createNames(all.filter(isJson))
  const photoKeys = new Set(photos.map(keyOf))
  const photosByStem = Map.groupBy(photos, (name) => keyOf(parse(name).name))
  return {
    bodyOf(photo: string): string | 'ambiguous' | undefined {
      const own = bodies.find(`${photo}.json`)
      if (own !== undefined) return own
      const stem = parse(photo).name
      const shared = bodies.find(`${stem}.json`)
      if (shared === undefined || shared === 'ambiguous') return shared
      const others = photosByStem.get(keyOf(stem))?.filter((name) => bodies.find(`${name}.json`) === undefined) ?? []
      // A photo of exactly this name comes before one of another form.
      const isExact = parse(shared).name === stem
      const rivals = isExact ? others.filter((name) => parse(name).name === stem) : others
      return rivals.length > 1 ? 'ambiguous' : shared
    },
    hasPhoto(json: string): boolean {
      const stem = keyOf(parse(json).name)
      return photoKeys.has(stem) || photosByStem.has(stem)
    },
  }
}

function isPhoto(name: string): boolean {
  const extension = extname(name).toLowerCase()
  return PHOTOS.has(extension) || VIDEOS.has(extension)
}

function isJson(name: string): boolean {
  return extname(name).toLowerCase() === '.json'
}

// Files that operating systems leave beside others.
function isHidden(name: string): boolean {
  return name.startsWith('.') || name === '__MACOSX' || name === 'Thumbs.db'
}
