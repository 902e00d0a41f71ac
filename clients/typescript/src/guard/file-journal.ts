// A journal in a file: one line of JSON for each note, on the disk before `append` resolves.
//
// Two processes can't use one file. A process takes the file over with a line `opened`, and reads what stands before it. Each
// append of another process then finds a file that grew without it, or was replaced, and fails before its action starts. So what
// the new process reads as never started can't start any more. Where the processes of the machine can be asked (Linux), the file
// of a process that is alive is refused instead.

import { isEntry, type Journal, type JournalEntry, JournalError } from './journal.ts'

interface Handle {
  appendFile(data: Uint8Array): Promise<void>
  stat(): Promise<{ size: number; ino: number }>
  sync(): Promise<void>
  close(): Promise<void>
}

interface Files {
  open(path: string, flags: string, mode?: number): Promise<Handle>
  readFile(path: string, encoding: 'utf8'): Promise<string>
  rename(from: string, to: string): Promise<void>
  stat(path: string): Promise<{ ino: number }>
  unlink(path: string): Promise<void>
}

/** First line of a process, or its last. */
interface Holding {
  holding: 'opened' | 'released'
  by: string
  pid?: number
  /** Tells the process from a later one with the same number. */
  process?: string | undefined
}

type Line = JournalEntry | Holding

interface Opened {
  handle: Handle
  ino: number
  /** Bytes that this process knows. */
  end: number
  maxBytes: number
}

export interface FileJournal extends Journal {
  /** Lets another process open the file. */
  close(): Promise<void>
}

// Larger files are rewritten with the notes of open actions alone.
const MAX_BYTES = 4 * 1024 * 1024
const OWNER_ONLY = 0o600

const encoder = new TextEncoder()
const shared = new Map<string, FileJournal>()

/** The journal of a path: the same one for each caller in this process. */
export function fileJournal(relativePath: string): FileJournal {
  const path = absoluteOf(relativePath)
  const journal = shared.get(path) ?? createFileJournal(path, () => shared.delete(path))
  shared.set(path, journal)
  return journal
}

/** @param onClose Called when the journal is closed. */
export function createFileJournal(path: string, onClose: () => void = () => {}): FileJournal {
  const by = crypto.randomUUID()
  const entries = new Map<string, JournalEntry[]>()
  let file: Opened | undefined
  // A note that was written in part, or that may not be on the disk.
  let isTorn = false
  let isTaken = false
  let copies = 0
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<Result>(act: (files: Files) => Promise<Result>): Promise<Result> {
    const result = turn.then(async () => {
      try {
        if (isTaken) throw takenOver()
        return await act(await loadFiles())
      } catch (error) {
        if (error instanceof JournalError) throw error
        throw new JournalError(`${path} could not be written or read`, { cause: error })
      }
    })
    turn = result.catch(() => {})
    return result
  }

  async function openFile(files: Files): Promise<Opened> {
    entries.clear()
    await refuseHolder(files, path, by)
    const handle = await files.open(path, 'a', OWNER_ONLY)
    try {
      // A last line without an end becomes unreadable, also where its end alone is missing.
      await handle.appendFile(encoder.encode(`~\n${lineOf(await opening(files))}`))
    } finally {
      await handle.close()
    }
    const lines = parseLines(path, await files.readFile(path, 'utf8'))
    const own = lines.findLastIndex((line) => 'holding' in line && line.by === by)
    if (own === -1) throw takenOver()
    for (const line of lines.slice(0, own)) if (!('holding' in line)) keep(line)
    return rewrite(files)
  }

  /** Replaces the file by one with the notes of open actions. */
  async function rewrite(files: Files): Promise<Opened> {
    copies += 1
    const copy = `${path}.${by}.${copies}`
    const text = [await opening(files), ...[...entries.values()].flat()].map(lineOf).join('')
    const bytes = encoder.encode(text)
    try {
      await writeDurably(files, copy, bytes)
      // Windows renames no file that is open.
      await file?.handle.close()
      file = undefined
      await files.rename(copy, path)
    } catch (error) {
      await files.unlink(copy).catch(() => {})
      throw error
    }
    await syncFolder(files, path)
    const handle = await files.open(path, 'a')
    const { ino } = await handle.stat()
    isTorn = false
    return { handle, ino, end: bytes.length, maxBytes: Math.max(MAX_BYTES, 2 * bytes.length) }
  }

  async function opening(files: Files): Promise<Holding> {
    const { pid } = (globalThis as { process?: { pid?: number } }).process ?? {}
    return { holding: 'opened', by, ...(pid !== undefined && { pid, process: await processOf(files, pid) }) }
  }

  async function write(files: Files, line: Line): Promise<void> {
    file ??= await openFile(files)
    if (isTorn || file.end > file.maxBytes) {
      const added = encoder.encode(await files.readFile(path, 'utf8')).slice(file.end)
      await checkOwner(files, file, !new TextDecoder().decode(added).includes('"holding":"opened"'))
      file = await rewrite(files)
    }
    const bytes = encoder.encode(lineOf(line))
    isTorn = true
    await file.handle.appendFile(bytes)
    await file.handle.sync()
    const { size } = await file.handle.stat()
    await checkOwner(files, file, size === file.end + bytes.length)
    file.end = size
    isTorn = false
  }

  /** @throws {JournalError} where another process has opened or replaced the file. */
  async function checkOwner(files: Files, { ino }: { ino: number }, isAlone: boolean): Promise<void> {
    const there = await files.stat(path).catch(() => undefined)
    if (isAlone && there?.ino === ino) return
    isTaken = true
    throw takenOver()
  }

  function takenOver(): JournalError {
    return new JournalError(`${path} was replaced, or another process has opened it`)
  }

  function keep(entry: JournalEntry): void {
    if (entry.step === 'closed') entries.delete(entry.jti)
    else entries.set(entry.jti, [...(entries.get(entry.jti) ?? []), entry])
  }

  return {
    append: (entry) =>
      inTurn(async (files) => {
        await write(files, entry)
        keep(entry)
      }),
    read: () =>
      inTurn(async (files) => {
        file ??= await openFile(files)
        return [...entries.values()].flat()
      }),
    async close() {
      onClose()
      await inTurn(async (files) => {
        if (file === undefined) return
        await write(files, { holding: 'released', by })
        await file.handle.close()
        file = undefined
        entries.clear()
      })
    },
  }
}

