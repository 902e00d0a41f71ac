// Originals in a folder. A file is hashed only if a packet names its size or name: the folder may contain other files.

import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { usageError } from '../sentence.ts'
import type { CheckOptions } from './check.ts'

const MAX_FILES = 100_000
const PIECE_BYTES = 1024 * 1024

/** @throws a usage error when the folder does not exist, or contains too many files. */
export function createMediaFinder(folder: string): Required<Pick<CheckOptions, 'findMedia' | 'openMedia'>> {
  const files = list(folder)
  const digests = new Map<string, string>()
  const digestOf = (file: string) => {
    const known = digests.get(file) ?? hash(file)
    digests.set(file, known)
    return known
  }
  const find = ({ sha256, size, mediaId }: { sha256: string; size: number; mediaId: string }) => {
    const candidates = files.filter((file) => file.size === size || basename(file.path).includes(mediaId))
    return { candidates, found: candidates.find(({ path }) => digestOf(path) === sha256) }
  }
  return {
    findMedia(media) {
      const { candidates, found } = find(media)
      if (found !== undefined) return 'found'
      return candidates.length > 0 ? 'differs' : 'missing'
    },
    openMedia(media) {
      const { found } = find(media)
      return found && createReadStream(found.path)
    },
  }
}

function list(folder: string): { path: string; size: number }[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`--media ${folder}: there is no such folder.`)
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  if (entries.length > MAX_FILES) throw usageError(`--media ${folder}: more than ${MAX_FILES} files are too many.`)
  return entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return { path, size: statSync(path, { throwIfNoEntry: false })?.size ?? -1 }
  })
}

function hash(path: string): string {
  const digest = createHash('sha256')
  const piece = Buffer.alloc(PIECE_BYTES)
  const descriptor = openSync(path, 'r')
  try {
    for (;;) {
      const length = readSync(descriptor, piece, 0, PIECE_BYTES, null)
      if (length === 0) return digest.digest('hex')
      digest.update(piece.subarray(0, length))
    }
  } finally {
    closeSync(descriptor)
  }
}
