// Local files of the S3 store: copies of media, each of up to the largest blob. Nothing but its process knows of one, so a
// killed process leaves it, also when the media are erased. The name therefore says whose it is, and every process that
// starts removes those whose processes are gone. In a container only a later process of the same one can do that.

import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createFairBudget, type Hold } from '#src/platform/fair-budget.ts'

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

  async function withNewFile<R>(fill: (file: FileHandle, path: string) => Promise<R>): Promise<R> {
    const path = join(directory, newName())
    const file = await open(path, 'wx+', 0o600)
    try {
      return await fill(file, path)
    } finally {
      await file.close()
      await unlink(path)
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
      for (const name of await readdir(directory)) {
        if (!name.startsWith(SPOOLED)) continue
        const path = join(directory, name)
        try {
          if (!isAbandoned(name) && (await stat(path)).mtime >= before) continue
          await unlink(path)
          removed += 1
        } catch (error) {
          // Its owner has just finished with it, or it is another user's in a folder that both write to.
          if (!hasCode(error, 'ENOENT', 'EPERM', 'EACCES')) throw error
        }
      }
      return removed
    },
  }
}

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.some((code) => code === error.code)

// `countersign-blob-<host>-<process>-<its start>-<uuid>`. Names of an earlier release have the uuid alone.
const SPOOLED = 'countersign-blob-'
const OWNED = /^countersign-blob-(?<host>[0-9a-f]{8})-(?<pid>\d+)-(?<startedAt>\d+)-[0-9a-f]{8}-/

// A container that is restarted keeps its name, and its processes the numbers of those before: so the start of a process
// counts, too. Containers that share the folder have names of their own, and can't see whether others' processes live.
const hostOf = () => createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
const newName = () => `${SPOOLED}${hostOf()}-${process.pid}-${startOf(process.pid) ?? 0}-${randomUUID()}`

function isAbandoned(name: string): boolean {
  const { host, pid, startedAt } = OWNED.exec(name)?.groups ?? {}
  if (host !== hostOf()) return false
  const found = startOf(Number(pid))
  return found === undefined || found !== Number(startedAt)
}

/** When a process started, in ticks of the kernel; 0 where only Linux would say it. undefined when it does not run. */
function startOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return isRunning(pid) ? 0 : undefined
  try {
    // The name in brackets may contain anything; state and start time are the 1st and 20th word after it (proc(5)).
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const hasEnded = words[0] === 'Z' || words[0] === 'X'
    return hasEnded ? undefined : Number(words[19])
  } catch (error) {
    // ESRCH: it ended while the file was read.
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}