/** The program may enter another folder before the file is opened. */
function absoluteOf(path: string): string {
  const { process } = globalThis as { process?: { cwd?(): string } }
  const isAbsolute = /^(?:[/\\]|[a-z]:)/i.test(path)
  return isAbsolute || process?.cwd === undefined ? path : `${process.cwd()}/${path}`
}

// The library knows browsers too, whose bundlers must not look for the modules.
async function loadFiles(): Promise<Files> {
  return (await import(['node', 'fs/promises'].join(':'))) as Files
}

function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`
}

/** @throws {JournalError} for a damaged line, which may have been a note that an action started. */
function parseLines(path: string, text: string): Line[] {
  // A last line without an end was not written to its end, so what it notes did not happen.
  const lines = text.split('\n').slice(0, -1).map(parseLine)
  return lines.flatMap((line, index) => {
    if (line !== undefined) return [line]
    // The same, where a process has opened the file since, or could not for want of space.
    const next = lines.slice(index).find((later) => later !== undefined)
    if (next === undefined || 'holding' in next) return []
    throw new JournalError(`${path} is damaged: line ${index + 1} is no note`)
  })
}

function parseLine(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (isEntry(value)) return value
    return typeof (value as Holding | null)?.holding === 'string' ? (value as Holding) : undefined
  } catch {
    return undefined
  }
}

/** @throws {JournalError} where the process that has opened the file is alive. */
async function refuseHolder(files: Files, path: string, by: string): Promise<void> {
  const lines = parseLines(path, await readIfThere(files, path))
  const last = lines.findLast((line): line is Holding => 'holding' in line)
  if (last?.holding !== 'opened' || last.by === by || last.pid === undefined || last.process === undefined) return
  if ((await processOf(files, last.pid)) === last.process) {
    throw new JournalError(`process ${last.pid} uses ${path}: give each process a file of its own`)
  }
}

async function readIfThere(files: Files, path: string): Promise<string> {
  try {
    return await files.readFile(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return ''
    throw error
  }
}

async function writeDurably(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  const handle = await files.open(path, 'ax', OWNER_ONLY)
  try {
    await handle.appendFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The boot and the time of its start; undefined where there is no such process, or the machine does not tell. */
async function processOf(files: Files, pid: number): Promise<string | undefined> {
  try {
    const [boot, stat] = await Promise.all([
      files.readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      files.readFile(`/proc/${pid}/stat`, 'utf8'),
    ])
    // proc_pid_stat(5): the name, which may contain anything, is in parentheses; field 3 is the state and field 22 the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isDead = fields[0] === 'Z' || fields[0] === 'X'
    return isDead ? undefined : `${boot.trim()}/${fields[19]}`
  } catch {
    return undefined
  }
}

/** Otherwise a crash of the machine may undo the rename. Windows opens no folders. */
async function syncFolder(files: Files, path: string): Promise<void> {
  const slash = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))
  const folder = await files.open(slash === -1 ? '.' : path.slice(0, slash + 1), 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}
