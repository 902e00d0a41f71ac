// Locks between processes, kept by the kernel: SQLite locks byte ranges of the file (fcntl(2)), and the kernel frees them when the
// process ends, also by SIGKILL. So a lock is never stale, and no process id has to be trusted: ids are reused, and a
// container can't see those of another.

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// sqlite.org/rescode.html, `SQLITE_BUSY`: another process or another connection of this one has the lock.
const BUSY = 5

// A connection that nothing refers to is closed by the garbage collector, and its lock is free then.
const held = new Set<DatabaseSync>()

/**
 * Takes the lock of a file, which is created where it does not exist and stays empty. Returns the function that frees the lock;
 * undefined while this or another process holds it.
 * @throws {Error} where the file can't be opened or is not empty.
 */
export function takeFileLock(path: string): (() => void) | undefined {
  const database = new DatabaseSync(path)
  try {
    // Nothing is written, so that no journal is needed beside the file.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw new Error(`${path} can't be locked: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
  // The process that held it before may have removed the file after this one had opened it: nothing protects a file
  // that others can't find.
  if (!existsSync(path)) {
    database.close()
    return undefined
  }
  held.add(database)
  return () => {
    if (held.delete(database)) database.close()
  }
}

/** Whether a process holds the lock of the file. A file that does not exist is created, and has no lock. */
export function isFileLocked(path: string): boolean {
  const free = takeFileLock(path)
  free?.()
  return free === undefined
}

function isBusy(error: unknown): boolean {
  // The low byte of the extended code is the primary one.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY
}
