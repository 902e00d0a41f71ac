import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isFileLocked, takeFileLock } from '#src/platform/file-lock.ts'

const CHILD = resolve(import.meta.dirname, 'file-lock-child.ts')

let folder: string
let path: string
const children = new Set<ChildProcess>()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'))
  path = join(folder, 'lock')
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  rmSync(folder, { recursive: true })
})

async function tryInChild(): Promise<{ child: ChildProcess; answer: unknown }> {
  const child = fork(CHILD, [path], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  children.add(child)
  const [answer] = await once(child, 'message')
  return { child, answer }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

describe('the lock of a file', () => {
  it('is taken over at once, and by one process only, when the process that held it was killed', async () => {
    const first = await tryInChild()
    expect(first.answer).toBe('held')
    expect((await tryInChild()).answer).toBe('refused')
    expect(takeFileLock(path)).toBeUndefined()
    await kill(first.child)
    const answers = await Promise.all(Array.from({ length: 4 }, tryInChild))
    expect(answers.map(({ answer }) => answer).toSorted()).toEqual(['held', 'refused', 'refused', 'refused'])
  })

  it('is held once within a process too, and free after it was freed, however often that is done', () => {
    expect(isFileLocked(path)).toBe(false)
    const free = takeFileLock(path)
    expect(isFileLocked(path)).toBe(true)
    free?.()
    const again = takeFileLock(path)
    free?.()
    expect(isFileLocked(path)).toBe(true)
    again?.()
    expect(isFileLocked(path)).toBe(false)
    expect(readdirSync(folder)).toEqual(['lock'])
  })

  it('is refused for a file that was removed meanwhile, and for one with content', () => {
    const free = takeFileLock(path)
    rmSync(path)
    free?.()
    const other = takeFileLock(path)
    expect(other).toBeDefined()
    other?.()
    writeFileSync(path, 'text of another program, long enough to be looked at as the header of a database')
    expect(() => takeFileLock(path)).toThrow("can't be locked")
  })
})
