// Local files of the S3 store: copies of media, each of up to the largest blob. Nothing but its process knows of one, so a
// killed process leaves it, also when the media are erased. The name therefore says which store made it, the store keeps a
// lock in the same folder for as long as its process lives, and every process that starts removes the files of the others
// whose lock is free.

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createFairBudget, type Hold } from '#src/platform/fair-budget.ts'
import { takeFileLock } from '#src/platform/file-lock.ts'

export interface LocalFiles {
  /** A new file, which is removed when `fill` has ended. What it writes is taken from the room of its owner first. */
  use<R>(owner: string, fill: (file: FileHandle, path: string, room: DiskRoom) => Promise<R>): Promise<R>
  /** Removes the files of processes that are gone, and those that were last written before then. Returns how many. */
  sweep(before: Date): Promise<number>
}

/** A part of the disk that the accounts of the process share (`createFairBudget`). */
export interface DiskRoom extends Pick<Hold, 'mayBeEvicted' | 'begin'> {
  /**
   * false, and nothing is taken, when the owner would hold more than is left to the others. At once more than the share
   * of an owner that is alone counts as that share: such a file must come, sooner or later.
   */
  take(bytes: number): boolean
  /** Resolves when another file has been removed. */
  freed(): Promise<void>
}

// An account that is alone gets half of it: a video of the largest size, 2 GiB, and some photos beside it.
export const DEFAULT_SPOOL_BYTES = 6 * 1024 ** 3

export function createLocalFiles(directory: string, maxBytes: number): LocalFiles {
  const budget = createFairBudget(maxBytes)
  const share = Math.floor(maxBytes / 2)
  let removed = Promise.withResolvers<void>()
  let owner: { name: string; files: number; free: () => void } | undefined

  // Another process may take the lock of a new file for a moment, to see whether it is abandoned: then another name is used.
  function takeOwner(): { name: string; files: number; free: () => void } {
    while (owner === undefined) {
      const name = randomUUID().slice(0, 8)
      const free = takeFileLock(join(directory, `${OWNER}${name}`))
      if (free !== undefined) owner = { name, files: 0, free }
    }
    owner.files += 1
    return owner
  }

  // Kept only while there are files: nothing has to be closed, and an idle store leaves nothing.
  function releaseOwner(): void {
    if (owner === undefined) return
    owner.files -= 1
    if (owner.files > 0) return
    rmSync(join(directory, `${OWNER}${owner.name}`), { force: true })
    owner.free()
    owner = undefined
  }

  /** Removes a file that no process uses any more. false when it is gone, or another user's in a folder that both write to. */
  async function remove(name: string): Promise<boolean> {
    try {
      await unlink(join(directory, name))
      return true
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'EPERM', 'EACCES')) throw error
      return false
    }
  }

  async function withNewFile<R>(fill: (file: FileHandle, path: string) => Promise<R>): Promise<R> {
    const { name } = takeOwner()
    try {
      const path = join(directory, `${SPOOLED}${name}-${randomUUID()}`)
      const file = await open(path, 'wx+', 0o600)
      try {
        return await fill(file, path)
      } finally {
        await file.close()
        await unlink(path)
      }
    } finally {
      releaseOwner()
    }
  }

  return {
    async use(owner, fill) {
      const hold = budget.open(owner)
      const room = { ...hold, take: (bytes: number) => hold.take(Math.min(bytes, share)), freed: () => removed.promise }
      try {
        return await withNewFile((file, path) => fill(file, path, room))
      } finally {
        hold.release()
        removed.resolve()
        removed = Promise.withResolvers()
      }
    },

    async sweep(before) {
      let removed = 0
      const names = await readdir(directory)
      for (const owned of names.filter((name) => name.startsWith(OWNER))) {
        const free = takeLockOf(join(directory, owned))
        if (free === undefined) continue
        const spooled = `${SPOOLED}${owned.slice(OWNER.length)}-`
        for (const name of names) if (name.startsWith(spooled) && (await remove(name))) removed += 1
        // Removed before it is freed, so that no process takes the lock of a file that is about to go.
        await remove(owned)
        free()
      }
      for (const name of names) {
        if (!name.startsWith(SPOOLED)) continue
        // Files without a lock, as a cleaner of temporary files leaves them, are removed by age.
        const { mtime } = (await stat(join(directory, name)).catch(() => undefined)) ?? {}
        if (mtime !== undefined && mtime < before && (await remove(name))) removed += 1
      }
      return removed
    },
  }
}

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.some((code) => code === error.code)

// `countersign-blob-<owner>-<uuid>`, and the lock `countersign-owner-<owner>`.
const SPOOLED = 'countersign-blob-'
const OWNER = 'countersign-owner-'

/** undefined also where another user's file can't be opened. */
function takeLockOf(path: string): (() => void) | undefined {
  try {
    return takeFileLock(path)
  } catch {
    return undefined
  }
}
