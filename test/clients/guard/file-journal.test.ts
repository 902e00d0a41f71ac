// The journal in a file: what it survives, and that two processes can't use one.

import { execFile } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createFileJournal, fileJournal } from '#client/guard/file-journal.ts'
import { type JournalEntry, openActionsOf } from '#client/guard/journal.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'journal-'))
const SOURCE = join(import.meta.dirname, '../../../clients/typescript/src/guard/file-journal.ts')

let path: string
let count = 0

beforeEach(() => {
  count += 1
  path = join(folder, `journal-${count}`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function entry(jti: string, step: JournalEntry['step'], more: Partial<JournalEntry> = {}): JournalEntry {
  return { jti, step, at: '2026-11-20T15:11:04.310Z', ...more }
}

/** Closed, so that this process may open it again. */
async function written(...entries: JournalEntry[]): Promise<void> {
  const journal = createFileJournal(path)
  for (const one of entries) await journal.append(one)
  await journal.close()
}

async function stepsOf(): Promise<Record<string, string>> {
  const journal = createFileJournal(path)
  const actions = openActionsOf(await journal.read())
  await journal.close()
  return Object.fromEntries(actions.map(({ jti, step }) => [jti, step]))
}

it('keeps what is open, in a file that its owner alone reads', async () => {
  await written(entry('a', 'verified'), entry('b', 'started'), entry('c', 'started'), entry('c', 'closed'))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await stepsOf()).toEqual({ a: 'verified', b: 'started' })
  expect(readFileSync(path, 'utf8')).not.toContain('"c"')
  expect(readdirSync(folder).filter((name) => name.startsWith(`journal-${count}.`))).toEqual([])
})

it('is the same journal for each caller, also by a relative path', async () => {
  const name = relative(process.cwd(), path)
  const journal = fileJournal(name)
  expect(fileJournal(name)).toBe(journal)
  await journal.append(entry('a', 'verified'))
  await journal.close()
  expect(await stepsOf()).toEqual({ a: 'verified' })
})

it('takes notes in their order, however many come at once', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `jti-${index}`)
  const journal = createFileJournal(path)
  await Promise.all(names.map((jti) => journal.append(entry(jti, 'started'))))
  await journal.close()
  expect(Object.keys(await stepsOf())).toEqual(names)
})

it('started stays started, whatever is noted later', () => {
  const notes = [entry('a', 'started'), entry('a', 'verifying'), entry('a', 'verified', { decisionId: 'd' })]
  expect(openActionsOf(notes)).toMatchObject([{ jti: 'a', step: 'started', decisionId: 'd' }])
})

describe('a note that was not written to its end', () => {
  it('did not happen', async () => {
    await written(entry('a', 'verified'))
    appendFileSync(path, '{"step":"started","jti":"a"}')
    expect(await stepsOf()).toEqual({ a: 'verified' })
  })

  it('did not happen either where the next process ended as it opened the file', async () => {
    await written(entry('a', 'verified'))
    appendFileSync(path, '{"step":"star\n{"holding":"opened","by":"next"}\n')
    expect(await stepsOf()).toEqual({ a: 'verified' })
  })

  it('was perhaps the line that opens the file, on a full disk', async () => {
    await written(entry('a', 'verified'))
    appendFileSync(path, '~\n{"holding":"op')
    expect(await stepsOf()).toEqual({ a: 'verified' })
    appendFileSync(path, '{"step":"star~\n{"hol~\n{"holding":"opened","by":"next"}\n')
    expect(await stepsOf()).toEqual({ a: 'verified' })
  })

  it('is refused in the middle: it may have said that an action started', async () => {
    await written(entry('a', 'verified'))
    appendFileSync(path, `{"step":"star\n${JSON.stringify(entry('b', 'verified'))}\n`)
    await expect(createFileJournal(path).read()).rejects.toMatchObject({ name: 'JournalError' })
  })
})

describe('two processes', () => {
  const program = `
    const { createFileJournal } = await import(${JSON.stringify(SOURCE)})
    const journal = createFileJournal(process.argv[1])
    try { console.log((await journal.read()).length) } catch (error) { console.log(error.name) }`
  const another = async () => (await run(process.execPath, ['--input-type=module', '-e', program, path])).stdout.trim()

  it.runIf(process.platform === 'linux')('refuses the file of a process that is alive', async () => {
    const journal = createFileJournal(path)
    await journal.append(entry('a', 'verified'))
    expect(await another()).toBe('JournalError')
    await journal.append(entry('a', 'started'))
    await journal.close()
    expect(await another()).toBe('2')
  })

  it.each([
    ['opened', () => appendFileSync(path, '\n{"holding":"opened","by":"another"}\n')],
    ['replaced', () => renameSync(copied(), path)],
    ['removed', () => rmSync(path)],
  ])('starts nothing more in a file that was %s meanwhile', async (_what, take) => {
    const journal = createFileJournal(path)
    await journal.append(entry('a', 'verified'))
    take()
    await expect(journal.append(entry('a', 'started'))).rejects.toMatchObject({ name: 'JournalError' })
    await expect(journal.append(entry('b', 'started'))).rejects.toMatchObject({ name: 'JournalError' })
  })

  const copied = () => {
    writeFileSync(`${path}.copy`, readFileSync(path))
    return `${path}.copy`
  }
})

it.runIf(process.platform === 'linux')('goes on after a full disk, without the note that did not fit', async () => {
  // A limit of 1 KiB for each file stands for the disk.
  const program = `
    const { createFileJournal } = await import(${JSON.stringify(SOURCE)})
    const journal = createFileJournal(process.argv[1])
    const note = async (jti, step, bytes) => {
      await journal.append({ jti, step, at: 'x'.repeat(bytes) }).then(() => console.log('noted'), (error) => console.log(error.cause?.code))
    }
    await note('a', 'verified', 300)
    await note('b', 'verified', 300)
    await note('c', 'verified', 300)
    await note('a', 'closed', 10)
    await note('b', 'started', 300)
    console.log((await journal.read()).map(({ jti, step }) => jti + step).join())
    await note('b', 'started', 300)`
  const limited = `ulimit -f 1; exec "$0" --input-type=module -e "$1" "$2"`
  const { stdout } = await run('bash', ['-c', limited, process.execPath, program, path])
  expect(stdout).toBe('noted\nnoted\nEFBIG\nnoted\nEFBIG\nbverified\nnoted\n')
})
